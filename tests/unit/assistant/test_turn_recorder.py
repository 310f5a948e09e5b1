"""Records of turns reach the store in batches; what it cannot take is lost, and no turn waits."""

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, cast

import msgspec
import pytest

from prolocutor.assistant.assistant import Assistant
from prolocutor.assistant.assistant_settings import RecordSettings
from prolocutor.assistant.turn_record import BATCH_RECORDS, MOST_WAITING, TurnRecorder
from prolocutor.contracts.observer import ServiceRecord, TurnRecord
from prolocutor.contracts.selection import Enough, Selection
from prolocutor.errors import StoreFull
from prolocutor.plan.graph import compile_graph
from prolocutor.plan.pipeline import Pipeline, Service
from prolocutor.plugins.console.critical_path import critical_path
from prolocutor.stores.sqlite.sqlite_store import MemoryStore
from prolocutor.testing.fake_service import FakeService
from tests.unit.assistant.talks import echo


class Batches:
    """A keeper of records that waits until it may go on, and fails where it is told to."""

    def __init__(self) -> None:
        self.kept: list[int] = []
        self.tended: list[tuple[float, int]] = []
        self.full = False
        self.go = asyncio.Event()
        self.go.set()

    async def add(self, records: Sequence[TurnRecord], *, slow: float) -> None:
        await self.go.wait()
        if self.full:
            raise StoreFull("the disk is full")
        self.kept.append(len(records))

    async def tend(self, *, now: float, keep: float, most: int) -> bool:
        self.tended.append((keep, most))
        return False


def recorder(keeper: Any, **settings: Any) -> TurnRecorder:
    return TurnRecorder(keeper, RecordSettings(**settings), 6.0)


def a_record(services: Sequence[ServiceRecord] = ()) -> TurnRecord:
    return TurnRecord(
        turn_id="t", dialog_id="d", user="ann", channel="x", started=1.0, seconds=1.0, attempt=1,
        text="hi", response="ho", active_skill="echo", confidence=1.0, by="selector", chosen=[],
        asked=[], services=list(services), hypotheses=[], faults=[],
    )  # fmt: skip


async def test_records_are_written_in_batches_and_all_of_them_at_the_end() -> None:
    keeper = Batches()
    it = recorder(keeper, keep=60.0, most=7)
    it.start()
    for _ in range(2 * BATCH_RECORDS + 5):
        it.turn_ended(a_record())
    await it.aclose()

    assert sum(keeper.kept) == 2 * BATCH_RECORDS + 5
    assert max(keeper.kept) == BATCH_RECORDS
    assert (60.0, 7) in keeper.tended
    assert it.slow == 4.0
    assert it.lost == 0
    assert recorder(keeper, slow=1.5).slow == 1.5


async def test_a_store_that_is_slow_or_full_loses_records_and_not_turns(
    caplog: pytest.LogCaptureFixture,
) -> None:
    keeper = Batches()
    keeper.go.clear()
    it = recorder(keeper)
    for _ in range(BATCH_RECORDS):
        it.turn_ended(a_record())
    await asyncio.sleep(0)  # the first batch is under way
    await asyncio.sleep(0)
    for _ in range(MOST_WAITING + 3):
        it.turn_ended(a_record())
    assert it.lost == 3
    keeper.full = True
    keeper.go.set()
    await it.settle()

    assert keeper.kept == []
    assert it.lost == BATCH_RECORDS + MOST_WAITING + 3
    assert len(caplog.records) == 1
    keeper.full = False
    it.turn_ended(a_record())
    await it.settle()
    assert keeper.kept == [1]


async def test_a_rating_finds_the_record_of_a_turn_that_just_ended() -> None:
    store = MemoryStore()
    pipeline = Pipeline(skills=[echo()])
    async with Assistant(pipeline, store=store, records=RecordSettings()) as assistant:
        reply = await assistant.reply("hello", user="ann")
        await assistant.archive.rate(reply.utt_id, -1, "ann")
        kept = await store.turn_records.turn(reply.utt_id)

    assert kept is not None
    assert kept.flags == ["down"]


async def test_without_records_nothing_is_kept() -> None:
    store = MemoryStore()
    async with Assistant(Pipeline(skills=[echo()]), store=store) as assistant:
        reply = await assistant.reply("hello", user="ann")
        assert assistant.records.recorder is None
        kept = await store.turn_records.turn(reply.utt_id)
    assert kept is not None
    assert kept.record is None


def ran(name: str, stage: str, started: float | None, ended: float | None) -> ServiceRecord:
    outcome = "skipped" if started is None else "done"
    return msgspec.structs.replace(
        ServiceRecord(
            name=name, stage=stage, outcome="done", started=started, ended=ended, calls=1
        ),
        outcome=outcome,
    )


@pytest.mark.parametrize(
    ("services", "path"),
    [
        (
            [
                ran("fast", "annotators", 0.0, 0.1),
                ran("slow", "annotators", 0.0, 0.5),
                ran("rules", "skill_selector", 0.5, 0.6),
                ran("a", "skills", 0.6, 0.7),
                ran("b", "skills", 0.6, 2.0),
                ran("best", "response_selector", 2.0, 2.1),
                ran("strip", "postprocessors", 2.1, 2.2),
            ],
            ["slow", "rules", "b", "best", "strip"],
        ),
        (  # a second wave waited for the first, and a skipped selector for what is before it
            [
                ran("fast", "annotators", 0.0, 0.3),
                ran("slow", "annotators", 0.0, 0.1),
                ran("rules", "skill_selector", None, 0.3),
                ran("a", "skills", 0.3, 1.0),
                ran("b", "skills", 1.1, 3.0),
                ran("best", "response_selector", 3.0, 3.1),
            ],
            ["fast", "a", "b", "best"],
        ),
        (  # services that are no longer in the plan
            [ran("gone", "annotators", 0.0, 0.4), ran("lost", "skills", 0.5, 1.0)],
            ["gone", "lost"],
        ),
        ([], []),
    ],
)
def test_the_critical_path_is_the_services_each_service_waited_for(
    services: list[ServiceRecord], path: list[str]
) -> None:
    def named(name: str) -> Service:
        return Service(name, FakeService(None))

    plan = compile_graph(
        Pipeline(
            annotators=[named("fast"), named("slow")],
            skill_selector=named("rules"),
            skills=[named("a"), named("b")],
            response_selector=named("best"),
            postprocessors=[named("strip")],
        )
    )

    assert [one.name for one in critical_path(a_record(services), plan)] == path


@pytest.mark.parametrize(
    "selection",
    [
        lambda: Selection(["echo"], reason="why \ud800"),
        lambda: Selection(["echo"], faults=["\ud800", "x" * 1_000_000]),
        lambda: Selection(["echo"], version="\ud800"),
        lambda: Selection(["echo"], lambda given, left: ["\ud800"]),
        lambda: Selection(["echo"], reason=cast("str", [])),
        lambda: Selection(["echo"], version=cast("str", [])),
        lambda: Selection(["echo"], faults=[cast("str", [])]),
        lambda: Selection(["echo"], lambda given, left: Enough(cast("str", []))),
    ],
)
async def test_the_record_of_a_turn_can_be_kept_whatever_a_selection_says(
    selection: Callable[[], Selection], tmp_path: Path
) -> None:
    def selects(request: Any) -> Selection:
        return selection()

    pipeline = Pipeline(skill_selector=Service("s", selects, inline=True), skills=[echo()])
    async with Assistant(
        pipeline, store=f"sqlite:///{tmp_path}/a.db", records=RecordSettings()
    ) as assistant:
        reply = await assistant.reply("hi", user="ann")
        assert assistant.records.recorder is not None
        await assistant.records.recorder.settle()
        kept = await assistant.records.recorder.store.turn(reply.utt_id)

    assert reply.text == "re: hi"
    assert assistant.records.recorder.lost == 0
    assert kept is not None
