"""From an address to the route that answers it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from http import HTTPStatus
from typing import Any, Final

from starlette.routing import compile_path

from prolocutor.contracts.channel import Route, WebSocketRoute
from prolocutor.errors import BadInput, ConfigError, NotFound
from prolocutor.web.error_table import HttpError

SOCKET: Final = "SOCKET"
"""The method of WebSockets in `find`."""

NO_PARAMS: Final[Mapping[str, str]] = {}

_API: Final = ("/api/", "/me/api/")
"""Where clients of Almond look, in whose words they are told that there is nothing."""

_Methods = dict[str, Route | WebSocketRoute]


class RouteTable:
    """All addresses of one listener: those without braces by name, the others in their order."""

    def __init__(self, routes: Iterable[Route | WebSocketRoute]) -> None:
        self._exact: dict[str, _Methods] = {}
        self._patterns: dict[re.Pattern[str], _Methods] = {}
        for route in routes:
            self._add(route)

    def find(self, method: str, path: str) -> tuple[Any, Mapping[str, str]]:
        """Return the route and the parts of the path; `method` may be `SOCKET`.

        `NotFound` for an unknown address, `Refused` for another method than it knows.
        """
        methods = self._exact.get(path)
        params = NO_PARAMS
        if methods is None:
            methods, params = self._match(path)
        route = methods.get(method) or (methods.get("GET") if method == "HEAD" else None)
        if route is None:
            raise _wrong_method(method, path, methods)
        return route, params

    def methods(self, path: str) -> str:
        """Return the methods of an address as the header `Allow` has them."""
        return _allow(self._exact.get(path) or self._match(path)[0])

    def _match(self, path: str) -> tuple[_Methods, Mapping[str, str]]:
        for pattern, methods in self._patterns.items():
            if match := pattern.fullmatch(path):
                return methods, match.groupdict()
        raise _nothing_here(path)

    def _add(self, route: Route | WebSocketRoute) -> None:
        method = SOCKET if isinstance(route, WebSocketRoute) else route.method
        if "{" in route.path:
            methods = self._patterns.setdefault(compile_path(route.path)[0], {})
        else:
            methods = self._exact.setdefault(route.path, {})
        if method in methods:
            raise ConfigError(f"two channels answer {method} {route.path}", key="doors")
        methods[method] = route


def _wrong_method(method: str, path: str, methods: _Methods) -> BadInput:
    if method == SOCKET:
        return _nothing_here(path)
    allowed = _allow(methods)
    if methods.keys() == {SOCKET}:
        headers = {"Upgrade": "websocket", "Connection": "Upgrade", "Allow": allowed}
        return HttpError(HTTPStatus.UPGRADE_REQUIRED, "there is a WebSocket here", headers)
    what = f"{method} is not possible here; there is {allowed}"
    return HttpError(HTTPStatus.METHOD_NOT_ALLOWED, what, {"Allow": allowed})


def _nothing_here(path: str) -> NotFound:
    if path.startswith(_API):
        return NotFound("Invalid endpoint")
    return NotFound("there is nothing at this address")


def _allow(methods: _Methods) -> str:
    known = sorted(methods.keys() - {SOCKET})
    return ", ".join([*known, *(["HEAD"] if "GET" in known else []), "OPTIONS"])
