"""Observer: gets the frozen record of each turn once, at its end."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, Literal, Protocol, TypedDict, runtime_checkable

import msgspec

from prolocutor.contracts.store import NewRecord, Store

Outcome = Literal["done", "failed", "late", "skipped"]

OwnFlag = Literal["none", "failed", "slow"]
"""What a turn's own record says of it: no agent answered, a service failed, it was slow."""

FAILURES: Final = frozenset({"failed", "late"})
"""The outcomes of a service that count as failures."""

NO_ANSWER: Final = frozenset({"fallback", "last_chance"})
"""The ways in which a reply comes about where no agent had an answer (`TurnRecord.by`)."""

BOUNDS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
"""Upper bounds of the buckets in which durations are counted, in seconds."""


DECLINED: Final = 0.1
"""The confidence up to which a hypothesis says that its skill does not know."""


class ServiceRecord(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What became of one service in one turn; times are seconds since the turn's start.

    `cost` is what its calls cost, `hypotheses` how many a skill gave, `sure` the highest confidence
    of these. `critical`: whether the turn waited for it, where that was found out
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
        """Whether it failed or was late."""
        return self.outcome in FAILURES

    @property
    def declined(self) -> bool:
        """Whether a skill was done without an answer: without hypotheses, or none to speak of."""
        if self.outcome != "done":
            return False
        return not self.hypotheses or (self.sure is not None and self.sure <= DECLINED)


class ProfileChange(msgspec.Struct, frozen=True, kw_only=True):
    """One value that a turn changed in the profile of the person or the bot, UNSET where none was.

    `part` is "" (the profile's own keys), "profile" or "attributes".
    """

    whose: Literal["person", "bot"]
    part: str
    key: str
    before: Any = msgspec.UNSET
    after: Any = msgspec.UNSET


class Reason(TypedDict):
    """Why a skill selector had these skills called; without skills, why it was enough."""

    service: str
    asked: list[str]
    reason: str


class LoggedChoice(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A choice that a canary or a router made in a turn, with its probability (propensity).

    `service` made it: the new service of a canary, or a skill selector. Of a canary, `chosen` was
    asked where `other` could have been; of a router, `chosen` is an agent that it had asked at
    first. `score` is the router's own estimate that the agent is right, None where it has none.
    """

    service: str
    chosen: str
    probability: float
    other: str = ""
    score: float | None = None


class TurnRecord(msgspec.Struct, frozen=True, kw_only=True):
    """The frozen record of one turn.

    `chosen` are the ids of the hypotheses in the reply; `by` says which way the reply came about
    (`selector`, `confidence`, `last_chance`, `fallback`, `stopped`, or `assistant` where it speaks
    for itself); `faults` are the recorded warnings `{service, what}`, `remarks` what is not wrong
    but worth knowing, such as a hypothesis that was not sure enough to count. `reasons` say why
    skills were called, in the order of the waves, as far as the selectors give them. `cost` is that
    of all services, in the currency of their prices: what hypotheses say that they cost, else calls
    times the price on the skill's card. `seconds` counts from the turn's start to its reply being
    stored, which has the id `utt_id`. `traceparent` names the span in which the first run of this
    turn was cut off. `scores` are the ranker's probabilities by the id of the hypothesis, `version`
    the models in use by role (`router`, `ranker`), `changes` what the turn changed in profiles.
    `offered` are the titles of the reply's buttons and choices, `ask` the kind of answer that it
    waits for. `again_of` is the reply whose words these take the place of (`dialog.inputs`).
    `choices` are those that canaries and routers made, with their probabilities.
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
    offered: list[str] = []
    ask: str | None = None
    again_of: str = ""
    choices: list[LoggedChoice] = []

    @property
    def failures(self) -> int:
        """How many of its services failed or were late."""
        return sum([one.outcome in FAILURES for one in self.services])

    def flags(self, slow: float) -> list[OwnFlag]:
        """Return what is wrong with it; it is slow if it took longer than `slow` seconds."""
        flags: list[OwnFlag] = []
        if self.by in NO_ANSWER:
            flags.append("none")
        if self.failures:
            flags.append("failed")
        if self.seconds > slow:
            flags.append("slow")
        return flags


class Observer(Protocol):
    """Gets each turn's record; must not block and must not raise."""

    def turn_ended(self, record: TurnRecord) -> None:
        """Take note of one turn."""

    def breaker_changed(self, service: str, state: str) -> None:
        """Take note that a service's breaker is now `open`, `half-open` or `closed`."""


class TurnBegun(msgspec.Struct, frozen=True, kw_only=True):
    """A turn that has begun: who said what, where and when (UNIX seconds)."""

    turn_id: str
    dialog_id: str
    user: str
    channel: str
    text: str
    at: float


@runtime_checkable
class Following(Observer, Protocol):
    """An observer that follows turns while they run; must not block and must not raise.

    `turn_ended` comes last. Where an assistant has no such observer, following costs nothing.
    """

    def turn_begun(self, begun: TurnBegun) -> None:
        """Take note that a turn has begun; what was said is stored."""

    def service_asked(self, turn_id: str, service: str, stage: str) -> None:
        """Take note that a service is asked, for the first time in the turn."""

    def service_settled(
        self, turn_id: str, service: str, stage: str, outcome: Outcome, seconds: float
    ) -> None:
        """Take note of what became of a service, so many seconds after it was asked."""

    def dialog_waits(self, dialog_id: str) -> None:
        """Take note that a person is wanted in a dialog."""


class ObservedAssistant(msgspec.Struct, frozen=True, kw_only=True):
    """The assistant that observers are in.

    `connectors` are the names of the ways to its services, by stage and name; None for a target
    that is a connector itself. `follow` lets an observer follow turns from now on.
    """

    name: str
    connectors: Mapping[tuple[str, str], str | None]
    follow: Callable[[Following], None]


@runtime_checkable
class Joining(Observer, Protocol):
    """An observer that is told which assistant it is in."""

    def joined(self, assistant: ObservedAssistant) -> None:
        """Take note of it; nothing has happened there yet."""


@runtime_checkable
class Learner(Observer, Protocol):
    """An observer that learns from rows of the store: ratings, labels, and what it adds to turns.

    The assistant awaits it: it raises `StoreError` alone.
    """

    async def start(self, store: Store) -> None:
        """Learn what the store has; it is open. Called again where that failed."""

    async def refresh(self) -> None:
        """Learn what the store has more, of this replica and of others."""

    def lessons_of(self, record: TurnRecord) -> Sequence[NewRecord]:
        """Return what a turn teaches, to be stored with it; `turn_ended` says that it is."""

    async def forget(self, user: str | None) -> None:
        """Forget what is not in the store any more: this person's, or of anybody if None."""
