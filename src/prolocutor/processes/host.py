"""Hosts one function as an HTTP service: `python -m prolocutor.processes.host module:function`.

POST a request to any path, get the function's bare reply; with `--batch` `{"batch": [...]}` both
ways. `GET /health` answers once the host is up. The host listens on 127.0.0.1 only. A client that
accepts `text/event-stream` gets the words of a reply as the function yields them.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import logging
import os
import pkgutil
import sys
import threading
from collections.abc import Awaitable, Callable, MutableMapping
from functools import partial
from typing import Any, Final

import uvicorn

from prolocutor.background import beside
from prolocutor.dialog.generated_words import collect_reply, generates, say_in_loop
from prolocutor.dialog.plain import check, decode, encode
from prolocutor.dialog.turn_request import takes_requests, taking_dicts
from prolocutor.errors import BadReply
from prolocutor.functions import error_text, is_async, is_cancelled_from_outside, text_and_place

log = logging.getLogger(__name__)

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Answer = tuple[int, bytes]

MAX_REQUEST: Final = 64_000_000


class FunctionHost:
    """An ASGI application that answers with one function, async or plain."""

    def __init__(self, target: Callable[..., Any], *, batch: bool = False) -> None:
        whole = generates(target) and not batch
        self._target = collect_reply(target) if whole else taking_dicts(target)
        self._is_async = is_async(target) or is_async(self._target)
        self._batch = batch
        self._speaks = not batch and (whole or takes_requests(target))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            return
        if self._speaks and _accepts_events(scope):
            await self._stream(scope, receive, send)
        else:
            await _send_whole(send, *await self._answer(scope, receive))

    async def _stream(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the words as they come, then the reply; without words the reply alone."""
        words: asyncio.Queue[bytes | None] = asyncio.Queue()

        def say(text: str, confidence: float | None = None) -> None:
            words.put_nowait(encode({"delta": text, "confidence": confidence}))

        with beside(self._answer(scope, receive, say)) as answering:
            answering.add_done_callback(lambda _: words.put_nowait(None))
            piece = await words.get()
            if piece is None:
                await _send_whole(send, *await answering)
                return
            headers = [(b"content-type", b"text/event-stream"), (b"cache-control", b"no-cache")]
            await send({"type": "http.response.start", "status": 200, "headers": headers})
            while piece is not None:
                await _send_event(send, piece)
                piece = await words.get()
            status, body = await answering
            if status == 200:  # without a reply at its end, the stream counts as failed
                await _send_event(send, body)
            await send({"type": "http.response.body", "body": b""})

    async def _answer(
        self, scope: Scope, receive: Receive, say: Callable[..., None] | None = None
    ) -> Answer:
        if scope["method"] == "GET" and scope["path"] == "/health":
            return 200, b'"ok"'
        if scope["method"] != "POST":
            return _error(405, "POST a request, or GET /health")
        body = await _read(receive)
        if body is None:
            return _error(413, f"more than {MAX_REQUEST:,} bytes")
        try:
            request = decode(body)
            if self._batch:
                request = request["batch"]
        except Exception as error:
            return _error(400, f"this is not a request: {error}")
        try:
            return 200, await self._ask(request, say)
        except BaseException as error:
            if isinstance(error, asyncio.CancelledError) and is_cancelled_from_outside():
                raise
            log.debug("the function raised", exc_info=error)
            return _error(500, text_and_place(error))

    async def _ask(self, request: Any, say: Callable[..., None] | None = None) -> bytes:
        target = self._target
        if say is not None:
            target = partial(target, say=say if self._is_async else say_in_loop(say))
        if self._is_async:
            reply = await target(request)
        else:
            reply = await _call_in_daemon_thread(target, request)
        if not self._batch:
            return check(reply).encoded
        if not isinstance(reply, list | tuple) or len(reply) != len(request):
            raise BadReply(f"a batch needs a list of {len(request)} replies")
        return b'{"batch":[%b]}' % b",".join([check(item).encoded for item in reply])


async def _send_whole(send: Send, status: int, body: bytes) -> None:
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
    ]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


async def _send_event(send: Send, data: bytes) -> None:
    event = b"data: %b\n\n" % data
    await send({"type": "http.response.body", "body": event, "more_body": True})


def _accepts_events(scope: Scope) -> bool:
    accepted = dict(scope.get("headers") or ()).get(b"accept", b"")
    return b"text/event-stream" in accepted


def main() -> None:
    """Read the command line and serve until SIGTERM or SIGINT."""
    parser = argparse.ArgumentParser(
        prog="python -m prolocutor.processes.host", description=__doc__
    )
    parser.add_argument("target", help="the function, as package.module:function")
    parser.add_argument("--port", type=int, default=os.environ.get("PORT", 8000))
    parser.add_argument("--batch", action="store_true", help="the function takes and returns lists")
    args = parser.parse_args()
    try:
        target = pkgutil.resolve_name(args.target)
    except Exception as error:
        sys.exit(f"{args.target} cannot be imported: {error_text(error)}")
    if not callable(target):
        sys.exit(f"{args.target} cannot be called")
    uvicorn.run(
        FunctionHost(target, batch=args.batch),
        host="127.0.0.1",
        port=args.port,
        http="httptools",
        ws="none",
        interface="asgi3",
        lifespan="off",
        access_log=False,
        proxy_headers=False,
        server_header=False,
        timeout_graceful_shutdown=2,
    )


async def _read(receive: Receive) -> bytes | None:
    """Return the whole body, None if it is too large."""
    body = bytearray()
    while True:
        message = await receive()
        body += message.get("body", b"")
        if len(body) > MAX_REQUEST:
            return None
        if not message.get("more_body"):
            return bytes(body)


async def _call_in_daemon_thread(target: Callable[..., Any], request: Any) -> Any:
    """Call a plain function in a daemon thread; a hanging function does not delay the exit."""
    loop = asyncio.get_running_loop()
    answered: asyncio.Future[tuple[Any, BaseException | None]] = loop.create_future()

    def settle(reply: Any, error: BaseException | None) -> None:
        if not answered.done():
            answered.set_result((reply, error))

    def work() -> None:
        reply, failure = None, None
        try:
            reply = target(request)
        except BaseException as error:
            failure = error
        with contextlib.suppress(RuntimeError):  # the loop is closed
            loop.call_soon_threadsafe(settle, reply, failure)

    threading.Thread(target=work, daemon=True).start()
    reply, failure = await answered
    if failure is not None:
        raise RuntimeError(error_text(failure)) if isinstance(failure, StopIteration) else failure
    return reply


def _error(status: int, text: str) -> Answer:
    return status, encode({"error": text})


if __name__ == "__main__":
    main()
