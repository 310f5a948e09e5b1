"""One request over HTTP and its response, between ASGI and the channels."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, Final
from urllib.parse import parse_qs

import msgspec

from prolocutor.contracts.channel import HttpRequest, HttpResponse, Visitor
from prolocutor.dialog import plain
from prolocutor.errors import BadInput
from prolocutor.web.asgi import Receive, Scope, Send
from prolocutor.web.error_table import HttpError
from prolocutor.web.limits import ListenerLimits

DRAINED: Final = 16
"""How many times the allowed body is read and thrown away, so that its sender hears the refusal."""


class AsgiConnection:
    """What a request and the handshake of a socket have in common: address and headers."""

    def __init__(self, scope: Scope, visitor: Visitor, params: Mapping[str, str]) -> None:
        self.visitor = visitor
        self.params = params
        self.path: str = scope["path"]
        self._scope = scope

    def header(self, name: str) -> str | None:
        """Return the value of a header by its lower-case name."""
        wanted = name.encode("latin-1")
        for key, value in self._scope["headers"]:
            if key == wanted:
                return str(value, "latin-1")
        return None

    def query(self, name: str) -> str | None:
        """Return the last value of a parameter of the query."""
        given = parse_qs(self._scope["query_string"].decode("latin-1"), keep_blank_values=True)
        return given[name][-1] if name in given else None


class AsgiRequest(AsgiConnection):
    """One request over HTTP (`contracts.channel.HttpRequest`)."""

    def __init__(
        self,
        scope: Scope,
        receive: Receive,
        visitor: Visitor,
        params: Mapping[str, str],
        limits: ListenerLimits,
    ) -> None:
        super().__init__(scope, visitor, params)
        self.method: str = scope["method"]
        self._receive = receive
        self._limits = limits

    async def body(self) -> bytes:
        """Read the whole body; `Refused` if it is too large or does not come."""
        try:
            async with asyncio.timeout(self._limits.patience):
                return await self._read(self._limits.body)
        except TimeoutError:
            raise HttpError(
                HTTPStatus.REQUEST_TIMEOUT, "the body did not come in time", {"Connection": "close"}
            ) from None

    async def _read(self, limit: int) -> bytes:
        declared = self.header("content-length")
        if declared is not None and declared.isdecimal() and int(declared) > limit:
            if self.header("expect") is None:
                await self._drain(0, True)
            raise self._too_large()
        body, more = await self._piece()
        if not more and len(body) <= limit:
            return body
        pieces, size = [body], len(body)
        while more and size <= limit:
            body, more = await self._piece()
            pieces.append(body)
            size += len(body)
        if size > limit:
            await self._drain(size, more)
            raise self._too_large()
        return b"".join(pieces)

    async def _drain(self, size: int, more: bool) -> None:
        """Read on within bounds: a sender whose line is cut while it sends hears no answer."""
        while more and size < DRAINED * self._limits.body:
            piece, more = await self._piece()
            size += len(piece)

    async def _piece(self) -> tuple[bytes, bool]:
        message = await self._receive()
        if message["type"] != "http.request":
            raise BadInput("the client left before its request was complete")
        return message.get("body", b""), message.get("more_body", False)

    def _too_large(self) -> HttpError:
        return HttpError(
            HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
            f"the body has more than the {self._limits.body:,} bytes allowed",
            {"Connection": "close"},
        )


async def json_object(request: HttpRequest) -> dict[str, Any]:
    """Read a body that must be one JSON object and say so in its headers; `BadInput`."""
    kind = request.header("content-type")
    if kind is None or not kind.lower().startswith("application/json"):
        raise BadInput("Content-Type should be application/json", field="Content-Type")
    return parse_object(await request.body())


def parse_object(text: bytes | str) -> dict[str, Any]:
    """Read one JSON object; `BadInput` where it is not one."""
    try:
        value = plain.decode(text)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        if _has_lone_surrogate(text):
            raise BadInput("a lone surrogate is no Unicode text") from None
        raise BadInput(f"this is not JSON: {error}") from None
    if not isinstance(value, dict):
        raise BadInput("this should be a JSON object, {...}")
    return value


def _has_lone_surrogate(text: bytes | str) -> bool:
    """Return whether this is JSON but for half of a character, of which msgspec does not speak."""
    try:
        value = json.loads(text)
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return True
    except (ValueError, RecursionError):
        return False
    return False


def json_response(value: Any, status: int = 200) -> HttpResponse:
    """Make a response of what JSON can say."""
    return HttpResponse(plain.encode(value), status)


async def send_response(send: Send, response: HttpResponse, kind: str = "http.response") -> None:
    """Send a response, piece by piece if it is made so."""
    body = response.body
    headers = [(b"content-type", response.content_type.encode("latin-1"))]
    for name, value in response.headers.items():
        headers.append((name.lower().encode("latin-1"), value.encode("latin-1")))
    if isinstance(body, bytes):
        if response.status != HTTPStatus.NO_CONTENT:
            headers.append((b"content-length", b"%d" % len(body)))
        await send({"type": f"{kind}.start", "status": response.status, "headers": headers})
        await send({"type": f"{kind}.body", "body": body})
        return
    await send({"type": f"{kind}.start", "status": response.status, "headers": headers})
    async for piece in body:
        await send({"type": f"{kind}.body", "body": piece, "more_body": True})
    await send({"type": f"{kind}.body", "body": b""})
