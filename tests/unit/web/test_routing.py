"""From an address to its route."""

import pytest

from prolocutor.contracts.channel import NotFoundText, Route, WebSocketRoute
from prolocutor.contracts.http import HttpRequest, HttpResponse, WebSocket
from prolocutor.errors import ConfigError, NotFound
from prolocutor.web.error_table import HttpError
from prolocutor.web.routing import RouteTable, path_pattern


async def answer(_: HttpRequest) -> HttpResponse:
    return HttpResponse()


async def converse(_: WebSocket) -> None: ...


GET, POST = Route("GET", "/a", answer), Route("POST", "/a", answer)
ONE = Route("GET", "/a/{id}", answer)
REST = Route("GET", "/files/{rest:path}", answer)
SOCKET = WebSocketRoute("/ws", converse)
ROUTES = RouteTable([GET, POST, ONE, REST, SOCKET])


@pytest.mark.parametrize(
    ("method", "path", "route", "params"),
    [
        ("GET", "/a", GET, {}),
        ("HEAD", "/a", GET, {}),
        ("POST", "/a", POST, {}),
        ("GET", "/a/7", ONE, {"id": "7"}),
        ("GET", "/files/b/c", REST, {"rest": "b/c"}),
        ("GET", "/files/", REST, {"rest": ""}),
    ],
)
def test_a_route_is_found(method: str, path: str, route: Route, params: dict[str, str]) -> None:
    assert ROUTES.find(method, path) == (route, params)


@pytest.mark.parametrize("path", ["", "/", "/b", "/a/", "/a/b/c", "/A", "/a\n", "/a/7\n/x"])
def test_an_unknown_address_is_not_found(path: str) -> None:
    with pytest.raises(NotFound):
        ROUTES.find("GET", path)


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_a_socket_is_not_taken_for_a_page(method: str) -> None:
    with pytest.raises(HttpError) as refused:
        ROUTES.find(method, "/ws")

    assert refused.value.status == 426


@pytest.mark.parametrize("path", ["/a", "/a/7", "/nothing"])
def test_a_page_is_not_taken_for_a_socket(path: str) -> None:
    assert ROUTES.find_socket("/ws") == (SOCKET, {})
    with pytest.raises(NotFound):
        ROUTES.find_socket(path)


def test_a_wrong_method_is_refused_with_the_right_ones() -> None:
    with pytest.raises(HttpError) as refused:
        ROUTES.find("DELETE", "/a")

    assert refused.value.headers == {"Allow": "GET, POST, HEAD, OPTIONS"}
    assert refused.value.status == 405


def test_two_routes_of_one_address_are_refused() -> None:
    with pytest.raises(ConfigError, match=r"two channels answer GET /a/\{id\}"):
        RouteTable([ONE, ONE])


def test_a_door_words_unknown_addresses_below_its_prefix() -> None:
    table = RouteTable([GET, NotFoundText("/api/", "no endpoint"), NotFoundText("/", "nothing")])

    for path, text in [("/api/x", "no endpoint"), ("/api", "nothing"), ("/b", "nothing")]:
        with pytest.raises(NotFound, match=f"^{text}$"):
            table.find("POST", path)


def test_two_sockets_of_one_address_are_refused() -> None:
    with pytest.raises(ConfigError, match=r"two channels serve a WebSocket at /ws"):
        RouteTable([SOCKET, SOCKET])


@pytest.mark.parametrize(
    ("path", "matches", "params"),
    [
        ("/a.b/{id}", "/a.b/1", {"id": "1"}),
        ("/a.b/{id}", "/axb/1", None),
        ("/{x}/{rest:path}", "/1/2/3", {"x": "1", "rest": "2/3"}),
        ("/{x}/c", "/1/2/c", None),
    ],
)
def test_a_path_with_braces_is_a_pattern(path: str, matches: str, params: object) -> None:
    found = path_pattern(path).fullmatch(matches)

    assert (found and found.groupdict()) == params
