"""NatsServers and NatsCall: the parts of a `nats://` URL, read and checked.

    nats://[user:password@|token@]host[:port][,host[:port]...][/service][?option=value&...]

`tls://` insists on TLS. Options: `creds`, `nkey` (files of NATS credentials), `ca`, `cert`, `key`
(PEM files), `hostname` (the name in the server's certificate). Values are percent-decoded. The
first user or token among the hosts counts for all of them.
"""

from __future__ import annotations

import ssl
from typing import Final
from urllib.parse import parse_qsl, unquote, urlsplit

import msgspec

from prolocutor.errors import ConfigError
from prolocutor.names import suggest

SCHEMES: Final = ("nats", "tls")
DEFAULT_SERVERS: Final = "nats://127.0.0.1:4222"

_PORT: Final = 4222
_OPTIONS: Final = ("creds", "nkey", "ca", "cert", "key", "hostname")


class NatsServers(msgspec.Struct, frozen=True, kw_only=True):
    """The servers of a NATS cluster, as `host:port`, and how to log in there.

    Its text and `repr` leave out user, password and token.
    """

    hosts: tuple[str, ...]
    tls: bool = False
    user: str | None = None
    password: str | None = None
    token: str | None = None
    creds: str | None = None
    nkey: str | None = None
    ca: str | None = None
    cert: str | None = None
    key: str | None = None
    hostname: str | None = None

    def __str__(self) -> str:
        return ",".join(self.hosts)

    def __repr__(self) -> str:
        return f"<NatsServers {self}>"

    @property
    def urls(self) -> list[str]:
        """The URLs of the servers, without credentials."""
        scheme = "tls" if self.tls else "nats"
        return [f"{scheme}://{host}" for host in self.hosts]

    def tls_context(self) -> ssl.SSLContext | None:
        """Return the settings of TLS; None without TLS. Raise `ConfigError` for unusable files."""
        if not (self.tls or self.ca or self.cert):
            return None
        try:
            context = ssl.create_default_context(cafile=self.ca)
            if self.cert is not None:
                context.load_cert_chain(self.cert, self.key)
        except (OSError, ssl.SSLError) as error:
            files = ", ".join(filter(None, (self.ca, self.cert, self.key)))
            raise ConfigError(f"TLS to NATS at {self} with {files}: {error}") from None
        return context


class NatsCall(msgspec.Struct, frozen=True):
    """A service behind NATS; `servers` is None where the URL names none (`nats://weather`)."""

    service: str
    servers: NatsServers | None = None


def is_nats(url: object) -> bool:
    """Return whether a value is a URL of NATS or of a service behind NATS."""
    return isinstance(url, str) and url.partition("://")[0].lower() in SCHEMES and "://" in url


def read_servers(url: str) -> NatsServers:
    """Read a URL of servers; raise `ConfigError`, without its credentials, if it is invalid."""
    servers, path = _read(url)
    if path:
        raise ConfigError(f"the URL of the NATS servers {servers} has a path: {path!r}")
    return servers


def read_call(url: str) -> NatsCall:
    """Read a service's `call`: `nats://NAME`, or `nats://HOST/NAME` with servers of its own."""
    scheme, _, rest = url.partition("://")
    name = rest.rstrip("/")
    if scheme.lower() == "nats" and name and not any(one in name for one in "/@,?:[]"):
        return NatsCall(unquote(name))
    servers, path = _read(url)
    if not path:
        raise ConfigError(f"no service is named: nats://{servers}/NAME, or nats://NAME")
    return NatsCall(unquote(path), servers)


def _read(url: str) -> tuple[NatsServers, str]:
    scheme, found, rest = url.strip().partition("://")
    scheme = scheme.lower()
    if not found or scheme not in SCHEMES:
        raise ConfigError("expected nats://HOST[:PORT][,HOST...] or tls://...")
    rest, _, query = rest.partition("?")
    *first, last = rest.split(",")
    prefix = f"{scheme}://"
    last, _, path = last.removeprefix(prefix).partition("/")
    login: tuple[str | None, str | None, str | None] | None = None
    hosts = []
    for part in (*(one.removeprefix(prefix).rstrip("/") for one in first), last):
        userinfo, at, host = part.strip().rpartition("@")
        if at and login is None:
            login = _login(userinfo)
        hosts.append(_host(host))
    user, password, token = login or (None, None, None)
    servers = NatsServers(
        hosts=tuple(hosts),
        tls=scheme == "tls",
        user=user,
        password=password,
        token=token,
        **_options(query),
    )
    return servers, path.rstrip("/")


def _login(userinfo: str) -> tuple[str | None, str | None, str | None]:
    user, colon, password = userinfo.partition(":")
    return (unquote(user), unquote(password), None) if colon else (None, None, unquote(user))


def _host(text: str) -> str:
    try:
        parts = urlsplit(f"//{text}")
        host, port = parts.hostname, parts.port
    except ValueError as error:
        raise ConfigError(f"{text!r} is not a host of NATS: {error}") from None
    if not host or any(sign.isspace() for sign in text) or parts.path:
        raise ConfigError(f"{text!r} is not a host of NATS")
    return f"[{host}]:{port or _PORT}" if ":" in host else f"{host}:{port or _PORT}"


def _options(query: str) -> dict[str, str]:
    options = {}
    for name, value in parse_qsl(query, keep_blank_values=True):
        if name not in _OPTIONS or not value:
            hint = suggest(name, list(_OPTIONS), "options are")
            raise ConfigError(f"NATS has no option {name!r} with such a value; {hint}")
        options[name] = value
    return options
