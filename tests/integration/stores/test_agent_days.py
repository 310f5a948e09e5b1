"""Figures of long periods are the same, whether their days are added up already or not."""

import sqlite3
from pathlib import Path

import msgspec

from prolocutor.clocks import DAY, HOUR
from prolocutor.contracts.turn_record_store import AgentSpan
from prolocutor.stores.agent_figures import summed_up
from prolocutor.stores.sqlite.sqlite_store import SqliteStore
from prolocutor.testing.sample_turns import keep_turn

PERIODS = [(0.0, 1e9), (0.0, 2.0 * DAY), (1.5 * DAY, 1e9), (1.0 * DAY, 3.0 * DAY), (DAY, DAY)]


def rounded(spans: list[AgentSpan]) -> list[AgentSpan]:
    return [
        msgspec.structs.replace(span, seconds=round(span.seconds, 6), cost=round(span.cost, 6))
        for span in spans
    ]


async def check(store: SqliteStore) -> None:
    """Compare the totals of each period with the sums of its spans."""
    for since, until in PERIODS:
        spans = summed_up(await store.turn_records.figures(since, until), since)
        totals = await store.turn_records.totals(since, until)
        assert rounded(totals) == rounded([*spans.values()])


async def test_past_days_are_added_up_and_follow_later_changes(
    tmp_path: Path,
) -> None:
    file = tmp_path / "d.db"
    store = SqliteStore(file)
    await store.open()
    for hour in range(0, 90, 7):
        at, outcome = hour * HOUR + 100.0, "late" if hour % 2 else "done"
        kept = await keep_turn(store, f"user {hour % 3}", "x", at=at, cost=0.25, outcome=outcome)
    await check(store)

    def days() -> list[int]:
        with sqlite3.connect(file) as connection:
            return [day for (day,) in connection.execute("SELECT day FROM agent_days")]

    async def tend() -> None:
        while await store.turn_records.tend(now=3.5 * DAY, keep=30.0 * DAY, most=1000):
            pass

    await tend()
    assert days() == [0, 1, 2, 3]
    await check(store)
    await store.rate_utterance(kept.utt_id, 1, None, "2024-02-29 12:00:00.000000")
    await keep_turn(store, "user 1", "late", at=1.2 * DAY)
    await store.delete_person("user 2")
    await check(store)
    (total,) = await store.turn_records.totals(0.0, 1e9)
    assert total.asked == 10
    assert total.up == 1

    await store.aclose()
    again = SqliteStore(file)
    await again.open()
    await keep_turn(again, "user 0", "later", at=0.2 * DAY)
    await check(again)
    while await again.turn_records.tend(now=50.0 * DAY, keep=1.0, most=1000):
        pass
    assert days() == []
    await again.aclose()
