"""HttpAddress: where an HTTP service is, and the part of a request that is always the same."""

from __future__ import annotations

import os
import ssl
from base64 import b64encode
from collections.abc import Mapping
from functools import lru_cache
from typing import Final
from urllib.request import getproxies, proxy_bypass

from prolocutor.connectors.parts.url import Url
from prolocutor.errors import ConfigError

_ACCEPT_ANY: Final = b"Accept: */*\r\n"


class HttpAddress:
    """A URL of http or https, taken apart once; `ConfigError` for any other.

    `head` is the request line of a POST and all headers that do not change from call to call. User
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
        self.head: Final = self.head_of("POST")

    def head_of(self, method: str, target: str | None = None) -> bytes:
        """Return the start of a request with another method, or to another path of this server."""
        return f"{method} {target or self._target} HTTP/1.1\r\n".encode() + self._lines

    def head_with(
        self, headers: Mapping[str, str], method: str | None = None, target: str | None = None
    ) -> bytes:
        """Return the head of one call; an `Accept` among its headers replaces the usual one."""
        usual = target is None and method in (None, "POST")
        head = self.head if usual else self.head_of(method or "POST", target)
        if "Accept" in headers:
            head = head.replace(_ACCEPT_ANY, b"", 1)
        return head + header_lines(headers)

    def environment_proxy(self) -> str | None:
        """Return the proxy that the environment names for this address."""
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
        raise ConfigError(f"{url!r} is no URL: {error}") from None
    return found


def header_lines(headers: Mapping[str, str]) -> bytes:
    """Write headers as they are sent; `ConfigError` where one would end its line."""
    lines = "".join([f"{name}: {value}\r\n" for name, value in headers.items()])
    count = len(headers)
    if lines.count("\n") != count or lines.count("\r") != count or "\0" in lines:
        raise ConfigError("a header has a line break or a zero byte in it")
    return lines.encode()


def tls_context() -> ssl.SSLContext:
    """Return the context for https: certificates and host names are verified.

    Authorities are the system's, or those in SSL_CERT_FILE and SSL_CERT_DIR. Contexts are shared,
    because loading the authorities takes some 20 ms.
    """
    return _tls_context(os.environ.get("SSL_CERT_FILE"), os.environ.get("SSL_CERT_DIR"))


@lru_cache(maxsize=4)
def _tls_context(_file: str | None, _folder: str | None) -> ssl.SSLContext:
    context = ssl.create_default_context()
    context.set_alpn_protocols(["http/1.1"])
    return context
