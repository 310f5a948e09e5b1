"""What was said by human and bot, and the hypotheses of what could be said."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import msgspec

from prolocutor.dialog import plain
from prolocutor.dialog.messages import RichMessage
from prolocutor.dialog.plain import JsonObject
from prolocutor.dialog.profiles import Bot, Human
from prolocutor.dialog.rounds import Ask
from prolocutor.errors import BadReply


class ScheduledMessage(msgspec.Struct, kw_only=True, omit_defaults=True, rename={"in_": "in"}):
    """Messages for later: `at` a time (ISO 8601 or UNIX seconds), or `in_` seconds from now.

    `key` names the entry, so that it can be replaced or taken back. `every` (day, weekday, week,
    month or year) brings it again by the clock of `timezone`. `ask` makes it a question.
    """

    key: str
    messages: Sequence[RichMessage | JsonObject]
    at: str | float | None = None
    in_: float | None = None
    ask: Ask | None = None
    every: Literal["day", "weekday", "week", "month", "year"] | None = None
    timezone: str | None = None


class _HypothesisDetails(msgspec.Struct, kw_only=True, omit_defaults=True):
    skill_name: str = ""
    hypothesis_id: str = ""
    annotations: JsonObject = {}
    human_attributes: JsonObject | None = None
    bot_attributes: JsonObject | None = None
    attributes: JsonObject | None = None
    messages: Sequence[RichMessage | JsonObject] | None = None
    ask: Ask | None = None
    can_continue: bool | str | None = None
    schedule: Sequence[ScheduledMessage | JsonObject] | None = None
    unschedule: Sequence[str] | None = None
    entities: Sequence[str | JsonObject] | None = None
    continue_: JsonObject | None = msgspec.field(name="continue", default=None)
    extra: JsonObject = {}


class Hypothesis(_HypothesisDetails):
    """One candidate reply of one skill: `Hypothesis("hi", 0.9)`.

    A skill gives what it wants to say and how sure it is; beside that `human_attributes` and
    `bot_attributes` to remember, `attributes` of the reply, rich `messages` (the text may then be
    ""), an `ask` for an answer of one kind, whether it `can_continue` with the next input, messages
    to `schedule` and keys of those to `unschedule`. `entities` are what the reply is about (texts,
    or objects with `text` and `type`), `continue_` the slots of the question that a follow-up may
    fill anew, by name. Keys of its own go into `extra`.

    In a dialog the engine adds `skill_name` and `hypothesis_id` (`<skill>.<position>`), and
    candidate annotators the `annotations`.
    """

    text: str
    confidence: float

    def json_members(self) -> JsonObject:
        """Return the members of its JSON object that say something, those of `extra` included."""
        members = plain.members(self)
        extra = members.pop("extra", {})
        if not isinstance(extra, dict):
            what = f"expected an object, found a {type(extra).__name__}"
            raise BadReply(what, path="$.extra")
        members.update(extra)
        if not self.text and self.messages:
            del members["text"]
        return members


class _SelectorDetails(msgspec.Struct, kw_only=True, omit_defaults=True):
    hypothesis: str | None = None
    hypotheses: Sequence[str] | None = None
    human_attributes: JsonObject | None = None
    bot_attributes: JsonObject | None = None
    attributes: JsonObject | None = None
    annotations: JsonObject | None = None
    messages: Sequence[RichMessage | JsonObject] | None = None
    ask: Ask | None = None


class SelectorReply(_SelectorDetails):
    """What a response selector chose: a skill's text, or a text composed of several.

    `hypothesis` is the id of the chosen one, `hypotheses` those that a composed text is made of;
    without either, the first hypothesis with this skill and text counts.
    """

    skill_name: str
    text: str
    confidence: float

    @classmethod
    def of(cls, chosen: Hypothesis) -> SelectorReply:
        """Choose a hypothesis as it is."""
        return cls(
            chosen.skill_name,
            chosen.text,
            chosen.confidence,
            hypothesis=chosen.hypothesis_id or None,
        )


class HumanUtterance(msgspec.Struct, kw_only=True):
    """One thing said by the human; `user` is the person as known right after this turn's reply."""

    utt_id: str
    text: str
    user: Human
    date_time: str
    annotations: JsonObject = {}
    hypotheses: list[Hypothesis] = []
    attributes: JsonObject = {}
    extra: JsonObject = {}


class SpokenReply(msgspec.Struct, kw_only=True):
    """What doors show of one thing said by the assistant."""

    utt_id: str
    text: str
    active_skill: str
    confidence: float
    date_time: str
    attributes: JsonObject = {}


class BotUtterance(SpokenReply, kw_only=True):
    """One thing said by the assistant; `orig_text` is the response selector's own text."""

    orig_text: str | None
    user: Bot
    annotations: JsonObject = {}
    extra: JsonObject = {}


class BotBody(msgspec.Struct):
    """What is read of a bot utterance where the whole is not needed."""

    date_time: str
    active_skill: str
