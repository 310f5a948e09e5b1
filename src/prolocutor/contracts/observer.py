"""Observers: each is told of what it has methods for: turns, breakers, services, ratings.

They must not block and must not raise.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, Literal, Protocol, TypedDict, runtime_checkable

import msgspec

from prolocutor.contracts.store import NewRecord, Store

Outcome = Literal["done", "failed", "late", "skipped"]

OwnFlag = Literal["none", "failed", "slow"]
"""Flags of a turn, known from its record: no agent answered, a service failed, it was slow."""

FAILURES: Final = frozenset({"failed", "late"})
"""The outcomes of a service that count as failures."""

NO_ANSWER: Final = frozenset({"fallback", "last_chance"})
"""The ways in which a reply comes about where no agent had an answer (`TurnRecord.by`)."""

BOUNDS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
"""Upper bounds of the buckets in which durations are counted, in seconds."""


DECLINED_CONFIDENCE: Final = 0.1
"""The confidence up to which a hypothesis says that its skill does not know."""


class ServiceRecord(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The outcome of a service in a turn; times are seconds since the turn's start.

    `cost` is the cost of its calls, `hypotheses` the number of a skill's hypotheses, `sure` their
    highest confidence. `critical`: whether the turn waited for it, if known
    (`channels.console.critical_path`).
    """

    name: str
    stage: str
    outcome: Outcome
    started: float | None
    ended: float | None
    calls: int
    error: str | None = None
    code: str | None = None
    cost: float = 0.0
    hypotheses: int = 0
    sure: float | None = None
    critical: bool | None = None

    @property
    def failed(self) -> bool:
        """Whether the service failed or was late."""
        return self.outcome in FAILURES

    @property
    def declined(self) -> bool:
        """Whether a skill was done without an answer: without a non-empty hypothesis."""
        if self.outcome != "done":
            return False
        return not self.hypotheses or (self.sure is not None and self.sure <= DECLINED_CONFIDENCE)


class ProfileChange(msgspec.Struct, frozen=True, kw_only=True):
    """A change by a turn in the profile of the person or the bot; UNSET stands for no
    value.

    `part` is "" (the profile's own keys), "profile" or "attributes".

    """

    whose: Literal["person", "bot"]
    part: str
    key: str
    before: Any = msgspec.UNSET
    after: Any = msgspec.UNSET


class Reason(TypedDict):
    """The reason why a skill selector called some skills; without skills, why it stopped."""

    service: str
    asked: list[str]
    reason: str


class LoggedChoice(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A choice of a canary or a router in a turn, with its probability (propensity).

    `service` made it: the new service of a canary, or a skill selector. Of a canary, `chosen` was
    asked where `other` could have been; of a router, `chosen` is an agent it asked at first.
    `score` is the router's own estimate that the agent is right, None where it has none.
    """

    service: str
    chosen: str
    probability: float
    other: str = ""
    score: float | None = None


class TurnRecord(msgspec.Struct, frozen=True, kw_only=True):
    """The frozen record of a turn.

    - `chosen` are the ids of the hypotheses in the reply.
    - `by` says which way the reply came about (`selector`, `confidence`, `last_chance`, `fallback`,
      `stopped`, or `assistant` where it speaks for itself).
    - `faults` are the recorded warnings `{service, what}`, `remarks` are worth knowing but no
      faults, such as a hypothesis of too little confidence to count.
    - `reasons` say why skills were called, in the order of the waves, as far as the selectors give
      them.
    - `cost` is the cost of all services, in the currency of their prices: the sum of the costs
      named by hypotheses, else calls times the price on the skill's card.
    - `seconds` counts from the turn's start to its reply being stored, which has the id `utt_id`.
    - `traceparent` names the span in which the first run of this turn was cut off.
    - `scores` are the ranker's probabilities by the id of the hypothesis, `version` the models in
      use by role (`router`, `ranker`), `changes` the changed values in profiles.
    - `ask` is the kind of answer the reply waits for.
    - `choices` are the choices of canaries and routers, with their probabilities.
    - `no_answer`: the reply's attribute of this name, by which a skill tells that its words are not
      an answer.
    """

    turn_id: str
    dialog_id: str
    user: str
    channel: str
    started: float
    seconds: float
    attempt: int
    text: str
    response: str
    active_skill: str
    confidence: float
    by: str
    chosen: list[str]
    asked: list[str]
    services: list[ServiceRecord]
    hypotheses: list[dict[str, Any]]
    faults: list[dict[str, str]]
    utt_id: str = ""
    reasons: list[Reason] = []
    remarks: list[dict[str, str]] = []
    cost: float = 0.0
    traceparent: str | None = None
    scores: dict[str, float] = {}
    version: dict[str, str] = {}
    changes: list[ProfileChange] = []
    ask: str | None = None
    choices: list[LoggedChoice] = []
    no_answer: bool = False

    @property
    def unanswered(self) -> bool:
        """Whether no agent had an answer, by the way of the reply or by the words of its skill."""
        return self.no_answer or self.by in NO_ANSWER

    @property
    def speakers(self) -> list[str]:
        """The skills whose hypotheses are in the reply, else the active skill, if any."""
        skills = dict.fromkeys(one.rpartition(".")[0] for one in self.chosen)
        return [*skills] or [name for name in (self.active_skill,) if name]

    @property
    def failures(self) -> int:
        """The number of failed or late services."""
        return sum([service.outcome in FAILURES for service in self.services])

    def flags(self, slow: float) -> list[OwnFlag]:
        """Return the flags of the turn; it is slow if it took longer than `slow` seconds."""
        flags: list[OwnFlag] = []
        if self.unanswered:
            flags.append("none")
        if self.failures:
            flags.append("failed")
        if self.seconds > slow:
            flags.append("slow")
        return flags


@runtime_checkable
class TurnObserver(Protocol):
    """Gets the record of each turn once, at its end."""

    def turn_ended(self, record: TurnRecord) -> None:
        """Handle the record of a turn."""


@runtime_checkable
class BreakerObserver(Protocol):
    """Follows the breakers of services."""

    def breaker_changed(self, service: str, state: str) -> None:
        """Handle the new state of a service's breaker: `open`, `half-open` or `closed`."""


class TurnBegun(msgspec.Struct, frozen=True, kw_only=True):
    """The beginning of a turn: its person, words, dialog and time (UNIX seconds)."""

    turn_id: str
    dialog_id: str
    user: str
    channel: str
    text: str
    at: float


@runtime_checkable
class Following(Protocol):
    """Follows turns while they run; without such an observer, following costs nothing.

    If it has `turn_ended` too, this comes last.
    """

    def turn_begun(self, begun: TurnBegun) -> None:
        """Handle the beginning of a turn, whose input is stored."""

    def service_asked(self, turn_id: str, service: str, stage: str) -> None:
        """Handle the first call of a service in the turn."""

    def service_settled(
        self, turn_id: str, service: str, stage: str, outcome: Outcome, seconds: float
    ) -> None:
        """Handle the outcome of a service, `seconds` after its first call."""

    def dialog_waits(self, dialog_id: str) -> None:
        """Handle a dialog's call for an operator."""


class ObservedAssistant(msgspec.Struct, frozen=True, kw_only=True):
    """The assistant of the observers.

    `connectors` are the names of its services' connectors, by stage and name; None where the target
    is itself a connector. `follow` lets an observer follow turns from now on.
    """

    name: str
    connectors: Mapping[tuple[str, str], str | None]
    follow: Callable[[Following], None]


@runtime_checkable
class Joining(Protocol):
    """Gets to know its assistant."""

    def joined(self, assistant: ObservedAssistant) -> None:
        """Get to know the assistant before its first turn."""


@runtime_checkable
class Learner(Protocol):
    """Learns from rows of the store: ratings, labels, and its own rows of turns.

    The assistant awaits its methods, which raise `StoreError` only.
    """

    async def start(self, store: Store) -> None:
        """Learn from the open store; called again after a failure."""

    async def refresh(self) -> None:
        """Learn from new rows of the store, of this replica and of others."""

    def take_lessons(self, record: TurnRecord) -> Sequence[NewRecord]:
        """Return the lessons of a turn, to be stored with it."""

    async def forget(self, user: str | None) -> None:
        """Forget rows lost by the store: a person's, or anybody's if None."""


Observer = TurnObserver | BreakerObserver | Following | Joining | Learner
"""What an assistant takes among its `observers`; an object may be several of these."""
