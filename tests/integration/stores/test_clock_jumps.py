"""The wall clock of a machine is set by days while an assistant runs on it."""

import asyncio
import time
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from prolocutor import Pipeline, Service, TurnRequest
from prolocutor.assistant.assistant import Assistant
from prolocutor.assistant.assistant_settings import RecordSettings, ReplicaSettings
from prolocutor.clocks import MAX_CLOCK_STEP, SteadyClock
from prolocutor.web.key_ring import KeyRing

DAY = 86_400.0
JUMPS = [2.5 * DAY, -2.5 * DAY]


class Wall:
    """The wall clock of this machine, which is set by `jump`."""

    def __init__(self) -> None:
        self._time = time.time
        self.jump = 0.0

    def __call__(self) -> float:
        return self._time() + self.jump


@pytest.fixture
def wall(monkeypatch: pytest.MonkeyPatch) -> Wall:
    wall = Wall()
    monkeypatch.setattr(time, "time", wall)
    return wall


class Counted:
    """A skill that counts its runs by the words that it heard."""

    def __init__(self) -> None:
        self.runs: dict[str, int] = {}

    def __call__(self, request: TurnRequest) -> list[dict[str, object]]:
        text = request.text
        self.runs[text] = self.runs.get(text, 0) + 1
        return [{"text": f"{text} {self.runs[text]}", "confidence": 1.0}]


async def replicas(stack: AsyncExitStack, url: str, skill: Counted, number: int) -> list[Assistant]:
    made = [
        Assistant(
            Pipeline(skills=[Service("counted", skill)]),
            store=url,
            durability="relaxed",
            replica=ReplicaSettings(lease=1.0),
            records=RecordSettings(keep=DAY),
        )
        for _ in range(number)
    ]
    return [await stack.enter_async_context(one) for one in made]


@pytest.fixture(params=["sqlite", "postgresql"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[str, int]:
    """A store's URL, and how many use it."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/dialogs.db", 1
    return request.getfixturevalue("database"), 2


@pytest.mark.parametrize("jump", JUMPS)
async def test_a_turn_with_a_key_runs_once_whatever_the_wall_clock_does(
    store: tuple[str, int], wall: Wall, jump: float
) -> None:
    skill = Counted()
    async with AsyncExitStack() as stack:
        them = await replicas(stack, store[0], skill, store[1])
        said: dict[str, set[str]] = {}

        async def ask(name: str) -> None:
            for one in them:
                reply = await one.reply(name, "ann", request_id=name)
                said.setdefault(name, set()).add(reply.text)

        await ask("before")
        wall.jump = jump
        for name in ("before", "meanwhile"):
            await ask(name)
        if store[1] > 1:  # a beat measures the database's clock again
            await asyncio.gather(*(one.store.beat() for one in them))  # type: ignore[attr-defined]
        for name in ("before", "meanwhile"):
            await ask(name)
        wall.jump = 0.0
        for name in ("before", "meanwhile", "after"):
            await ask(name)
        for one in them:
            assert one.records.recorder is not None
            await one.records.recorder.settle()
            turns = await one.records.recorder.store.hours(0.0, time.time() + DAY)

    assert skill.runs == {"before": 1, "meanwhile": 1, "after": 1}
    assert all(len(replies) == 1 for replies in said.values())
    assert sum(hour.turns for hour in turns) == 3


async def test_keys_of_a_shared_store_end_by_its_clock(database: str, wall: Wall) -> None:
    async with AsyncExitStack() as stack:
        (one,) = await replicas(stack, database, Counted(), 1)
        ring = KeyRing(one.store)
        secret, _ = await ring.create("short", ["read"], seconds=3600.0)
        wall.jump = 2.5 * DAY
        assert ring.find(secret) is not None


def test_a_clock_that_is_set_by_a_little_is_followed_and_by_much_is_not() -> None:
    walls, passed = [1e9], [100.0]
    clock = SteadyClock(lambda: walls[0], lambda: passed[0])
    walls[0] += 10 - MAX_CLOCK_STEP / 2
    passed[0] += 10
    followed = clock()
    walls[0] += 10 + 2.5 * DAY
    passed[0] += 10

    assert followed == 1e9 + 10 - MAX_CLOCK_STEP / 2
    assert clock() == followed + 10
    walls[0] -= 2.5 * DAY
    assert clock() == walls[0]
