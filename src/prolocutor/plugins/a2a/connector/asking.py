"""Makes the message to an agent from the request to a skill."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from prolocutor.asks.answer_forms import gives_up
from prolocutor.contracts.calls import EFFECT_KEY
from prolocutor.errors import BadReply
from prolocutor.plugins.a2a.wire.core import USER, A2aMessage, A2aPart

CONTEXT_KEY: Final = "a2a_context:"
"""The bot's attribute with the context id that an agent gave; its service's name is added."""

_PARTS: Final = "data_parts"

_OF_STATES_AND_FORMS: Final = {"utterances", "human_utterances", "context_id", "metadata"}


class OpenTask(msgspec.Struct, frozen=True, omit_defaults=True):
    """The context of an ask in the dialog's round: the task that waits for the answer.

    `structured`: the agent asked by a data part, so it gets the value as a data part.
    """

    task: str
    context: str
    structured: bool = False


class AgentQuestion(msgspec.Struct):
    """A question to an agent, and the task that it continues.

    `is_cancelled`: the waiting task is over, and there is nothing to ask. `is_given_up`: the person
    gave up by the answer to a question that accepts any text.
    """

    parts: list[A2aPart]
    context_id: str = ""
    own_context: bool = False
    waiting: OpenTask | None = None
    is_cancelled: bool = False
    is_given_up: bool = False
    metadata: dict[str, Any] | None = None

    @property
    def data(self) -> dict[str, Any]:
        """The members of all data parts."""
        members: dict[str, Any] = {}
        for part in self.parts:
            if isinstance(part.data, dict):
                members |= part.data
        return members

    def take_effect(self, key: str, fields: dict[str, Any] | None) -> None:
        """Add the key of the effect; put the values of `fields` into the data parts.

        Each part keeps its own members.
        """
        self.metadata = {**(self.metadata or {}), EFFECT_KEY: key}
        for place, part in enumerate(self.parts if fields else ()):
            if isinstance(part.data, dict) and fields:
                data = {name: fields.get(name, value) for name, value in part.data.items()}
                self.parts[place] = msgspec.structs.replace(part, data=data)

    def is_misplaced(self, context_id: str) -> bool:
        """Return whether the agent chose another context, which later messages must name."""
        return bool(context_id and self.context_id) and context_id != self.context_id

    def message(self, message_id: str, *, task: bool = True, context: bool = True) -> A2aMessage:
        """Return the message; `task` and `context` tell whether it names its task and context."""
        waiting = self.waiting if task else None
        place = waiting.context if waiting is not None else self.context_id
        return A2aMessage(
            message_id=message_id,
            role=USER,
            parts=self.parts,
            context_id=place if context else "",
            task_id=waiting.task if waiting is not None else "",
            metadata=self.metadata,
        )


def read_question(value: Any, service: str) -> AgentQuestion:
    """Return the question in a request: of the agent state, or of a formatter's result.

    A formatter returns a text or `{text?, parts?, context_id?, metadata?}`; an object of none of
    these is one data part. Raise `BadReply` for anything else.
    """
    if isinstance(value, str):
        return AgentQuestion([A2aPart(text=value)])
    if isinstance(value, dict) and "utterances" not in value and {"text", "parts"} & value.keys():
        return _read_formatted(value)
    if isinstance(value, dict) and value and not value.keys() & _OF_STATES_AND_FORMS:
        return AgentQuestion([A2aPart(data=value)])
    try:
        return _read_state(value, service)
    except (KeyError, TypeError, IndexError, AttributeError) as error:
        raise BadReply(f"an A2A agent needs the agent state, or a text ({error!r})") from None


def _read_formatted(value: Mapping[str, Any]) -> AgentQuestion:
    parts = [A2aPart(text=value["text"])] if value.get("text") else []
    parts += _parts(value.get("parts"))
    context = value.get("context_id")
    metadata = value.get("metadata")
    return AgentQuestion(
        parts,
        context_id=context if isinstance(context, str) else "",
        metadata=metadata if isinstance(metadata, dict) else None,
    )


def _read_state(state: Mapping[str, Any], service: str) -> AgentQuestion:
    said = state["utterances"][-1]
    attributes = said.get("attributes") or {}
    own = state["bot"]["attributes"].get(CONTEXT_KEY + service)
    question = AgentQuestion(
        [A2aPart(text=said["text"])] if said["text"] else [],
        context_id=own or state["dialog_id"],
        own_context=own is not None,
    )
    answer = state.get("answer")
    if isinstance(answer, dict):
        _answer(question, answer)
    question.parts += _parts(attributes.get(_PARTS))
    metadata = attributes.get("metadata")
    question.metadata = metadata if isinstance(metadata, dict) else None
    if not question.parts:
        question.parts = [A2aPart(text="")]
    return question


def _answer(question: AgentQuestion, answer: Mapping[str, Any]) -> None:
    """Answer in the task that asked."""
    try:
        question.waiting = msgspec.convert(answer.get("context"), OpenTask)
    except msgspec.ValidationError:
        question.waiting = None  # a button of its own, or an ask of another connector
    structured = question.waiting is not None and question.waiting.structured
    is_over = answer.get("kind") == "cancelled"
    question.is_given_up = not is_over and not structured and gives_up(answer)
    question.is_cancelled = is_over or question.is_given_up
    value, raw = answer.get("value"), answer.get("raw")
    if isinstance(raw, str) and raw:
        question.parts = [A2aPart(text=raw)]
    elif isinstance(value, str):
        question.parts = [A2aPart(text=value)]
    if value is not None and (structured or not question.parts):
        data = {"type": "answer", "kind": answer.get("kind"), "value": value}
        question.parts = [*question.parts, A2aPart(data=data)]


def _parts(given: Any) -> list[A2aPart]:
    """Return the further parts of the person's message; invalid parts are left out."""
    found = []
    for one in given if isinstance(given, list) else ():
        try:
            part = msgspec.convert(one, A2aPart)
        except msgspec.ValidationError:
            part = A2aPart(data=one)
        found.append(part if part.has_content else A2aPart(data=one))
    return found
