"""From an address to its route."""

import pytest

from prolocutor.contracts.channel import HttpRequest, HttpResponse, Route, WebSocket, WebSocketRoute
from prolocutor.errors import BadInput, ConfigError, NotFound
from prolocutor.web.error_table import HttpError
from prolocutor.web.routing import SOCKET, RouteTable


async def answer(_: HttpRequest) -> HttpResponse:
    return HttpResponse()


async def converse(_: WebSocket) -> None: ...


GET, POST = Route("GET", "/a", answer), Route("POST", "/a", answer)
ONE = Route("GET", "/a/{id}", answer)
REST = Route("GET", "/files/{rest:path}", answer)
ROUTES = RouteTable([GET, POST, ONE, REST, WebSocketRoute("/ws", converse)])


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


@pytest.mark.parametrize("method", ["GET", "POST", SOCKET])
def test_a_socket_and_a_page_are_not_taken_for_each_other(method: str) -> None:
    path = "/a" if method == SOCKET else "/ws"
    with pytest.raises(BadInput):
        ROUTES.find(method, path)


def test_a_wrong_method_is_refused_with_the_right_ones() -> None:
    with pytest.raises(HttpError) as refused:
        ROUTES.find("DELETE", "/a")

    assert refused.value.headers == {"Allow": "GET, POST, HEAD, OPTIONS"}
    assert refused.value.status == 405


def test_two_routes_of_one_address_are_refused() -> None:
    with pytest.raises(ConfigError, match=r"two channels answer GET /a/\{id\}"):
        RouteTable([ONE, ONE])


@pytest.mark.parametrize("path", ["/api/nothing", "/me/api/nothing"])
def test_clients_of_almond_are_told_in_their_own_words_that_there_is_nothing(path: str) -> None:
    with pytest.raises(NotFound, match=r"^Invalid endpoint$"):
        ROUTES.find("POST", path)
