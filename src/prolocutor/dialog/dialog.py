"""The nouns: profiles, utterances, and a dialog made of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, Literal

import msgspec

from prolocutor.dialog import plain
from prolocutor.dialog.messages import RichMessage
from prolocutor.dialog.plain import JsonObject
from prolocutor.dialog.rounds import Ask
from prolocutor.errors import BadReply

PROFILE_KEYS: Final = (
    "name",
    "gender",
    "birthdate",
    "location",
    "home_coordinates",
    "work_coordinates",
    "occupation",
    "income_per_year",
)
PROTECTED_KEYS: Final = frozenset({"id", "user_external_id", "user_type"})

Change = list[Any]
"""One changed value: `[part, key, value]`, or `[part, key]` for a removed value. `part` is "" (the
profile's own keys), "profile" or "attributes".

`part` is "" (the profile's own keys), "profile" or "attributes".
"""

LIKED: Final = frozenset("up good great like liked yes right correct helpful + +1 👍".split())
DISLIKED: Final = frozenset("down bad poor dislike disliked no wrong unhelpful - -1 👎".split())


class Human(msgspec.Struct, kw_only=True):
    """A person: `id` is ours (32 hex), `user_external_id` the caller's. The same in all dialogs."""

    id: str
    user_external_id: str
    persona: list[Any] | JsonObject = []
    profile: JsonObject = msgspec.field(default_factory=lambda: dict.fromkeys(PROFILE_KEYS))
    attributes: JsonObject = {}
    user_type: str = "human"
    extra: JsonObject = {}


class Bot(msgspec.Struct, kw_only=True):
    """The assistant's side of a dialog; each dialog has a bot of its own."""

    id: str
    persona: list[Any] | JsonObject = []
    attributes: JsonObject = {}
    user_type: str = "bot"
    extra: JsonObject = {}


def apply_changes(state: JsonObject, changes: list[Change]) -> None:
    """Apply a version's changes to the agent state of a profile, in place."""
    for part, key, *value in changes:
        target = state[part] if part else state
        if value:
            target[key] = value[0]
        else:
            target.pop(key, None)


class ScheduledMessage(msgspec.Struct, kw_only=True, omit_defaults=True, rename={"in_": "in"}):
    """Messages for later: `at` a time (ISO 8601 or UNIX seconds), or `in_` seconds from now.

    - `key` names the entry for its replacement or withdrawal.
    - `every` (day, weekday, week, month or year) brings it again by the clock of `timezone`.
    - `ask` makes it a question.
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
    """A candidate reply of a skill: `Hypothesis("hi", 0.9)`.

    A skill gives text and confidence (0 to 1), and optionally `human_attributes` and
    `bot_attributes` to remember, `attributes` of the reply, rich `messages` (the text may then be
    ""), an `ask` for a kind of answer, whether it `can_continue` with the next input, messages to
    `schedule` and keys of messages to `unschedule`. `entities` are the subjects of the reply
    (texts, or objects with `text` and `type`), `continue_` the slots of the question a follow-up
    may change, by name. Keys of its own go into `extra`.

    In a dialog the engine adds `skill_name` and `hypothesis_id` (`<skill>.<position>`), and
    candidate annotators the `annotations`.

    """

    text: str
    confidence: float

    def json_members(self) -> JsonObject:
        """Return the non-empty members of its JSON object, including `extra`."""
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
    """A response selector's choice: a skill's text, or a text composed of several.

    `hypothesis` is the id of the chosen hypothesis, `hypotheses` are the ids behind a composed
    text; without either, the first hypothesis with this skill and text counts.
    """

    skill_name: str
    text: str
    confidence: float

    @classmethod
    def choose(cls, chosen: Hypothesis) -> SelectorReply:
        """Choose a hypothesis as it is."""
        return cls(
            chosen.skill_name,
            chosen.text,
            chosen.confidence,
            hypothesis=chosen.hypothesis_id or None,
        )


class HumanUtterance(msgspec.Struct, kw_only=True):
    """An utterance of the human; `user` is the person as known right after this turn's reply."""

    utt_id: str
    text: str
    user: Human
    date_time: str
    annotations: JsonObject = {}
    hypotheses: list[Hypothesis] = []
    attributes: JsonObject = {}
    extra: JsonObject = {}


class SpokenReply(msgspec.Struct, kw_only=True):
    """The parts of a reply for doors."""

    utt_id: str
    text: str
    active_skill: str
    confidence: float
    date_time: str
    attributes: JsonObject = {}


class BotUtterance(SpokenReply, kw_only=True):
    """An utterance of the assistant; `orig_text` is the response selector's own text."""

    orig_text: str | None
    user: Bot
    annotations: JsonObject = {}
    extra: JsonObject = {}


class BotBody(msgspec.Struct):
    """The fields read of a bot utterance where the rest is not needed."""

    date_time: str
    active_skill: str


def thumb(rating: object) -> bool | None:
    """Read a thumb: true or false, a word, or a number (1 is up, 0 or less is down); else None."""
    if isinstance(rating, bool):
        return rating
    if isinstance(rating, str):
        return read_thumb(rating)
    if isinstance(rating, int | float):
        return True if rating == 1 else False if rating <= 0 else None
    return None


def read_thumb(word: str) -> bool | None:
    """Return whether a word is a thumb up or down; None for other words."""
    word = word.strip().lower()
    return True if word in LIKED else False if word in DISLIKED else None


class Dialog(msgspec.Struct, kw_only=True):
    """All utterances of a human and the assistant, or the last of them (a window).

    Times are UTC, `YYYY-MM-DD HH:MM:SS.ffffff`; `date_finish` is the time of the last reply, or
    None before the first. `rating` is the last rating of the dialog as a whole.
    """

    dialog_id: str
    id: str
    human: Human
    bot: Bot
    channel_type: str
    date_start: str | None
    date_finish: str | None = None
    active: bool = True
    utterances: list[HumanUtterance | BotUtterance] = []
    attributes: JsonObject = {}
    rating: Any = None
    extra: JsonObject = {}
