"""Operation: a handler of typed requests, as the `answer` of a route.

    class Greeting(msgspec.Struct):
        name: str

    async def greet(request: TypedRequest[None, Greeting]) -> Greeting:
        \"\"\"Send a greeting back.\"\"\"
        return request.body

    Route("POST", "/greet", Operation(greet, errors=[NotFound]))

The handler's signature is the declaration: requests are read by it, and the OpenAPI document is
made of it. The first sentence of its docstring is the summary.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Mapping, Sequence
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Final,
    Generic,
    TypeAlias,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

import msgspec
from msgspec import Meta

from prolocutor.contracts.http import HttpRequest, HttpResponse, Visitor
from prolocutor.dialog import plain
from prolocutor.errors import BadInput, ProlocutorError
from prolocutor.web.decoding import JsonReader, ParamsReader

P = TypeVar("P")
B = TypeVar("B")

JSON: Final = "application/json"
MAX_KEY: Final = 255

IdempotencyKey: TypeAlias = Annotated[
    Annotated[str, Meta(min_length=1, max_length=MAX_KEY)] | None,
    Meta(
        description="The same key gets the same reply for a day; with another body, 422.",
        extra={"in": "header", "error": f"a key has 1 to {MAX_KEY} characters"},
    ),
]
"""The type of a parameter named `Idempotency-Key`."""


SkillName: TypeAlias = Annotated[
    str | None, Meta(description="The one skill to talk to, in place of the whole assistant.")
]
"""The type of a parameter named `skill`."""


class TypedRequest(msgspec.Struct, Generic[P, B], frozen=True):
    """A request that was read: who sent it, its parameters as a Struct or None, and its body.

    `B` is a Struct for JSON, `bytes` for a body of another kind, None where none is read.
    """

    visitor: Visitor
    params: P
    body: B


class Operation:
    """A handler of typed requests, with all that the OpenAPI document says of it.

    The handler returns a Struct or another JSON value, None for an empty body, or an
    `HttpResponse`; then `returns` is the type of its JSON, if it is JSON. `status` is that of
    success, `statuses` describes further ones. `errors` are those that it raises beside the ones
    that any handler may raise. `consumes` are the content types of a `bytes` body, `produces`
    that of an `HttpResponse`.
    """

    def __init__(
        self,
        handler: Callable[[TypedRequest[P, B]], Awaitable[object]],
        *,
        status: int = 200,
        statuses: Mapping[int, str] | None = None,
        errors: Sequence[type[ProlocutorError]] = (),
        returns: Any = None,
        consumes: Sequence[str] = (JSON,),
        produces: str = JSON,
    ) -> None:
        hints = get_type_hints(handler, include_extras=True)
        params, body = _request_types(hints, handler)
        answer = hints.get("return")
        self.name: str = getattr(handler, "__name__", "call").strip("_")
        self.summary = (inspect.getdoc(handler) or self.name).partition("\n")[0].rstrip(".")
        self.params: type[msgspec.Struct] | None = params
        self.body: Any = body
        self.returns: list[Any] = _members(returns if returns is not None else answer)
        self.status = status
        self.statuses = statuses or {}
        self.errors = errors
        self.consumes = consumes
        self.produces = produces
        self._handler: Callable[[TypedRequest[Any, Any]], Awaitable[object]] = handler
        self._params = ParamsReader(params) if params is not None else None
        self._body: JsonReader[Any] | None = None
        if body is not None and body is not bytes:
            self._body = JsonReader(body)
        self._empty = HttpResponse(status=status)

    async def __call__(self, request: HttpRequest) -> HttpResponse:
        """Read a request, have it handled, and return the response."""
        params = self._params.read(request) if self._params is not None else None
        body: object = None
        if self._body is not None:
            kind = request.header("content-type")
            if kind != JSON and (kind or "").partition(";")[0].strip().lower() != JSON:
                raise BadInput(f"Content-Type should be {JSON}", field="Content-Type")
            body = self._body.read(await request.body())
        elif self.body is bytes:
            body = await request.body()
        answer = await self._handler(TypedRequest(request.visitor, params, body))
        if isinstance(answer, HttpResponse):
            return answer
        return self._empty if answer is None else HttpResponse(plain.encode(answer), self.status)


def _request_types(hints: dict[str, Any], handler: object) -> tuple[Any, Any]:
    for hint in hints.values():
        if get_origin(hint) is TypedRequest:
            params, body = (None if part is NoneType else part for part in get_args(hint))
            return params, body
    raise TypeError(f"{handler!r} should take a TypedRequest[params, body]")


def _members(returned: Any) -> list[Any]:
    """Return the types of JSON that a handler may return."""
    members = get_args(returned) if get_origin(returned) in (Union, UnionType) else [returned]
    return [each for each in members if each not in (None, NoneType, HttpResponse)]
