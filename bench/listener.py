"""What a request costs at the listener, without a server and without a turn, beside starlette.

    python bench/listener.py            ours alone
    pip install starlette; python bench/listener.py --laps 20

Both read a JSON body as a Struct and write a Struct back, under the same authentication and error
table, in turns in one process. `/` is the first route and `/me/api/converse` one of the last. The
figures are those of ADR 8.
"""

from __future__ import annotations

import argparse
import asyncio
import importlib
import statistics
import time
from collections.abc import Callable
from typing import Any

import msgspec
import uvloop

from prolocutor.assistant.assistant import Assistant
from prolocutor.contracts.channel import Channel, Route
from prolocutor.doors.http.api import DeepPavlov
from prolocutor.doors.http.messages import SayParams, SayRequest
from prolocutor.plan.pipeline import Pipeline, Service
from prolocutor.plugins.almond.door.door import Almond
from prolocutor.plugins.page.channel import Page
from prolocutor.web.asgi import App, Receive, Scope, Send
from prolocutor.web.door_context import DoorContext
from prolocutor.web.error_table import error_response
from prolocutor.web.listener import Listener
from prolocutor.web.operations import Operation, TypedRequest

PATHS = ("/", "/me/api/converse")
BODY = b'{"user_id":"ann","payload":"hello you"}'
HEADERS = [
    (b"host", b"127.0.0.1:4242"),
    (b"accept", b"*/*"),
    (b"accept-encoding", b"gzip, deflate"),
    (b"user-agent", b"Python/3.11 aiohttp/3.14"),
    (b"content-length", b"%d" % len(BODY)),
    (b"content-type", b"application/json"),
]


class Said(msgspec.Struct):
    """What is written back."""

    response: str
    key: str | None


async def say(request: TypedRequest[SayParams, SayRequest]) -> Said:
    """Write back what was said."""
    return Said(request.body.payload or "", request.params.idempotency_key)


def doors(assistant: Assistant) -> list[Channel]:
    """Return the usual doors, whose operations at the measured paths only write back."""
    made: list[Any] = [DeepPavlov(assistant), Almond(assistant), Page(DoorContext(assistant))]
    for door in made:
        door.routes = [
            msgspec.structs.replace(route, answer=Operation(say)) if is_measured(route) else route
            for route in door.routes
        ]
    return made


def is_measured(route: object) -> bool:
    return isinstance(route, Route) and route.method == "POST" and route.path in PATHS


def with_starlette(listener: Listener, channels: list[Channel]) -> App | None:
    """Return starlette's router over the same routes, authentication and error table."""
    try:
        routing = importlib.import_module("starlette.routing")
        requests = importlib.import_module("starlette.requests")
        responses = importlib.import_module("starlette.responses")
    except ModuleNotFoundError:
        return None

    class Adapter:
        """starlette's request, as `contracts.http.HttpRequest`."""

        def __init__(self, request: Any, visitor: Any) -> None:
            self.visitor, self.params, self._request = visitor, request.path_params, request

        def header(self, name: str) -> str | None:
            value: str | None = self._request.headers.get(name)
            return value

        def query(self, name: str) -> str | None:
            value: str | None = self._request.query_params.get(name)
            return value

        async def body(self) -> bytes:
            async with asyncio.timeout(listener.limits.patience):
                read: bytes = await self._request.body()
                return read

    def endpoint(route: Route) -> Callable[[Scope, Receive, Send], Any]:
        class Endpoint:
            async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
                try:
                    headers, query = dict(scope["headers"]), scope["query_string"]
                    visitor = listener.authenticator.admit(headers, query, scope["client"][0])
                    adapter: Any = Adapter(requests.Request(scope, receive), visitor)
                    made = await route.answer(adapter)
                except Exception as error:
                    made = error_response(error).response()
                response = responses.Response(
                    made.body, made.status, made.headers, made.content_type
                )
                await response(scope, receive, send)

        return Endpoint()

    routes = [route for door in channels for route in door.routes if isinstance(route, Route)]
    app: App = routing.Router(
        [routing.Route(one.path, endpoint(one), methods=[one.method]) for one in routes]
    )
    return app


async def seconds(app: App, path: str, number: int) -> float:
    """Return the CPU seconds of one request, as the mean of many."""
    status = []

    async def receive() -> Any:
        return {"type": "http.request", "body": BODY, "more_body": False}

    async def send(message: Any) -> None:
        if not status:
            status.append(message["status"])

    start = time.process_time()
    for _ in range(number):
        scope: dict[str, Any] = {
            "type": "http",
            "method": "POST",
            "path": path,
            "raw_path": path.encode(),
        }
        more = {
            "query_string": b"",
            "headers": HEADERS,
            "client": ("127.0.0.1", 5),
            "root_path": "",
        }
        await app({**scope, **more, "http_version": "1.1"}, receive, send)
    if status != [200]:
        raise SystemExit(f"POST {path} was answered with {status}")
    return (time.process_time() - start) / number


async def measured(laps: int) -> None:
    async with Assistant(
        Pipeline(skills=[Service("none", lambda request: [])]), store="memory:"
    ) as assistant:
        channels = doors(assistant)
        listener = Listener(assistant, channels)
        apps: dict[str, App | None] = {"ours": listener}
        apps["starlette's"] = with_starlette(listener, channels)
        found: dict[tuple[str, str], list[float]] = {}
        for _ in range(laps):
            for path in PATHS:
                for name, app in apps.items():
                    if app is not None:
                        found.setdefault((path, name), []).append(await seconds(app, path, 1000))
    print("| path | routing, requests, responses | CPU µs | requests a CPU second | ratio |")
    print("|---|---|---|---|---|")
    for (path, name), figures in found.items():
        middle = statistics.median(figures)
        pairs = zip(figures, found[path, "ours"], strict=True)
        ratio = statistics.median(mine / ours for mine, ours in pairs)
        print(f"| `{path}` | {name} | {middle * 1e6:.1f} | {1 / middle:,.0f} | {ratio:.2f} |")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--laps", type=int, default=10)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(measured(parser.parse_args().laps))


if __name__ == "__main__":
    main()
