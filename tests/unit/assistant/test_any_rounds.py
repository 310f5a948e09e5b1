"""Whatever people send, in whatever order: one closing a turn, and a state to go on from."""

from __future__ import annotations

import asyncio
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from prolocutor.assistant.assistant import Assistant
from prolocutor.dialog import plain, rounds
from prolocutor.plan.pipeline import Pipeline
from prolocutor.testing.sample_turns import an_opening
from tests.model_store import ModelStore
from tests.unit.assistant.askers import (
    KINDS,
    PROGRAM,
    TIME,
    WRONG,
    Asker,
    answer,
    asking_skills,
    special,
)

SPECIALS = (
    "yes no nevermind stop help wakeup debug failed train back more empty maybe makerule hello"
)
asking_for = st.sampled_from([*KINDS, "null"]).map(lambda kind: ({"text": f"ask {kind}"}))
answering = st.sampled_from([*KINDS.values()]).flatmap(
    lambda kind: st.sampled_from([{"text": kind.right}, {"parsed": kind.parsed}])
)
steering = st.sampled_from(SPECIALS.split()).flatmap(
    lambda name: st.sampled_from([{"text": name}, {"parsed": special(name)}])
)
odd = st.sampled_from(
    [
        {"text": WRONG},
        {"text": TIME},
        {"text": " "},
        {"text": "\\r {"},
        {"program": "now => @a.b();"},
        {"parsed": PROGRAM},
        {"parsed": {"payload": 5, "skill": "asker"}},
        {"parsed": {"payload": 5, "skill": "clock"}},
        {"parsed": {"code": []}},
        {"parsed": {"code": [5], "entities": 7}},
        {"parsed": answer("NUMBER_0", None)},
    ]
)
inputs = st.one_of(asking_for, answering, steering, odd)
steps = st.tuples(
    st.sampled_from(["say", "say", "say", "fail", "cut off", "restart"]),
    inputs,
    st.sampled_from(["main", "other"]),
)


@settings(suppress_health_check=list(HealthCheck))
@given(st.lists(steps, min_size=1, max_size=12))
async def test_every_turn_has_one_closing_and_leaves_what_a_restart_reads(
    plan: list[tuple[str, dict[str, Any], str]],
) -> None:
    store, asker = ModelStore(), Asker()
    it = await _started(store, asker)
    said = 0
    for how, came, dialog in plan:
        if how == "restart":
            await it.aclose()
            it = await _started(store, asker)
        elif how == "cut off":
            await it.aclose()
            said += await _left(store, came, dialog)
            it = await _started(store, asker)
            while it.turns.busy:  # noqa: ASYNC110 - nothing tells when the last one has gone
                await asyncio.sleep(0)
        else:
            asker.failures = 1 if how == "fail" else 0
            said += 1
            turn = await it.turn(**{"text": "", "user": "ann", "dialog": dialog, **came})
            assert turn.waiting == rounds.decode(await store.round("ann", dialog)).waiting
    await it.aclose()
    await _check(store, said)


async def _started(store: ModelStore, asker: Asker) -> Assistant:
    it = Assistant(Pipeline(skills=asking_skills(asker)), store=store, deadline=600.0)
    await it.start()
    return it


async def _left(store: ModelStore, came: dict[str, Any], dialog: str) -> int:
    """Begin a turn that nobody ends."""
    start = {key: value for key, value in came.items() if key != "text"}
    text = came.get("text", "title")
    opening = an_opening(
        text=text, dialog_name=dialog, start=plain.encode(start), window=4, hypotheses=0
    )
    await store.open_turn(opening)
    return 1


async def _check(store: ModelStore, said: int) -> None:
    """One closing a turn, the last that of the state; ids without gaps in each dialog."""
    rows = await store.feed("ann", 0, 100_000)
    assert [row.n for row in rows] == list(range(1, len(rows) + 1))
    assert len([row for row in rows if row.closing is not None]) == said
    for dialog in ("main", "other"):
        own = [row for row in rows if row.dialog_name == dialog]
        ids = [row.id for row in own if row.id is not None]
        assert ids == list(range(len(ids)))
        closings = [plain.decode(row.closing)["ask"] for row in own if row.closing is not None]
        waiting = rounds.decode(await store.round("ann", dialog)).waiting
        if closings:
            assert closings[-1] == (waiting.ask if waiting else None)
