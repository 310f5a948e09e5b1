"""RunAgentInput: what an AG-UI client starts a run with, as far as it is read here.

Source: AG-UI 1.0, https://docs.ag-ui.com. Unknown keys are ignored.
"""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal, TypeAlias

import msgspec
from msgspec import UNSET, Meta, UnsetType

from prolocutor.asks.answer_forms import CANCEL, GivenAnswer, written_answer
from prolocutor.dialog.plain import JsonObject
from prolocutor.errors import BadInput

STATE: Final = "prolocutor"
"""The key of ours in the client's state."""

Name: TypeAlias = Annotated[str, Meta(min_length=1, max_length=500)]


class AgUiPart(msgspec.Struct):
    """One part of what a user said; one that is no text has a `source`."""

    type: str
    text: str = ""
    source: Any = None


class AgUiMessage(msgspec.Struct):
    """One message of the client's history."""

    role: str
    id: str = ""
    content: str | list[AgUiPart] | None = None


class ResumeEntry(msgspec.Struct, rename="camel"):
    """The answer to an interrupt; `payload` follows its `responseSchema`."""

    interrupt_id: str
    status: Literal["resolved", "cancelled"]
    payload: Any = None


class RunAgentInput(msgspec.Struct, rename="camel"):
    """A request to run the assistant.

    `thread_id` names one of the person's dialogs. A run that is sent again with the same `run_id`
    gets the same reply. Of the messages the last one of the user counts. `forwarded_props` may
    name a `skill` to talk to alone, and give the content of a `button`.
    """

    thread_id: Name
    run_id: Name
    messages: list[AgUiMessage]
    parent_run_id: str | None = None
    state: Any = None
    tools: list[JsonObject] | None = None
    context: list[JsonObject] | None = None
    forwarded_props: Any = None
    resume: list[ResumeEntry] | None = None

    def said(self) -> GivenAnswer | None:
        """Return what the person says in this run; None if that is nothing."""
        if self.resume:
            entry = self.resume[-1]
            return CANCEL if entry.status == "cancelled" else GivenAnswer(_written(entry.payload))
        button = self._prop("button")
        message = next((one for one in reversed(self.messages) if one.role == "user"), None)
        text = _text(message.content) if message is not None else ""
        if button is not UNSET:
            if not isinstance(button, dict):
                raise BadInput("forwardedProps.button is an object", field="forwardedProps")
            return GivenAnswer(text, button)
        return GivenAnswer(text) if message is not None else None

    def attributes(self) -> JsonObject:
        """Return what the client sends beside the words, for services that know it."""
        parts = []
        if self.messages and isinstance(self.messages[-1].content, list):
            parts = [part for part in self.messages[-1].content if part.type != "text"]
        state = self.state
        if isinstance(state, dict):
            # What the door put there differs when a run is sent again.
            state = {key: value for key, value in state.items() if key != STATE}
        given = {
            "state": state,
            "tools": self.tools,
            "context": self.context,
            "forwardedProps": self.forwarded_props,
            "parts": [{"type": part.type, "source": part.source} for part in parts],
        }
        told = {key: value for key, value in given.items() if value not in (None, [], {})}
        return {"agui": told} if told else {}

    @property
    def skill(self) -> str | None:
        """The skill that the person talks to alone."""
        skill = self._prop("skill")
        return skill if isinstance(skill, str) and skill else None

    def _prop(self, name: str) -> Any | UnsetType:
        props = self.forwarded_props
        return props.get(name, UNSET) if isinstance(props, dict) else UNSET


def _text(content: str | list[AgUiPart] | None) -> str:
    if isinstance(content, list):
        return "\n".join(part.text for part in content if part.type == "text" and part.text)
    return content or ""


def _written(payload: Any) -> str:
    """Return an answer as text; one that came in an object of a single value is that value."""
    if isinstance(payload, dict) and len(payload) == 1:
        (payload,) = payload.values()
    return written_answer(payload)
