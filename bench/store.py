"""What a turn costs in the store: CPU microseconds of the whole process per begin + finish.

    python bench/store.py [--dir FOLDER] [--turns N]

Each turn stores an utterance of human and bot, three hypotheses and one changed attribute, and
gets a window of four. What the caller does for it (ids, encoding) is not counted.
"""

import argparse
import asyncio
import json
import os
import random
import resource
import tempfile
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from prolocutor.contracts.store import (
    NewDialog,
    NewProfileVersion,
    NewUtterance,
    OpenedTurn,
    Store,
    TurnClosing,
    TurnOpening,
)
from prolocutor.dialog import ids, plain
from prolocutor.stores.sqlite.sqlite_store import MemoryStore, SqliteStore

ANNOTATIONS = {"ner": [{"word": "Tokyo", "type": "LOC", "at": [3, 8]}] * 3, "sentiment": [0.2, 0.8]}
HYPOTHESES = plain.encode(
    [{"skill_name": f"skill_{n}", "text": "it is a fine day", "confidence": 0.5, "annotations": {}}
     for n in range(3)]
)  # fmt: skip
HUMAN = {"text": "what is the weather like today?", "annotations": ANNOTATIONS, "attributes": {}}
BOT = {"text": "it is a fine day", "orig_text": "it is a fine day", "active_skill": "weather",
       "confidence": 0.5, "annotations": ANNOTATIONS, "attributes": {}}  # fmt: skip
FEED = plain.encode({"id": 1, "type": "text", "text": "it is a fine day", "icon": "org.weather"})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--dir", type=Path, default=None, help="where the files are made")
    parser.add_argument("--turns", type=int, default=3000, help="turns measured at 100 and more")
    parser.add_argument("--json", type=Path, default=None, help="write the figures here too")
    parser.add_argument(
        "--people", type=int, default=20_000,
        help="people in the file of the last line, where each turn is somebody else's first since "
        "a restart",
    )  # fmt: skip
    options = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory(dir=options.dir) as folder:
        print(f"fsync of one page: {fsync_us(Path(folder)):.0f} us (median)\n")
        print(f"{'store':<17}{'at once':>8}{'CPU us':>9}{'user':>8}{'system':>8}"
              f"{'wall us':>9}{'commits':>9}{'turns':>7}")  # fmt: skip
        for kind in ("sqlite full", "sqlite relaxed", "memory"):
            for at_once in (1, 10, 100, 500):
                row = asyncio.run(measure(kind, Path(folder), at_once, options.turns))
                rows.append(row)
                show(row)
        rows.append(asyncio.run(measure_restart(Path(folder), options.people, options.turns)))
        show(rows[-1])
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1))


async def measure(kind: str, folder: Path, at_once: int, turns: int) -> dict[str, Any]:
    path = folder / f"{kind}-{at_once}.db".replace(" ", "-")
    store: Store = MemoryStore()
    if kind != "memory":
        store = SqliteStore(path, durability=kind.split()[1])
    await store.open()
    each = max(10, min(turns, turns // 10 * (1 + at_once // 10)) // at_once)
    await run(store, at_once, 5)
    prepared = [[*openings(f"user {n}", each)] for n in range(at_once)]
    row = await timed(kind, store, prepared)
    await store.aclose()
    return row


async def measure_restart(folder: Path, people: int, turns: int) -> dict[str, Any]:
    """Let many people talk, restart, and let some of them talk again, a hundred at once."""
    store = SqliteStore(folder / "restart.db", durability="relaxed")
    await store.open()
    await asyncio.gather(
        *(talk(store, (b for n in range(lane, people, 200) for b in openings(f"user {n}", 2)))
          for lane in range(200))
    )  # fmt: skip
    await store.aclose()
    store = SqliteStore(folder / "restart.db", durability="full")
    await store.open()
    chosen = random.Random(1).sample(range(people), min(turns, people))
    prepared = [
        [b for n in chosen[lane::100] for b in openings(f"user {n}", 1)] for lane in range(100)
    ]
    row = await timed("sqlite restarted", store, prepared)
    await store.aclose()
    return row


async def timed(kind: str, store: Store, prepared: list[list[TurnOpening]]) -> dict[str, Any]:
    commits = getattr(store, "commits", 0)
    usage, wall = resource.getrusage(resource.RUSAGE_SELF), time.perf_counter()
    await asyncio.gather(*(talk(store, some) for some in prepared))
    wall = time.perf_counter() - wall
    after, count = resource.getrusage(resource.RUSAGE_SELF), sum(map(len, prepared))
    user = (after.ru_utime - usage.ru_utime) / count * 1e6 - CALLER_US
    system = (after.ru_stime - usage.ru_stime) / count * 1e6
    commits = getattr(store, "commits", 0) - commits
    return {"store": kind, "at_once": len(prepared), "cpu": user + system, "user": user,
            "system": system, "wall": wall / count * 1e6, "commits": commits,
            "turns": count}  # fmt: skip


def show(row: dict[str, Any]) -> None:
    print("{store:<17}{at_once:>8}{cpu:>9.1f}{user:>8.1f}{system:>8.1f}"
          "{wall:>9.1f}{commits:>9}{turns:>7}".format(**row))  # fmt: skip


async def run(store: Store, at_once: int, turns: int) -> None:
    await asyncio.gather(*(talk(store, [*openings(f"user {n}", turns)]) for n in range(at_once)))


async def talk(store: Store, openings: Iterable[TurnOpening]) -> None:
    for opening in openings:
        opened = await store.open_turn(opening)
        assert isinstance(opened, OpenedTurn)
        await store.close_turn(ending(opened))


def openings(user: str, turns: int) -> Iterator[TurnOpening]:
    for _ in range(turns):
        utt_id = ids.new_id()
        message = plain.encode({"id": 0, "type": "command", "command": HUMAN["text"], "u": utt_id})
        yield TurnOpening(
            turn_id=ids.new_id(), user=user, dialog_name="main", channel_type="bench",
            utt_id=utt_id, bot_utt_id=ids.new_id(), date_time=ids.timestamp(),
            started=time.time(), text=HUMAN["text"], attributes=b"{}", message=message,
            new_dialog=NewDialog(human_id=ids.new_id(), dialog_id=ids.new_id(), id=ids.new_id(),
                                 bot_id=ids.new_id()),
        )  # fmt: skip


def ending(opened: OpenedTurn) -> TurnClosing:
    """Make an ending as cheaply as can be: what it costs is the caller's, see `CALLER_US`."""
    said = opened.opening
    number = opened.human.number + 1
    state = opened.human.state[: opened.human.state.rindex(b'"attributes":')]
    human = NewProfileVersion(
        number=number,
        state=b'%b"attributes":{"turns":%d}}' % (state, number),
        changes=[["attributes", "turns", number]],
    )
    at = said.date_time
    return TurnClosing(
        opened=opened,
        utterances=[
            NewUtterance(
                utt_id=said.utt_id, by_bot=False, date_time=at, user_version=number,
                body=encode({"utt_id": said.utt_id, "date_time": at, **HUMAN}),
                hypotheses=HYPOTHESES,
            ),
            NewUtterance(
                utt_id=said.bot_utt_id, by_bot=True, date_time=at, active_skill="weather",
                body=encode({"utt_id": said.bot_utt_id, "date_time": at, **BOT}),
                user_version=opened.bot.number,
            ),
        ],
        human=human,
        bot=None,
        messages=[FEED],
        outcome=b'{"response":"it is a fine day"}',
    )  # fmt: skip


encode = msgspec.json.Encoder().encode


def caller_us() -> float:
    """Measure what making an ending costs, which is taken off."""

    async def once() -> OpenedTurn:
        store = MemoryStore()
        await store.open()
        opened = await store.open_turn(next(openings("ann", 1)))
        await store.aclose()
        assert isinstance(opened, OpenedTurn)
        return opened

    opened = asyncio.run(once())
    start = time.process_time()
    for _ in range(5000):
        ending(opened)
    return (time.process_time() - start) / 5000 * 1e6


def fsync_us(folder: Path) -> float:
    times = []
    with (folder / "fsync").open("wb", buffering=0) as file:
        for _ in range(50):
            file.write(bytes(4096))
            start = time.perf_counter()
            os.fsync(file.fileno())
            times.append(time.perf_counter() - start)
    return sorted(times)[25] * 1e6


CALLER_US = caller_us()

if __name__ == "__main__":
    main()
