'''Operation: a handler of typed requests, as the `answer` of a route.

    class Greeting(msgspec.Struct):
        name: str

    async def greet(request: TypedRequest[None, Greeting]) -> Greeting:
        """Send a greeting back."""
        return request.body

    Route("POST", "/greet", Operation(greet, errors=[NotFound]))

The handler's signature is the declaration: it determines how requests are read, and the OpenAPI
document. The first sentence of its docstring is the summary.
'''

from __future__ import annotations

import inspect
import json
import math
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Final,
    Generic,
    Literal,
    TypeAlias,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

import msgspec
from msgspec import Meta
from msgspec.structs import FieldInfo

from prolocutor.contracts.http import HttpRequest, HttpResponse, Visitor
from prolocutor.dialog import plain
from prolocutor.errors import BadInput, Forbidden, ProlocutorError
from prolocutor.web.cors import is_own_page

T = TypeVar("T")


Params = TypeVar("Params", bound=msgspec.Struct)

_AT: Final = " - at `$"
_MISSING: Final = re.compile(r"Object missing required field `(.*)`")
_EXPECTED: Final = re.compile(r"Expected `([^`]*)`(.*?)(?:, got .*)?", re.DOTALL)
_KINDS: Final = {
    "str": "a text",
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "object": "an object",
    "array": "a list",
}

_ENUM: Final = re.compile(r"Invalid enum value (.+)", re.DOTALL)

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


class OpenStruct(msgspec.Struct, kw_only=True):
    """A JSON object; keys without a field are read into `extra`."""

    extra: dict[str, Any] = msgspec.field(default_factory=dict, name="")


class JsonReader(Generic[T]):
    """Reads JSON as a type: a Struct, or another type known to msgspec."""

    def __init__(self, type_: type[T]) -> None:
        self._type = type_
        self._decoder = msgspec.json.Decoder(type_)
        names = {field.encode_name for field in _fields(type_)}
        self._known = frozenset(names - {""}) if "" in names else None

    def read(self, text: bytes | str) -> T:
        """Return the value; raise `BadInput` for other texts and for JSON of another type."""
        try:
            if self._known is not None:
                return self._read_open(plain.decode(text), self._known)
            return self._decoder.decode(text)
        except msgspec.ValidationError as error:
            raise bad_input(error, self._type) from None
        except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
            if _has_lone_surrogate(text):
                raise BadInput("a lone surrogate is not Unicode text") from None
            raise BadInput(f"this is not JSON: {error}") from None

    def _read_open(self, given: Any, known: frozenset[str]) -> T:
        if not isinstance(given, dict):
            raise BadInput("this should be a JSON object, {...}")
        fields = {key: given.pop(key) for key in known & given.keys()}
        value: Any = msgspec.convert(fields, self._type)
        value.extra = given
        read: T = value
        return read


class ParamsReader(Generic[Params]):
    """Reads the parameters of a request as a Struct.

    A field whose name the path has in braces is read from the path, a field with `Meta(extra={"in":
    "header"})` from its header, every other field from the query. There, an empty value counts as
    missing, and the last of several values counts.
    """

    def __init__(self, type_: type[Params]) -> None:
        self.type = type_
        fields = msgspec.structs.fields(type_)
        self._headers = [f.encode_name for f in fields if is_header(f.type)]
        self._others = [f.encode_name for f in fields if not is_header(f.type)]
        self._numbers = {f.encode_name: f.name for f in fields if "float" in str(f.type)}
        self._default = None if any(f.required for f in fields) else type_()

    def read(self, request: HttpRequest) -> Params:
        """Return the parameters; raise `BadInput` for parameters unfit for the Struct."""
        values: dict[str, str] = {}
        for name in self._headers:
            header = request.header(name.lower())
            if header is not None:
                values[name] = header
        for name in self._others:
            if name in request.params:
                values[name] = request.params[name]
            elif value := request.query(name):
                values[name] = value
        if not values and self._default is not None:
            return self._default
        try:
            read = msgspec.convert(values, self.type, strict=False)
        except msgspec.ValidationError as error:
            raise bad_input(error, self.type) from None
        for name, attribute in self._numbers.items():
            value = getattr(read, attribute)
            if name in values and isinstance(value, float) and not math.isfinite(value):
                raise _find_field_error(self.type, name) or BadInput(
                    f"{name} should be finite", field=name
                )
        return read


def parse_object(text: bytes | str) -> dict[str, Any]:
    """Return a JSON object; raise `BadInput` for anything else."""
    return _OBJECT.read(text)


def is_header(type_: Any) -> bool:
    """Return whether a field of parameters is read from a header."""
    return _meta_extra(type_, "in") == "header"


def bad_input(error: msgspec.ValidationError, type_: Any) -> BadInput:
    """Return the error for a value of the wrong type, with the field at fault."""
    what, _, path = str(error).partition(_AT)
    path = path.removeprefix(".").removesuffix("`")
    if missing := _MISSING.fullmatch(what):
        path = f"{path}.{missing[1]}" if path else missing[1]
        return _find_field_error(type_, path) or BadInput(f"{path} is needed", field=path)
    expected = _EXPECTED.fullmatch(what)
    if not path:
        if expected and expected[1] == "object":
            what = "this should be a JSON object, {...}"
        return BadInput(what, field=_checked_field(type_, what))
    if worded := _find_field_error(type_, path):
        return worded
    if unknown := _ENUM.fullmatch(what):
        words = _words_of(type_, path)
        if words:
            what = f"{path} should be {' or '.join(words)}, not {unknown[1]}"
            return BadInput(what, field=path)
    if expected is None:
        return BadInput(f"{path}: {what}", field=path)
    kinds = [_KINDS.get(kind, kind) for kind in expected[1].split(" | ") if kind != "null"]
    return BadInput(f"{path} should be {' or '.join(kinds) or 'null'}{expected[2]}", field=path)


def _words_of(type_: Any, path: str) -> list[str]:
    """Return the allowed words of the field at a path, none if unknown."""
    name, _, rest = path.partition(".")
    name = name.partition("[")[0]
    hint = next((field.type for field in _fields(type_) if field.encode_name == name), None)
    parts = [hint]
    for part in parts:
        if get_origin(part) is not Literal:
            parts += [arg for arg in get_args(part) if get_args(arg) or isinstance(arg, type)]
    if rest:
        return next((words for one in parts if (words := _words_of(one, rest))), [])
    literals = (get_args(one) for one in parts if get_origin(one) is Literal)
    return [str(word) for words in literals for word in words]


def _checked_field(type_: Any, what: str) -> str | None:
    """Return the field named by the first word of an error of `__post_init__`, else None."""
    word = what.partition(" ")[0]
    return next((field.encode_name for field in _fields(type_) if field.encode_name == word), None)


def _find_field_error(type_: Any, path: str) -> BadInput | None:
    """Return an error with the text of the Struct's field, also for values inside of the field."""
    name = re.split(r"[.\[]", path, maxsplit=1)[0]
    texts = (
        _meta_extra(field.type, "error") for field in _fields(type_) if field.encode_name == name
    )
    text = next(texts, None)
    return None if text is None else BadInput(text, field=name)


def _fields(type_: Any) -> tuple[FieldInfo, ...]:
    is_struct = isinstance(type_, type) and issubclass(type_, msgspec.Struct)
    return msgspec.structs.fields(type_) if is_struct else ()


def _meta_extra(type_: Any, key: str) -> str | None:
    """Return the value of a key in `Meta.extra` of an annotated type."""
    for part in get_args(type_)[1:] if get_origin(type_) is Annotated else ():
        if isinstance(part, Meta) and part.extra and key in part.extra:
            return str(part.extra[key])
    return None


def _has_lone_surrogate(text: bytes | str) -> bool:
    """Return whether the only fault of a JSON text is a lone surrogate, which msgspec hides."""
    try:
        value = json.loads(text)
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return True
    except (ValueError, RecursionError):
        return False
    return False


_OBJECT: Final = JsonReader(dict[str, Any])


class TypedRequest(msgspec.Struct, Generic[P, B], frozen=True):
    """A decoded request: its visitor, its parameters as a Struct or None, and its body.

    `B` is a Struct for JSON, `bytes` for another body, None without a body.
    """

    visitor: Visitor
    params: P
    body: B


class Operation:
    """A handler of typed requests, with its description for the OpenAPI document.

    The handler returns a Struct or another JSON value, None for an empty body, or an
    `HttpResponse`; for a response with JSON, `returns` is the type of its JSON. `status` is the
    status of success, `statuses` describes further statuses. `errors` are its errors besides the
    errors of every handler. `consumes` are the content types of a `bytes` body, `produces` is the
    content type of an `HttpResponse`.
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
        """Read a request, call the handler, and return the response."""
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
    """Return the types of JSON a handler may return."""
    members = get_args(returned) if get_origin(returned) in (Union, UnionType) else [returned]
    return [each for each in members if each not in (None, NoneType, HttpResponse)]


class EmptyBody(msgspec.Struct, frozen=True):
    """An empty object: the body of a write with no data but its address."""


class OperatorWrite(Operation):
    """An operation for a key, or for loopback without a page of another site.

    Pages of the sites under `origins` need a key too: otherwise, every visitor of these sites on
    this machine would be an operator. Browsers send `Origin` with each write; other clients need
    not send it. A body has to be `application/json`.
    """

    async def __call__(self, request: HttpRequest) -> HttpResponse:
        """Check the origin of a request, and handle it."""
        token = request.header("authorization") or request.query("access_token")
        if not token and not is_own_page(request.header("origin"), request.header("host")):
            raise Forbidden("pages of other sites need a key")
        return await super().__call__(request)
