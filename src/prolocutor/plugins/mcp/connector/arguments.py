"""ToolArguments: makes the arguments of a tool call from a request."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

import msgspec

from prolocutor.contracts.connector import Request
from prolocutor.dialog.plain import JsonObject, decode, encode
from prolocutor.errors import BadReply
from prolocutor.plugins.mcp.wire.tools import ToolInfo

TEXT_NAMES: Final = ("text", "query", "question", "message", "input", "prompt", "q")
DIALOG_NAMES: Final = ("conversation_id", "conversationId", "dialog_id", "session_id", "thread_id")
_PLACE: Final = re.compile(r"\{(\w+(?:\.\w+)*)\}")

_STATED: Final = frozenset({"text", "dialog_id"})
"""Placeholders whose values need no decoding of the whole request."""


class OfferedTool:
    """A tool of a server, and facts derived from its schema at the first call.

    `text` is the argument for the person's words ("" for none, None while unknown), `dialog` are
    the arguments for the dialog's id. `repeats`: arguments are repeated in headers.
    """

    def __init__(self, info: ToolInfo) -> None:
        self.info = info
        self.text: str | None = None
        self.dialog: list[str] = []
        self.repeats = b"x-mcp-header" in encode(info.input_schema)


class MissingArgument(BadReply):
    """It is unclear which argument of a tool gets the text."""


class _Said(msgspec.Struct):
    text: str = ""


class _Answer(msgspec.Struct):
    kind: str = ""
    raw: str = ""


class _State(msgspec.Struct):
    """The parts of the agent state that most calls need."""

    utterances: list[_Said]
    dialog_id: str = ""
    answer: _Answer | None = None

    @property
    def text(self) -> str:
        """The words of the person; a password is only in the answer."""
        if self.answer is not None and self.answer.kind == "password":
            return self.answer.raw
        return self.utterances[-1].text


_read_state: Final = msgspec.json.Decoder(_State).decode


class ToolArguments:
    """Makes the arguments of a call.

    `argument` names the argument for the person's words; without it the tool's schema decides.
    `fixed` are further arguments; in their texts `{text}`, `{dialog_id}`, `{user_id}`, `{request}`,
    `{attributes.NAME}` (of the person's utterance) and any path into the agent state are
    placeholders, and None leaves an argument out. A request made by a formatter is the arguments if
    it is an object, else the value of the text argument.
    """

    def __init__(self, argument: str | None, fixed: Mapping[str, Any]) -> None:
        self._argument = argument
        self._fixed = dict(fixed)
        self._places = set(_places(self._fixed))

    def make_arguments(self, body: bytes, request: Request, tool: OfferedTool) -> JsonObject:
        """Return the arguments of a call; raise `BadReply` if none can take the request."""
        state = _find_state(body)
        value = request.value() if state is None or self._places - _STATED else None
        fixed = self._fill_fixed(request, state, value) if self._fixed else {}
        if "request" in self._places:
            return fixed
        if state is None and isinstance(value, dict):
            return {**fixed, **value}
        if tool.text is None:
            text = "" if "text" in self._places else self._find_text_argument(tool.info)
            tool.text = text or ""
            properties = tool.info.input_schema.get("properties") or {}
            tool.dialog = [
                name for name in DIALOG_NAMES if name in properties and name not in self._fixed
            ]
        arguments: JsonObject = {}
        if tool.text:
            arguments[tool.text] = state.text if state is not None else value
        if state is not None:
            for name in tool.dialog:
                arguments[name] = state.dialog_id
        return {**arguments, **fixed} if fixed else arguments

    def check(self, tool: ToolInfo) -> None:
        """Raise `MissingArgument` if it is unclear which argument gets the text."""
        if not self._places & {"request", "text"}:
            self._find_text_argument(tool)

    def _find_text_argument(self, tool: ToolInfo) -> str | None:
        """Return the name of the argument for the text; None for a tool without arguments."""
        if self._argument is not None:
            return self._argument
        properties = tool.input_schema.get("properties")
        if not isinstance(properties, dict) or not properties:
            return None
        texts = [
            name
            for name, one in properties.items()
            if name not in self._fixed and name not in DIALOG_NAMES and _takes_text(one)
        ]
        required_names = tool.input_schema.get("required") or ()
        required = [name for name in required_names if name in texts]
        for name in TEXT_NAMES:
            if name in texts:
                return name
        for names in (required, texts):
            if len(names) == 1:
                return str(names[0])
        if self._is_complete(properties, required_names):
            return None
        found = " | ".join(texts or properties)
        raise MissingArgument(
            f"say which argument of {tool.name!r} gets the text: argument: {found}"
        )

    def _is_complete(self, properties: Iterable[str], required: Iterable[str]) -> bool:
        """Return whether the fixed arguments suffice to call a tool."""
        given = {*self._fixed, *DIALOG_NAMES}
        return given.issuperset(required or properties)

    def _fill_fixed(self, request: Request, said: _State | None, value: Any) -> JsonObject:
        if not self._places:
            return {name: one for name, one in self._fixed.items() if one is not None}
        values = _Values(request, said, value)
        filled = {name: values.fill(one) for name, one in self._fixed.items()}
        return {
            name: one
            for name, one in filled.items()
            if one is not None or self._fixed[name] == "{request}"
        }


class _Values:
    """The values of placeholders in a request."""

    def __init__(self, request: Request, said: _State | None, value: Any) -> None:
        self._value = value
        self._known: dict[str, Any] = {"request": value, "turn_id": request.turn_id}
        if said is not None:
            self._known |= {"text": said.text, "dialog_id": said.dialog_id}
        elif isinstance(value, str):
            self._known["text"] = value

    def fill(self, template: Any) -> Any:
        """Fill the placeholders of a template; return None if a placeholder has no value."""
        if isinstance(template, dict):
            return {name: self.fill(one) for name, one in template.items()}
        if isinstance(template, list):
            return [self.fill(one) for one in template]
        if not isinstance(template, str):
            return template
        if whole := _PLACE.fullmatch(template):
            return self._find_value(whole[1])
        return _PLACE.sub(lambda place: str(self._find_value(place[1]) or ""), template)

    def _find_value(self, path: str) -> Any:
        if path in self._known:
            return self._known[path]
        if path == "user_id":
            return self._follow(self._value, ("human", "user_external_id"))
        first, *rest = path.split(".")
        if first in ("attributes", "annotations"):
            utterances = self._follow(self._value, ("utterances",))
            last = utterances[-1] if isinstance(utterances, list) and utterances else None
            return self._follow(last, (first, *rest))
        return self._follow(self._value, (first, *rest))

    def _follow(self, value: Any, steps: tuple[str, ...]) -> Any:
        for step in steps:
            value = value.get(step) if isinstance(value, dict) else None
        return value


def _find_state(body: bytes) -> _State | None:
    """Return the agent state in a request; None for a request made by a formatter."""
    if not body.startswith(b"{") or b'"utterances"' not in body:
        return None
    try:
        state = _read_state(body)
    except msgspec.MsgspecError:
        return None
    return state if state.utterances else None


def _takes_text(schema: Any) -> bool:
    if not isinstance(schema, dict):
        return True
    kinds = [schema, *(schema.get("anyOf") or ())]
    return any(isinstance(kind, dict) and kind.get("type", "string") == "string" for kind in kinds)


def _places(template: Any) -> Iterator[str]:
    if isinstance(template, dict):
        for one in template.values():
            yield from _places(one)
    elif isinstance(template, list):
        for one in template:
            yield from _places(one)
    elif isinstance(template, str):
        yield from _PLACE.findall(template)


def read_answer(body: bytes) -> JsonObject | None:
    """Return the answer to an ask in a request, or None."""
    value = decode(body)
    answer = value.get("answer") if isinstance(value, dict) else None
    return answer if isinstance(answer, dict) else None
