"""Whatever clients say while the assistant is killed: nothing is lost, and nothing comes twice."""

import asyncio
from collections import Counter
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, cast

from hypothesis import given, settings
from hypothesis import strategies as st

from prolocutor.assistant.runner import run
from prolocutor.contracts.store import FeedRow, Store
from prolocutor.dialog import plain, rounds
from prolocutor.errors import StoreError
from prolocutor.stores.sqlite.sqlite_store import SqliteStore
from prolocutor_demo import demonstration
from tests.plugins.almond.integration.any_clients import FRAMES, Person, finish
from tests.plugins.almond.integration.wire import demonstrated

USER: Final = "almond:local"
RING: dict[str, Any] = {"type": "command", "text": "ring"}
CLIENTS = st.integers(0, 1)
LIVES = st.lists(
    st.tuples(
        st.integers(1, 12),
        st.booleans(),
        st.lists(
            st.tuples(CLIENTS, st.sampled_from([*FRAMES, RING, RING, None])),
            min_size=1,
            max_size=6,
        ),
    ),
    min_size=1,
    max_size=3,
)
"""Lives of the assistant: the write that cuts it off, whether that is still done, and who says
what (None: drops their line)."""


class Cut:
    """A SQLite store from which the assistant is cut off at one of its writes, for good."""

    WRITES: Final = frozenset(
        ("open_turn", "close_turn", "resume_turn", "deliver", "schedule", "strike")
    )

    def __init__(self, file: Path, writes: float = float("inf"), *, is_late: bool = False) -> None:
        self._store = SqliteStore(file, durability="relaxed")
        self._left = writes
        self._is_late = is_late

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._store, name)
        return partial(self._write, method) if name in self.WRITES else method

    async def _write(self, method: Any, *given: Any) -> Any:
        self._left -= 1
        if self._left > 0:
            return await method(*given)
        if self._left == 0 and self._is_late:
            await method(*given)
        raise StoreError("the assistant was killed")


def skill(request: dict[str, Any]) -> Any:
    """Demonstrates all there is, and rings at once where it is told to."""
    if request["utterances"][-1]["text"] != "ring":
        return demonstration.answer(request)
    turn = request["turn_id"]
    messages = [{"type": "text", "text": f"ringing {turn}"}]
    line = {"key": turn, "in": 0, "messages": messages}
    return [{"text": f"to ring {turn}", "confidence": 1.0, "schedule": [line]}]


@settings(max_examples=20, deadline=None)
@given(LIVES)
def test_nothing_is_lost_and_nothing_comes_twice(lives: list[Any]) -> None:
    with TemporaryDirectory() as folder:
        run(_play(lives, Path(folder) / "dialogs.db"))


async def _play(lives: list[Any], file: Path) -> None:
    people = [Person(), Person()]
    async with AsyncExitStack() as leaving:
        for person in people:
            leaving.push_async_callback(person.drop)
        for writes, is_late, said in lives:
            store = cast(Store, Cut(file, writes, is_late=is_late))
            async with demonstrated(skill, store=store) as door:
                for person in people:
                    person.door = door
                for who, frame in said:
                    if frame is None:
                        await people[who].drop()
                    else:
                        await (await people[who].socket()).send(**frame)
                await asyncio.gather(*(person.drop() for person in people))
        live = SqliteStore(file, durability="relaxed")
        async with demonstrated(skill, store=live) as door:
            for person in people:
                person.door = door
            await finish(people)
            state = await _state(live)
    again = SqliteStore(file)
    await again.open()
    assert await _state(again) == state
    _check(*state, people)
    await again.aclose()


State = tuple[list[FeedRow], bytes, list[str], list[str]]


async def _state(store: SqliteStore) -> State:
    """Return what is kept of the person: feed, round, keys of the agenda, what was said by them."""
    rows = await store.feed(USER, 0, 10_000)
    dialog = await store.dialog(rows[-1].dialog_id)
    assert dialog is not None
    entries = await store.entries(USER)
    said = [utterance.text for utterance in dialog.utterances]
    return rows, await store.round(USER, "main"), [entry.key for entry in entries], said


def _check(
    rows: list[FeedRow], round_: bytes, keys: list[str], said: list[str], people: list[Person]
) -> None:
    messages = [plain.decode(row.message) for row in rows if row.message is not None]
    told = Counter(message["text"] for message in messages if message["type"] == "text")
    rung = Counter({text: number for text, number in told.items() if text.startswith("ringing")})
    to_ring = {text.removeprefix("to ") for text in told if text.startswith("to ring ")}
    commands = [message for message in messages if message["type"] == "command"]
    closings = [plain.decode(row.closing) for row in rows if row.closing is not None]
    waiting = rounds.decode(round_).waiting

    assert [row.n for row in rows] == list(range(1, len(rows) + 1))
    ids = [row.id for row in rows if row.message is not None]
    assert ids == list(range(len(ids)))
    assert len(closings) == len(commands) + rung.total()
    assert closings[-1]["ask"] == (waiting.ask if waiting else None)
    assert rung.total() == len(rung)
    assert len(said) == 2 * len(commands)
    for person in people:
        seen = [frame["id"] for frame in person.seen]
        assert seen == ids[: len(seen)]
    assert {f"ringing {key}" for key in keys} | set(rung) == {
        text.replace("ring ", "ringing ") for text in to_ring
    }
