"""The table of routes: it finds the route of a path and a method."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from http import HTTPStatus
from typing import Final

import msgspec

from prolocutor.contracts.channel import ErrorForm, NotFoundText, Route, WebSocketRoute
from prolocutor.contracts.http import HttpResponse
from prolocutor.errors import ConfigError, NotFound
from prolocutor.web.error_table import HttpError, error_response

Params = Mapping[str, str]
"""The parts of a path by the names that its route gives them."""

_NO_PARAMS: Final[Params] = {}
_NOTHING_HERE: Final = "there is nothing at this address; /openapi.json lists all"
_BRACES: Final = re.compile(r"\{(\w+)(:path)?\}")


class _Address(msgspec.Struct):
    """The routes of a path."""

    methods: dict[str, Route] = {}
    socket: WebSocketRoute | None = None


class RouteTable:
    """All routes of a listener: paths without braces in a dict, other paths as patterns."""

    def __init__(self, routes: Iterable[Route | WebSocketRoute | NotFoundText | ErrorForm]) -> None:
        self._exact: dict[str, _Address] = {}
        self._patterns: dict[re.Pattern[str], _Address] = {}
        self._texts: list[NotFoundText] = []
        self._forms: list[ErrorForm] = []
        for route in routes:
            if isinstance(route, NotFoundText):
                self._texts.append(route)
            elif isinstance(route, ErrorForm):
                self._forms.append(route)
            else:
                self._add(route)

    def find(self, method: str, path: str) -> tuple[Route, Params]:
        """Return the route of an HTTP request, and the parts of its path.

        Raise `NotFound` for an unknown path, and `HttpError` (405, 426) for a method without a
        route at the path.
        """
        address, params = self._find(path)
        route = address.methods.get(method)
        if route is None and method == "HEAD":
            route = address.methods.get("GET")
        if route is None:
            raise _wrong_method(method, address)
        return route, params

    def find_socket(self, path: str) -> tuple[WebSocketRoute, Params]:
        """Return the route of a WebSocket, and the parts of its path; raise `NotFound`."""
        address, params = self._find(path)
        if address.socket is None:
            raise self._not_found(path)
        return address.socket, params

    def methods(self, path: str) -> str:
        """Return the value of the header `Allow` for a path; raise `NotFound`."""
        return _allow(self._find(path)[0])

    def refused(self, path: str, error: Exception) -> HttpResponse:
        """Return the response to an error, by the `ErrorForm` with the longest prefix if any."""
        forms = [form for form in self._forms if path.startswith(form.prefix)]
        form = max(forms, key=lambda form: len(form.prefix), default=None)
        return error_response(error).response() if form is None else form.write(error)

    def _find(self, path: str) -> tuple[_Address, Params]:
        address = self._exact.get(path)
        if address is not None:
            return address, _NO_PARAMS
        for pattern, address in self._patterns.items():
            if match := pattern.fullmatch(path):
                return address, match.groupdict()
        raise self._not_found(path)

    def _not_found(self, path: str) -> NotFound:
        """Return the error for an unknown path, by the `NotFoundText` with the longest prefix."""
        texts = [text for text in self._texts if path.startswith(text.prefix)]
        worded = max(texts, key=lambda text: len(text.prefix), default=None)
        return NotFound(worded.text if worded is not None else _NOTHING_HERE)

    def _add(self, route: Route | WebSocketRoute) -> None:
        if "{" in route.path:
            address = self._patterns.setdefault(path_pattern(route.path), _Address())
        else:
            address = self._exact.setdefault(route.path, _Address())
        if isinstance(route, WebSocketRoute):
            if address.socket is not None:
                raise ConfigError(f"two channels serve a WebSocket at {route.path}", key="doors")
            address.socket = route
        else:
            if route.method in address.methods:
                what = f"two channels answer {route.method} {route.path}"
                raise ConfigError(what, key="doors")
            address.methods[route.method] = route


def path_pattern(path: str) -> re.Pattern[str]:
    """Return the pattern of a route's path: `{id}` matches a part, `{rest:path}` the rest."""
    pattern, end = "", 0
    for braces in _BRACES.finditer(path):
        name, is_rest = braces.groups()
        pattern += re.escape(path[end : braces.start()])
        pattern += f"(?P<{name}>{'.*' if is_rest else '[^/]+'})"
        end = braces.end()
    return re.compile(pattern + re.escape(path[end:]), re.DOTALL)


def path_params(path: str) -> list[str]:
    """Return the names in the braces of a route's path."""
    return [braces[1] for braces in _BRACES.finditer(path)]


def plain_path(path: str) -> str:
    """Return a route's path in the form of OpenAPI: `{rest}` for `{rest:path}`."""
    return _BRACES.sub(r"{\1}", path)


def _wrong_method(method: str, address: _Address) -> HttpError:
    allowed = _allow(address)
    if not address.methods:
        headers = {"Upgrade": "websocket", "Connection": "Upgrade", "Allow": allowed}
        return HttpError(HTTPStatus.UPGRADE_REQUIRED, "there is a WebSocket here", headers)
    what = f"{method} is not possible here; there is {allowed}"
    return HttpError(HTTPStatus.METHOD_NOT_ALLOWED, what, {"Allow": allowed})


def _allow(address: _Address) -> str:
    methods = sorted({*address.methods, *(["GET"] if address.socket else [])})
    return ", ".join([*methods, *(["HEAD"] if "GET" in methods else []), "OPTIONS"])
