"""The operators' views of services: their states, and the outcomes of their calls."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final, Literal

import msgspec

from prolocutor.assistant.assistant import Assistant
from prolocutor.assistant.turn_record import TurnRecorder
from prolocutor.contracts.pairing import Card
from prolocutor.contracts.turn_record_store import AgentSpan, LatestFailure
from prolocutor.dialog.plain import JsonObject
from prolocutor.errors import BreakerOpen
from prolocutor.pipeline.prepared import ServiceStep
from prolocutor.plan.pipeline import Stage
from prolocutor.plugins.console.agent_counts import AgentCounts, PeriodCounts, ServiceHistory
from prolocutor.plugins.console.agent_states import AgentState, AgentStates
from prolocutor.plugins.console.recent_figures import RecentFigures, ServiceKey, Trouble
from prolocutor.plugins.console.ways import find_way

Breaker = Literal["closed", "open", "half-open"]

MOST_STEPS: Final = 200

_LEFT: Final = BreakerOpen.code


class AgentItem(msgspec.Struct, frozen=True, kw_only=True):
    """A service: its state, and its outcomes in the turns of a period.

    `state`: `well`; `failing`, if three of its latest 20 calls failed; `alone`, since it failed too
    often in a row; `trying`, as one call may try again; `off`.
    `note` is the reason of the state, `since` its start time (UNIX seconds). `asked`, `wins`,
    `declines` and `failed` count turns, `kinds` the failures by the code of their error. `p50` and
    `p99` are the seconds within which half of its answers came, and 99 of 100. `price` is the price
    of a call by the service's card; `cost` is the cost of its calls by its own statements, else by
    the price. `up` and `down` count the thumbs on its replies.
    """

    name: str
    stage: str
    kind: str
    state: AgentState
    breaker: Breaker
    note: str | None
    since: float | None
    asked: int
    wins: int
    declines: int
    failed: int
    kinds: dict[str, int]
    p50: float | None
    p99: float | None
    timeout: float
    in_flight: int
    max_in_flight: int
    price: float | None
    cost: float
    up: int
    down: int


class AgentList(msgspec.Struct, frozen=True, kw_only=True):
    """All services in declared order, the number of turns and their cost, since a time.

    `since` is later than the requested time if there are no earlier figures.
    """

    since: float
    turns: int
    cost: float
    items: list[AgentItem]


class AgentOverlap(msgspec.Struct, frozen=True):
    """The share of an agent's well answered questions with a good answer of another agent, too."""

    agent: str
    share: float


class AgentSeries(msgspec.Struct, frozen=True, kw_only=True):
    """Columns: the start (UNIX seconds) and the figures of each step; null if it was not asked."""

    step: int
    at: list[float]
    p50: list[float | None]
    p99: list[float | None]
    failed: list[int]


class FailureKind(msgspec.Struct, frozen=True, kw_only=True):
    """Failures of a kind: their number in the period, and the latest failure at any time."""

    code: str
    number: int
    at: float
    error: str
    turn_id: str
    dialog_id: str
    utt_id: str


class AgentDetail(AgentItem, frozen=True, kw_only=True):
    """One service in full.

    `way` is its address, without keys and queries. `latest` is its latest failure, if possible of a
    kind other than being left alone; `failures` has the latest failure of each kind. `requires` are
    the services without which it is skipped, `needed_by` the services skipped without it.
    `off_by` is the operator who switched it off. `answers`: operators can talk to it alone.
    """

    way: str
    card: JsonObject
    latest: FailureKind | None
    failures: list[FailureKind]
    series: AgentSeries
    overlap: list[AgentOverlap]
    requires: list[str]
    needed_by: list[str]
    off_by: str | None
    answers: bool


class AgentViews:
    """Makes the views of the services of an assistant."""

    def __init__(
        self,
        assistant: Assistant,
        figures: RecentFigures,
        recorder: TurnRecorder | None,
        states: AgentStates,
        cards: Mapping[str, Card],
    ) -> None:
        self._switches = assistant.switches
        self._prepared = assistant.engine.prepared
        self._figures = figures
        self._store = assistant.store
        self._recorder = recorder
        self._counts = AgentCounts(figures, recorder)
        self._states = states
        self._cards = {
            (Stage.SKILL.value, name): members
            for name, card in cards.items()
            if (members := card.members)
        }

    async def list_agents(self, since: float) -> AgentList:
        """Return all services, with figures since a time."""
        counts = await self._counts.since(since)
        items = [self._item(one, counts) for one in self._prepared.every()]
        return AgentList(
            since=max(since, counts.since),
            turns=counts.turns,
            cost=sum(one.cost for one in items),
            items=items,
        )

    async def detail(self, step: ServiceStep, since: float, seconds: int) -> AgentDetail:
        """Return a service in full, with a series of steps of equal length (in seconds)."""
        key = (step.stage_name, step.name)
        counts = await self._counts.since(since)
        item = self._item(step, counts)
        history = await self._counts.history(key, counts)
        failures = await self._failures(key, counts, history)
        off = self._switches.who_switched(step)
        worse = (one for one in failures if one.code != _LEFT)
        return AgentDetail(
            **{name: getattr(item, name) for name in AgentItem.__struct_fields__},
            way=find_way(step.service).way,
            card=self._card(step),
            latest=next(worse, failures[0] if failures else None),
            failures=failures,
            series=_series(step, history.series(seconds), seconds),
            overlap=self._overlap(step, since),
            requires=[self._prepared.steps[index].name for index in step.requires],
            needed_by=list(self._needing(step)),
            off_by=None if off is None else off.by,
            answers=step.stage in (Stage.SKILL, Stage.LAST_CHANCE),
        )

    def _item(self, step: ServiceStep, counts: PeriodCounts) -> AgentItem:
        service, guard = step.service, step.guard
        tally = counts.tally((step.stage_name, step.name))
        off = self._switches.who_switched(step)
        price = self._card(step).get("price")
        return AgentItem(
            name=step.name,
            stage=step.stage_name,
            kind=find_way(service).kind,
            state=self._states.find_state(step),
            breaker=guard.breaker.state,
            note=self._states.note(step) if off is None else off.reason,
            since=self._states.since(step) if off is None else off.at,
            asked=tally.asked,
            wins=tally.won,
            declines=tally.declined,
            failed=tally.failed,
            kinds=dict(sorted(tally.kinds.items(), key=lambda one: -one[1])),
            p50=_limit_seconds(tally.answer_quantile(0.5), step),
            p99=_limit_seconds(tally.answer_quantile(0.99), step),
            timeout=service.timeout,
            in_flight=guard.in_flight,
            max_in_flight=service.max_in_flight,
            price=float(price) if isinstance(price, int | float) else None,
            cost=tally.cost,
            up=tally.up,
            down=tally.down,
        )

    async def _failures(
        self, key: ServiceKey, counts: PeriodCounts, history: ServiceHistory
    ) -> list[FailureKind]:
        """Return the kinds of failures, each with its latest failure, the newest first."""
        found = {one.code: one for one in self._figures.troubles(key)}
        for code, kept in history.latest().items():
            if code not in found or found[code].at < kept.at:
                found[code] = await self._looked_up(key[1], code, kept)
        numbers = counts.tally(key).kinds
        shown = [
            _failure(await self._still_there(one), numbers.get(code, 0))
            for code, one in found.items()
        ]
        return sorted(shown, key=lambda one: -one.at)

    async def _looked_up(self, agent: str, code: str, kept: LatestFailure) -> Trouble:
        """Return a failure of another process or an old turn, without text if the text is gone."""
        turn = None if self._recorder is None else await self._recorder.store.turn(kept.utt_id)
        record = None if turn is None else turn.record
        services = () if record is None else record.services
        error = next((one.error for one in services if one.name == agent and one.error), "")
        return Trouble(
            at=kept.at,
            code=code,
            error=error or "",
            turn_id="" if record is None else record.turn_id,
            dialog_id="" if turn is None else turn.dialog_id,
            utt_id="" if turn is None else kept.utt_id,
        )

    async def _still_there(self, trouble: Trouble) -> Trouble:
        """Return a failure, without its text and turn if the reply was deleted."""
        if not trouble.utt_id or await self._store.find_owner(trouble.utt_id) is not None:
            return trouble
        return msgspec.structs.replace(trouble, error="", turn_id="", dialog_id="", utt_id="")

    def _card(self, step: ServiceStep) -> JsonObject:
        return self._cards.get((step.stage_name, step.name), step.service.card_members)

    def _overlap(self, step: ServiceStep, since: float) -> list[AgentOverlap]:
        together = self._figures.together(step.name, since)
        answered = together.pop(step.name, 0)
        if step.stage is not Stage.SKILL or not answered:
            return []
        shares = [AgentOverlap(name, n / answered) for name, n in together.items()]
        return sorted(shares, key=lambda one: (-one.share, one.agent))

    def _needing(self, step: ServiceStep) -> Iterator[str]:
        """Name the services skipped without this service, directly or through others."""
        gone = {step.index}
        for other in self._prepared.steps:  # in an order in which each comes after what it needs
            if gone.intersection(other.requires):
                gone.add(other.index)
                yield other.name


def _limit_seconds(seconds: float | None, step: ServiceStep) -> float | None:
    """Return interpolated seconds, limited to the time-out of a skill's call."""
    return (
        seconds if seconds is None or step.stage is not Stage.SKILL else min(seconds, step.timeout)
    )


def _series(step: ServiceStep, steps: list[tuple[float, AgentSpan]], seconds: int) -> AgentSeries:
    steps = steps[-MOST_STEPS:]
    return AgentSeries(
        step=seconds,
        at=[at for at, _ in steps],
        p50=[_limit_seconds(tally.answer_quantile(0.5), step) for _, tally in steps],
        p99=[_limit_seconds(tally.answer_quantile(0.99), step) for _, tally in steps],
        failed=[tally.failed for _, tally in steps],
    )


def _failure(latest: Trouble, number: int) -> FailureKind:
    return FailureKind(
        code=latest.code,
        number=number,
        at=latest.at,
        error=latest.error,
        turn_id=latest.turn_id,
        dialog_id=latest.dialog_id,
        utt_id=latest.utt_id,
    )
