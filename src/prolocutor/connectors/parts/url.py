"""Url: a URL of http, https, ws or wss, taken apart, and its parts as they are sent."""

from __future__ import annotations

import os
import re
import ssl
from base64 import b64encode
from collections.abc import Mapping
from functools import lru_cache
from typing import Final
from urllib.parse import parse_qsl, quote, unquote, urlencode, urljoin, urlsplit
from urllib.request import getproxies, proxy_bypass

import msgspec

from prolocutor.errors import ConfigError

_PORTS: Final = {"http": 80, "ws": 80, "https": 443, "wss": 443}
_NAME: Final = re.compile(r"[\w.-]+", re.ASCII)
_PATH: Final = "/%:@!$&'()*+,;=~"
_STRAY: Final = re.compile(r"%(?![0-9A-Fa-f]{2})")

_ACCEPT_ANY: Final = b"Accept: */*\r\n"


class Url(msgspec.Struct, frozen=True, kw_only=True):
    """A URL. `host` is ASCII and without brackets; only `path` and `query` are quoted.

    `str` writes it in full: user and password, too, which may be secret (`shown` has neither).
    """

    scheme: str
    host: str
    port: int
    path: str = "/"
    query: str = ""
    fragment: str = ""
    user: str | None = None
    password: str | None = None

    @classmethod
    def read(cls, text: str) -> Url:
        """Read a URL; raise `ValueError` with the fault of any other text."""
        parts = urlsplit(text.strip())
        scheme = parts.scheme.lower()
        if scheme not in _PORTS or not parts.hostname:
            raise ValueError("write it as http://host:port/path")
        port = parts.port
        return cls(
            scheme=scheme,
            host=_ascii_host(parts.hostname),
            port=_PORTS[scheme] if port is None else port,
            path=_quote(parts.path, _PATH) or "/",
            query=_quote(parts.query, _PATH + "?"),
            fragment=parts.fragment,
            user=None if parts.username is None else unquote(parts.username),
            password=None if parts.password is None else unquote(parts.password),
        )

    def __str__(self) -> str:
        user = "" if self.user is None else quote(self.user, safe="")
        if self.password is not None:
            user += ":" + quote(self.password, safe="")
        secret = f"{user}@" if self.user is not None or self.password is not None else ""
        fragment = f"#{self.fragment}" if self.fragment else ""
        return f"{self.scheme}://{secret}{self.authority}{self.target}{fragment}"

    @property
    def authority(self) -> str:
        """The host, in brackets if it has colons, and the port unless it is the default port."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def origin(self) -> str:
        """The scheme, the host and the port."""
        return f"{self.scheme}://{self.authority}"

    @property
    def target(self) -> str:
        """The path with the query, as a request line has it."""
        return f"{self.path}?{self.query}" if self.query else self.path

    @property
    def shown(self) -> str:
        """The URL for messages: without user, password, query and fragment."""
        return self.origin + self.path

    @property
    def is_secure(self) -> bool:
        """Whether it is reached by TLS."""
        return self.scheme in ("https", "wss")

    @property
    def parameters(self) -> dict[str, str]:
        """The parameters of the query, the last of each name."""
        return dict(parse_qsl(self.query, keep_blank_values=True))

    def replace_parameters(self, **more: str) -> Url:
        """Return the URL with these parameters in its query, replacing parameters of the same
        names.
        """
        query = [one for one in parse_qsl(self.query, keep_blank_values=True) if one[0] not in more]
        return msgspec.structs.replace(
            self, query=urlencode([*query, *more.items()], quote_via=quote)
        )

    def replace_path(self, path: str) -> Url:
        """Return the URL with another path, quoted already, and the same query."""
        return msgspec.structs.replace(self, path=path)

    def bare(self) -> Url:
        """Return the URL without query and fragment."""
        return msgspec.structs.replace(self, query="", fragment="")

    def join(self, text: str) -> Url:
        """Return the target of a link at this URL; raise `ValueError` for a bad link."""
        return Url.read(urljoin(str(self), text))


def _ascii_host(name: str) -> str:
    if ":" in name:
        return name
    try:
        host = name.encode("idna").decode()
        host.encode().decode("idna")
    except UnicodeError:
        host = ""
    if not _NAME.fullmatch(host):
        raise ValueError("no host has such a name")
    return host


def _quote(text: str, safe: str) -> str:
    return _STRAY.sub("%25", quote(text, safe=safe))


class HttpAddress:
    """A URL of http or https, taken apart once; `ConfigError` for any other.

    `head` is the request line of a POST and all headers constant from call to call. User
    and password of the URL become basic authorization, unless `headers` have another. `shown` is
    the URL for messages: without user, password and query, which may be secret.
    """

    def __init__(self, url: str | Url, headers: Mapping[str, str]) -> None:
        found = http_url(url)
        self.host: Final = found.host
        self.port: Final = found.port
        self.is_tls: Final = found.is_secure
        self.shown: Final = found.shown
        sent = {"Host": found.authority, "User-Agent": "prolocutor"}
        if found.user is not None or found.password is not None:
            pair = f"{found.user or ''}:{found.password or ''}"
            sent["Authorization"] = f"Basic {b64encode(pair.encode()).decode()}"
        sent |= {"Accept": "*/*", "Accept-Encoding": "identity", **headers}
        self._target = found.target
        self._lines = header_lines(sent)
        self.head: Final = self.other_head("POST")

    def other_head(self, method: str, target: str | None = None) -> bytes:
        """Return the start of a request with another method, or to another path of this server."""
        return f"{method} {target or self._target} HTTP/1.1\r\n".encode() + self._lines

    def call_head(
        self, headers: Mapping[str, str], method: str | None = None, target: str | None = None
    ) -> bytes:
        """Return the head of a call; an `Accept` among its headers replaces the default."""
        usual = target is None and method in (None, "POST")
        head = self.head if usual else self.other_head(method or "POST", target)
        if "Accept" in headers:
            head = head.replace(_ACCEPT_ANY, b"", 1)
        return head + header_lines(headers)

    def environment_proxy(self) -> str | None:
        """Return the environment's proxy for this address."""
        if proxy_bypass(self.host):
            return None
        return getproxies().get("https" if self.is_tls else "http")


def http_url(url: str | Url) -> Url:
    """Read a URL of http or https; `ConfigError` for any other."""
    try:
        found = url if isinstance(url, Url) else Url.read(url)
        if found.scheme not in ("http", "https"):
            raise ValueError("write it as http://host:port/path")
    except (AttributeError, TypeError, ValueError) as error:
        raise ConfigError(f"{url!r} is not a URL: {error}") from None
    return found


def header_lines(headers: Mapping[str, str]) -> bytes:
    """Return the lines of headers; raise `ConfigError` for a line break in a header."""
    lines = "".join([f"{name}: {value}\r\n" for name, value in headers.items()])
    count = len(headers)
    if lines.count("\n") != count or lines.count("\r") != count or "\0" in lines:
        raise ConfigError("a header has a line break or a zero byte in it")
    return lines.encode()


def tls_context() -> ssl.SSLContext:
    """Return the context for https: certificates and host names are verified.

    Authorities are the system's, or from SSL_CERT_FILE and SSL_CERT_DIR. Contexts are shared,
    because loading the authorities takes some 20 ms.
    """
    return _tls_context(os.environ.get("SSL_CERT_FILE"), os.environ.get("SSL_CERT_DIR"))


@lru_cache(maxsize=4)
def _tls_context(_file: str | None, _folder: str | None) -> ssl.SSLContext:
    context = ssl.create_default_context()
    context.set_alpn_protocols(["http/1.1"])
    return context
