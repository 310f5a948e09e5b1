"""The inputs of a person, the wishes of their client for chat models, and the start of a turn."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final, Literal, TypedDict, TypeGuard
from zoneinfo import ZoneInfo

import msgspec

from prolocutor.dialog.plain import JsonObject
from prolocutor.dialog.rounds import Ask

STOPPED: Final = "stopped"
"""The attribute that marks the reply of a stopped turn, and its value for the reply's origin."""

NOTHING_SAID: Final = "Stopped."
"""The reply of a turn that was stopped before words of it were shown."""

_UTTERANCE_ID: Final = re.compile(r"[0-9a-fA-F]{32}")
_TIMEZONE: Final = re.compile(r"[A-Za-z][A-Za-z0-9_+/-]{0,63}")

AGAIN_OF: Final = "again_of"
"""The attribute of an input that replaces earlier words: the `utt_id` of the reply to these words,
in the same dialog. The earlier utterances are kept; clients fold them away.
"""

OPERATOR: Final = "operator"
"""The skill name under which an operator's words appear in a dialog."""


class ToolRound(msgspec.Struct, kw_only=True):
    """A model's calls of the client's tools, and the messages before the calls."""

    calls: list[JsonObject]
    messages: list[JsonObject] = []
    text: str = ""


class ModelWishes(msgspec.Struct, kw_only=True):
    """The wishes of a turn's client for chat models, in the form of OpenAI's chat completions.

    Connectors of chat models find it at their request; other services do not get them, and they are
    not stored. `messages` are sent to a model in place of the dialog; None: the dialog's. `rounds`
    are the models' calls of tools, by skill.
    """

    messages: list[JsonObject] | None = None
    tools: list[JsonObject] = []
    tool_choice: Any = None
    parallel_tool_calls: bool | None = None
    response_format: JsonObject | None = None
    rounds: dict[str, ToolRound] = {}

    def keys(self) -> JsonObject:
        """Return them as keys of a request for a chat completion."""
        found: JsonObject = {}
        if self.response_format is not None:
            found["response_format"] = self.response_format
        if self.tools:
            found["tools"] = self.tools
            if self.tool_choice is not None:
                found["tool_choice"] = self.tool_choice
            if self.parallel_tool_calls is not None:
                found["parallel_tool_calls"] = self.parallel_tool_calls
        return found


class StopSignal(msgspec.Struct, eq=False):
    """Set at most once, before the turn runs or while it does; the turn is then woken by `wake`."""

    is_set: bool = False
    wake: Callable[[], None] | None = None

    def set(self) -> None:
        """Ask the turn to end now."""
        self.is_set = True
        if self.wake is not None:
            self.wake()


def is_utterance_id(value: object) -> TypeGuard[str]:
    """Return whether a value has the form of an `utt_id`."""
    return isinstance(value, str) and _UTTERANCE_ID.fullmatch(value) is not None


class EarlierTurn(msgspec.Struct, frozen=True, kw_only=True):
    """A turn taken before, elsewhere or in another dialog: the human's text, and the reply.

    `messages`, `ask` and `skill` are the reply's, where known.
    """

    text: str
    reply: str
    messages: list[JsonObject] = []
    ask: Ask | None = None
    skill: str = ""


class OperatorAct(msgspec.Struct, frozen=True, kw_only=True):
    """An operator's act: taking a dialog over, speaking, giving it back.

    `text` is said to the person; `note` is for services to read.
    """

    state: Literal["taken", "said", "given"]
    by: str
    text: str
    note: str = ""


class TurnInput(msgspec.Struct, frozen=True):
    """A person's input: all arguments of a turn, from the door to the journal.

    - `text` is said by `user` in the dialog of this name, through `channel`. With `parsed` or
      `program` it is the title of the input, or a text to show in place of a title.
    - `attributes` are the human utterance's.
    - `request_id`: the same id gets the same reply.
    - `parsed` is a button or a program: `{code, entities, slots?, slotTypes?, example_id?}` or
      `{program}`.
    - `program` is the source of a ThingTalk program.
    - `skill` is the only skill to ask, None where the assistant decides.
    - `retold`, set by the assistant itself, is the earlier turn of the same words, to give its
      reply again.
    - `operator`, set by the assistant itself, is an operator's act without words of the person.
    - `wishes` are for chat models alone; they are not stored, so a second run does not know them.
    """

    text: str
    user: str
    dialog: str = "main"
    attributes: JsonObject = {}
    request_id: str | None = None
    channel: str = "python"
    parsed: JsonObject | None = None
    program: str | None = None
    skill: str | None = None
    retold: EarlierTurn | None = None
    operator: OperatorAct | None = None
    wishes: ModelWishes | None = None

    @property
    def timezone(self) -> str | None:
        """The name of the person's time zone, where their client tells it in `platformData`."""
        told = self.attributes.get("platformData")
        name = told.get("timezone") if isinstance(told, dict) else None
        if not isinstance(name, str) or not _TIMEZONE.fullmatch(name):
            return None
        try:
            return ZoneInfo(name).key
        except (ValueError, OSError, KeyError):
            return None


class InputKeywords(TypedDict, total=False):
    """The keywords for a `TurnInput` beside its text and user; None stands for the default."""

    dialog: str | None
    attributes: JsonObject | None
    request_id: str | None
    channel: str
    parsed: JsonObject | None
    program: str | None
    skill: str | None


def turn_input(text: TurnInput | str, user: str, keywords: InputKeywords) -> TurnInput:
    """Return the input given as `TurnInput` or by keywords."""
    if isinstance(text, TurnInput):
        if user or keywords:
            raise TypeError("a TurnInput has all that is said of a turn; give no more with it")
        return text
    given: JsonObject = {key: keyword for key, keyword in keywords.items() if keyword is not None}
    return TurnInput(text, user, **given)


class DirectReply(msgspec.Struct, frozen=True, kw_only=True):
    """The assistant's words without a service: messages, and an ask.

    `skill` is the service in whose name it speaks, "" for the assistant itself. Without messages
    the turn is silent.
    """

    messages: list[JsonObject] = []
    ask: str | None = None
    skill: str = ""


class TurnStart(msgspec.Struct, frozen=True, kw_only=True):
    """The start of a turn.

    Only `forced_skill` is asked (it waits for an answer); `extra` is added to its request (the
    `answer`); `preferred` is asked in any case and wins unless another skill is clearly better.
    Where a subject may be switched, `excluded` is the waiting skill, which is not asked, `least`
    the lowest sufficient confidence of a hypothesis, `otherwise` the reply without a sufficient
    hypothesis (in place of last chance and fallback). `say` is the reply of a turn without
    services. `heard` are earlier words for services in place of the input's.
    """

    input: TurnInput
    forced_skill: str | None = None
    extra: JsonObject = {}
    preferred: str | None = None
    excluded: str | None = None
    least: float | None = None
    otherwise: DirectReply | None = None
    say: DirectReply | None = None
    heard: str | None = None
