"""RunAgentInput: the request of an AG-UI client to start a run.

Source: AG-UI 1.0, https://docs.ag-ui.com. Unknown keys are ignored.
"""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal, TypeAlias

import msgspec
from msgspec import UNSET, Meta, UnsetType

from prolocutor.asks.answer_forms import CANCEL, GivenAnswer, answer_by_type, answer_text
from prolocutor.dialog.plain import JsonObject
from prolocutor.errors import BadInput

STATE: Final = "prolocutor"
"""The key of ours in the client's state."""

RUN: Final = "run"
"""The member of the attribute `agui` that names the run which answered an interrupt."""

Name: TypeAlias = Annotated[str, Meta(min_length=1, max_length=500)]


class ResumeEntry(msgspec.Struct, rename="camel"):
    """The answer to an interrupt; `payload` follows its `responseSchema`."""

    interrupt_id: str
    status: Literal["resolved", "cancelled"]
    payload: Any = None


class RunAgentInput(msgspec.Struct, rename="camel"):
    """A request to run the assistant.

    `thread_id` names a dialog of the person. A repeated `run_id` gets the same reply. The user's
    last message is the input. `forwarded_props` may name a single `skill` to ask and a `user`, and
    give the content of a `button`.
    """

    thread_id: Name
    run_id: Name
    messages: list[JsonObject]
    parent_run_id: str | None = None
    state: Any = None
    tools: list[JsonObject] | None = None
    context: list[JsonObject] | None = None
    forwarded_props: Any = None
    resume: list[ResumeEntry] | None = None

    def find_answer(self) -> GivenAnswer | None:
        """Return the person's input of this run, or None."""
        if self.resume:
            entry = self.resume[-1]
            return CANCEL if entry.status == "cancelled" else _answer(entry.payload)
        button = self._prop("button")
        users = (one for one in reversed(self.messages) if one.get("role") == "user")
        message = next(users, None)
        text = _text(message.get("content")) if message is not None else ""
        if button is not UNSET:
            if not isinstance(button, dict):
                raise BadInput("forwardedProps.button is an object", field="forwardedProps")
            return GivenAnswer(text, button)
        return GivenAnswer(text) if message is not None else None

    def attributes(self) -> JsonObject:
        """Return the client's further data, as attributes for services."""
        state = self.state
        if isinstance(state, dict):
            # What the door put there differs when a run is sent again.
            state = {key: value for key, value in state.items() if key != STATE}
        given = {
            "state": state,
            "tools": self.tools,
            "context": self.context,
            "forwardedProps": self.forwarded_props,
            "parts": _parts(self.messages[-1]) if self.messages else [],
        }
        told = {key: value for key, value in given.items() if value not in (None, [], {})}
        if self.resume:
            told[RUN] = self.run_id
        return {"agui": told} if told else {}

    @property
    def skill(self) -> str | None:
        """The skill that the person talks to alone."""
        skill = self._prop("skill")
        return skill if isinstance(skill, str) and skill else None

    @property
    def user(self) -> object:
        """The user for whom an operator speaks."""
        return self._prop("user")

    def _prop(self, name: str) -> Any | UnsetType:
        props = self.forwarded_props
        return props.get(name, UNSET) if isinstance(props, dict) else UNSET


def _text(content: Any) -> str:
    """Return the text of a message's content, a text or a list of parts."""
    if isinstance(content, list):
        texts = [one.get("text") for one in content if isinstance(one, dict)]
        said = "\n".join(text for text in texts if isinstance(text, str) and text)
        return said or next(filter(None, map(_address, content)), "")
    if content is not None and not isinstance(content, str):
        raise BadInput("the content of a message is a text or a list of parts", field="messages")
    return content or ""


def _address(part: Any) -> str:
    """Return the address of a picture without text, which may answer an ask for a picture."""
    if not isinstance(part, dict) or part.get("type") != "image":
        return ""
    source = part.get("source")
    address = source.get("value") if isinstance(source, dict) else None
    is_address = isinstance(address, str) and address.startswith(("http://", "https://"))
    return str(address) if is_address else ""


def _parts(message: JsonObject) -> list[JsonObject]:
    """Return the parts of a message other than text."""
    content = message.get("content")
    if message.get("role") != "user" or not isinstance(content, list):
        return []
    return [one for one in content if isinstance(one, dict) and one.get("type") != "text"]


def _answer(payload: Any) -> GivenAnswer:
    """Return an answer as an input; an object with a single member stands for its value."""
    if isinstance(payload, dict) and len(payload) == 1 and "idx" not in payload:
        (payload,) = payload.values()
    if isinstance(payload, dict) and not payload.keys() & {"idx", "latitude"}:
        return GivenAnswer(answer_text(payload))
    return answer_by_type(payload)
