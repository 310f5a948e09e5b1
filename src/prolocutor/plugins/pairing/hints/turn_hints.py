"""Hints: verdicts on the answer before, found in a person's next words and weighed."""

from __future__ import annotations

import re
from collections import OrderedDict, defaultdict
from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from typing import Annotated, ClassVar, Final, TypeVar

import msgspec
from msgspec import Meta

from prolocutor.bounds import Count, PositiveSeconds, about
from prolocutor.clocks import DAY, YEAR
from prolocutor.contracts.model_use import AGAINST, HintKind, HintMark
from prolocutor.contracts.observer import TurnRecord
from prolocutor.contracts.pairing import UserQuestion
from prolocutor.plugins.pairing.hints.hint_phrases import (
    asks_again,
    rejects,
    says_something,
    thanks,
)
from prolocutor.plugins.pairing.question_agent.follow_ups import continuation
from prolocutor.plugins.pairing.question_agent.router_label import RouterLabel, answer_shares
from prolocutor.reading.words import words

"""The kinds that speak against the agent that answered."""

HintWeight = Annotated[float, Meta(ge=0, le=0.25)]
"""At most as much as a thumb down; 0: such hints are not taken."""

_GOES_ON: Final = 0.5
_NUMBER: Final = re.compile(r"(?:number |no\.? ?|#|the )?(\d{1,2})[.)]?")


class HintSettings(msgspec.Struct, frozen=True, kw_only=True):
    """The weight of each kind of hint; a label has 1, a thumb up 0.5, a thumb down 0.25."""

    expected: ClassVar[str] = "true or false, or what hints count for ({again: ..., rejected: ...})"

    again: Annotated[
        HintWeight,
        about(
            "Against the agent: the same question again in other words, or by the arrow on the chat"
            " page."
        ),
    ] = 0.2
    rejected: Annotated[
        HintWeight,
        about(
            'Against it: "no, that is wrong", "das stimmt nicht", "ce n\'est pas ça", "eso está'
            ' mal".'
        ),
    ] = 0.2
    thanked: Annotated[HintWeight, about('For the agent: thanks, "that\'s right".')] = 0.1
    kept: Annotated[
        HintWeight,
        about(
            "For another agent that answered a question asked again, where its answer was let"
            " stand."
        ),
    ] = 0.05
    used: Annotated[
        HintWeight,
        about(
            "For the agent: a button or choice of its answer was used, or the person chose it with"
            " `then: clarify`."
        ),
    ] = 0.1
    within: Annotated[
        PositiveSeconds,
        about("Words later than that say nothing of the answer before.", duration=True),
    ] = 120.0
    keep: Annotated[
        float, Meta(gt=0, le=10 * YEAR), about("Hints are forgotten after so long.", duration=True)
    ] = 30.0 * DAY
    most: Annotated[Count, about("The latest hints that are kept.", unit="hints")] = 5000

    @classmethod
    def from_short(cls, value: object) -> HintSettings | None:
        """Return the usual settings for true, None (no hints) for false."""
        if not isinstance(value, bool):
            raise ValueError(cls.expected)
        return cls() if value else None

    def weight(self, kind: HintKind) -> float:
        """Return the weight of a kind."""
        found: float = getattr(self, kind)
        return found


class HintTurn(msgspec.Struct, frozen=True, kw_only=True):
    """A turn as hints read it; `at` is UNIX seconds.

    `agent` is "" where the assistant spoke for itself, `offered` are the titles of the buttons and
    choices of the reply. `asks`: the reply waits for an answer. `again_of` is the `utt_id` of the
    reply whose question these words ask again, if the client says so.
    """

    utt_id: str
    at: float
    said: str
    reply: str
    agent: str
    offered: tuple[str, ...] = ()
    asks: bool = False
    again_of: str = ""

    @property
    def is_question(self) -> bool:
        """Whether the words are a question that can be learned, not thanks or a rejection."""
        return says_something(self.said) and not thanks(self.said) and not rejects(self.said)


class TurnHint(msgspec.Struct, frozen=True, kw_only=True):
    """A hint that an agent was right (`up`) or wrong for the question with the reply `utt_id`."""

    kind: HintKind
    agent: str
    question: str
    utt_id: str
    weight: float
    at: float

    @property
    def up(self) -> bool:
        """Whether the hint is for the agent."""
        return self.kind not in AGAINST


def find_hints(turns: Sequence[HintTurn], settings: HintSettings) -> list[TurnHint]:
    """Return the hints in the last of up to three turns of a dialog about the turns before it."""
    if len(turns) < 2:
        return []
    *_, before, now = turns
    earlier = turns[-3] if len(turns) > 2 else None
    if now.again_of and now.again_of != before.utt_id:
        known = [one for one in turns[:-1] if one.utt_id == now.again_of]
        return [_hint("again", one, now, settings) for one in known if _counts(one)]
    kind = _kind(before, now, settings)
    if kind == "used" and not before.agent:
        return _choice_hints(before, now, settings)
    if not _counts(before) or _is_follow_up(earlier, before):
        return []
    found = [] if kind is None else [_hint(kind, before, now, settings)]
    if kind not in AGAINST and kind != "thanked" and _answered_anew(earlier, before, settings):
        found.append(_hint("kept", before, now, settings))
    return [one for one in found if one.weight > 0]


def _kind(before: HintTurn, now: HintTurn, settings: HintSettings) -> HintKind | None:
    if now.again_of == before.utt_id:
        return "again"
    if now.at - before.at > settings.within:
        return None
    if _uses(before.offered, now.said):
        return "used"
    asked = before.asks or before.reply.rstrip().endswith(("?", "？"))
    if rejects(now.said, asked=asked):
        return "rejected"
    if thanks(now.said):
        return "thanked"
    return "again" if not asked and asks_again(before.said, now.said) else None


def _counts(turn: HintTurn) -> bool:
    return bool(turn.agent) and turn.is_question


def _is_follow_up(earlier: HintTurn | None, turn: HintTurn) -> bool:
    """Return whether a question is a follow-up, from which alone nothing can be learned."""
    if earlier is None:
        return False
    question = UserQuestion(
        text=turn.said,
        said_before=earlier.said,
        answered_before=earlier.reply,
        agent_before=earlier.agent or None,
    )
    return continuation(question) >= _GOES_ON


def _answered_anew(earlier: HintTurn | None, before: HintTurn, settings: HintSettings) -> bool:
    """Return whether a turn repeats the question of the turn before, and another agent answers."""
    if earlier is None or not earlier.agent or earlier.agent == before.agent:
        return False
    return _kind(earlier, before, settings) == "again"


def _choice_hints(before: HintTurn, now: HintTurn, settings: HintSettings) -> list[TurnHint]:
    """Return a hint for the agent that a person chose when the assistant asked for a choice."""
    if not now.agent or not before.is_question or not settings.used:
        return []
    hint = _hint("used", before, now, settings)
    return [msgspec.structs.replace(hint, agent=now.agent)]


def _hint(kind: HintKind, turn: HintTurn, now: HintTurn, settings: HintSettings) -> TurnHint:
    return TurnHint(
        kind=kind,
        agent=turn.agent,
        question=turn.said,
        utt_id=turn.utt_id,
        weight=settings.weight(kind),
        at=now.at,
    )


def _uses(offered: Sequence[str], said: str) -> bool:
    """Return whether words are the title or the number of an offered choice."""
    plain = said.strip().casefold()
    if any(plain == title.strip().casefold() for title in offered):
        return bool(plain)
    number = _NUMBER.fullmatch(plain)
    return number is not None and 1 <= int(number[1]) <= len(offered)


Key = TypeVar("Key")

TURNS: Final = 3
DIALOGS: Final = 10_000
"""Dialogs whose last turns are known; those that rest longest are forgotten."""

_CHOSEN: Final = frozenset({"selector", "confidence"})
_LONGEST: Final = 2000


class HintWatch:
    """Finds hints in the turns of this process. After a restart a dialog's first turn has none."""

    def __init__(self, settings: HintSettings, agents: Collection[str]) -> None:
        self._settings = settings
        self._agents = frozenset(agents)
        self._dialogs: OrderedDict[str, tuple[str, list[HintTurn]]] = OrderedDict()

    def hints(self, record: TurnRecord) -> list[TurnHint]:
        """Return the hints that a turn gives about the turns before it."""
        return find_hints(self._turns(record), self._settings)

    def note(self, record: TurnRecord) -> None:
        """Take note of a turn that was stored."""
        turns = self._turns(record)
        self._dialogs.pop(record.dialog_id, None)
        self._dialogs[record.dialog_id] = record.user, turns
        if len(self._dialogs) > DIALOGS:
            self._dialogs.popitem(last=False)

    def forget(self, user: str) -> None:
        """Forget the turns of a person."""
        gone = [dialog for dialog, (its, _) in self._dialogs.items() if its == user]
        for dialog in gone:
            del self._dialogs[dialog]

    def _turns(self, record: TurnRecord) -> list[HintTurn]:
        _, before = self._dialogs.get(record.dialog_id, ("", []))
        return [*before, self._turn(record)][-TURNS:]

    def _turn(self, record: TurnRecord) -> HintTurn:
        return HintTurn(
            utt_id=record.utt_id,
            at=record.started,
            said=record.text[:_LONGEST],
            reply=record.response[-_LONGEST:],
            agent=self._agent(record),
            offered=tuple(record.offered),
            asks=record.ask is not None,
            again_of=record.again_of,
        )

    def _agent(self, record: TurnRecord) -> str:
        """Return the single agent whose words the reply consists of; "" without one."""
        skills = {one.rpartition(".")[0] for one in record.chosen}
        if record.by not in _CHOSEN or len(skills) > 1:
            return ""
        return record.active_skill if record.active_skill in self._agents else ""


MOST_OF_A_QUESTION: Final = 0.5
"""The weight that all hints of one question may have together: that of one thumb up."""

_ROUNDING: Final = 1e-9


def lesson_of_hint(hint: TurnHint, user: str, agents: Sequence[str]) -> RouterLabel:
    """Return a hint as a lesson; `agents` are all that may be right."""
    shares = answer_shares(hint.agent, hint.up, agents)
    mark = HintMark(hint.kind, hint.agent, hint.utt_id, hint.at)
    return RouterLabel(hint.question, shares, hint.weight, user, mark)


@lru_cache(maxsize=50_000)
def question_key(text: str) -> str:
    """Return a key that is the same for two askings of the very same question: its words."""
    return " ".join(words(text))


def standing(
    lessons: Mapping[Key, RouterLabel], settings: HintSettings | None, now: float
) -> dict[Key, RouterLabel]:
    """Return the valid lessons, in order: all ratings and labels, and the latest hints.

    A hint is invalid if the same question has a thumb or label, if the same person later gave the
    same hint of the same agent, if it is too old, if the hints of its question weigh as much as a
    thumb, or if there are `settings.most` hints. Without `settings` no hint is valid.
    """
    told = {question_key(one.text) for one in lessons.values() if one.is_thumb}
    weights: defaultdict[str, float] = defaultdict(float)
    given: set[tuple[str, str, str, bool]] = set()

    def stands(one: RouterLabel) -> bool:
        if (mark := one.hint) is None:
            return True
        if settings is None or len(given) >= settings.most or now - mark.at > settings.keep:
            return False
        question = question_key(one.text)
        same = (one.user, question, mark.agent, one.agents.get(mark.agent, 0.0) > 0)
        full = weights[question] + one.weight > MOST_OF_A_QUESTION + _ROUNDING
        if question in told or same in given or full:
            return False
        given.add(same)
        weights[question] += one.weight
        return True

    kept = [key for key in reversed([*lessons]) if stands(lessons[key])]
    return {key: lessons[key] for key in reversed(kept)}
