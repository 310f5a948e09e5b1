"""The checked URL of a PostgreSQL store; its shown form never has the password."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import parse_qsl, unquote, urlencode

import msgspec

from prolocutor.errors import ConfigError
from prolocutor.names import suggest

WRITE: Final = "postgresql://user@host1,host2/database?target_session_attrs=read-write"

_OPTIONS: Final = frozenset(
    (
        "application_name",
        "connect_timeout",
        "gsslib",
        "krbsrvname",
        "options",
        "passfile",
        "password",
        "schema",
        "sslcert",
        "sslcrl",
        "sslkey",
        "sslmode",
        "sslnegotiation",
        "sslpassword",
        "sslrootcert",
        "ssl_max_protocol_version",
        "ssl_min_protocol_version",
        "target_session_attrs",
    )
)
_SECRET: Final = frozenset(("password", "sslpassword"))
_TARGETS: Final = frozenset(
    ("any", "primary", "standby", "prefer-standby", "read-write", "read-only")
)
_OWN: Final = frozenset(("application_name", "connect_timeout", "schema"))
_SCHEMA: Final = re.compile(r"(?!pg_)[a-z_][a-z0-9_]{0,39}")


class StoreUrl(msgspec.Struct, frozen=True):
    """The URL of a store.

    - `shown` has no secrets.
    - `servers` has a URL for each host, in the order to try them.
    - `schema` is the schema of the tables, created if missing; "" means the user's default.
    """

    shown: str
    database: str
    servers: tuple[str, ...]
    connect_timeout: float
    schema: str = ""


def parse(url: str) -> StoreUrl:
    """Parse a URL; raise `ConfigError` if it is invalid."""
    scheme, _, rest = url.partition("://")
    account, _, place = rest.rpartition("@")
    if "@" in rest.partition("?")[0]:
        account, _, place = rest.partition("?")[0].rpartition("@")
        place += rest[len(account) + 1 + len(place) :]
    elif "@" in rest and "?" not in account.partition("/")[0]:
        account, place = "", rest  # the sign stands in an option
    place, _, query = place.partition("?")
    hosts, _, database = place.partition("/")
    options = dict(parse_qsl(query, keep_blank_values=True))
    shown = _hide_secrets(scheme, account, hosts, database, options)
    if not rest:
        raise ConfigError(f"{shown!r} names no database; write {WRITE}", key="store")
    if any(sign in account for sign in "@/?#"):
        what = "write @ as %40, / as %2F, ? as %3F and # as %23 in a user or a password"
        raise ConfigError(f"{shown!r}: {what}", key="store")
    if not unquote(database):
        raise ConfigError(f"{shown!r} names no database; write {WRITE}", key="store")
    _check_options(options, shown)
    user, colon, password = account.partition(":")
    prefix = f"{user}{colon}{password}@" if account else ""
    connect_timeout = _seconds(options.get("connect_timeout", ""), shown)
    passed = {key: value for key, value in options.items() if key not in _OWN}
    if schema := options.get("schema", ""):
        if not _SCHEMA.fullmatch(schema):
            what = "a schema has up to 40 lower-case letters, digits and _, and does not begin pg_"
            raise ConfigError(f"{shown!r}: {what}", key="store")
        passed["search_path"] = schema
    servers = tuple(
        f"postgresql://{prefix}{_checked_host(host, shown)}/{database}"
        + (f"?{urlencode(passed)}" if passed else "")
        for host in hosts.split(",")
    )
    return StoreUrl(shown, unquote(database), servers, connect_timeout, schema)


def _hide_secrets(
    scheme: str, account: str, hosts: str, database: str, options: dict[str, str]
) -> str:
    """Write the URL without its secrets."""
    user = account.partition(":")[0]
    kept = {key: value for key, value in options.items() if key not in _SECRET}
    return f"{scheme}://{f'{user}@' if user else ''}{hosts}/{database}" + (
        f"?{urlencode(kept, safe=',/:')}" if kept else ""
    )


def _check_options(options: dict[str, str], shown: str) -> None:
    for name in options:
        if name not in _OPTIONS:
            what = f"{shown!r}: there is no option {name!r}; {suggest(name, sorted(_OPTIONS))}"
            raise ConfigError(what, key="store")
    target = options.get("target_session_attrs", "any")
    if target not in _TARGETS:
        what = f"{shown!r}: target_session_attrs is {suggest(target, sorted(_TARGETS))}"
        raise ConfigError(what, key="store")


def _seconds(given: str, shown: str) -> float:
    if not given:
        return 3.0
    if not given.isdecimal():
        raise ConfigError(f"{shown!r}: connect_timeout is a number of seconds", key="store")
    return max(1.0, float(given))


def _checked_host(host: str, shown: str) -> str:
    """Return a host with its port, an IPv6 address in brackets."""
    port = host.partition(":")[2] if host.count(":") == 1 else ""
    if host.startswith("["):
        port = host.rpartition("]")[2].removeprefix(":")
    if port and not (port.isdecimal() and 0 < int(port) < 65536):
        raise ConfigError(f"{shown!r}: {port!r} is not a port", key="store")
    return host
