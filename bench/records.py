"""Records of turns: what the console's lists cost on a large file, and what recording costs a turn.

    python bench/records.py                       makes the file (a minute), then both tables
    python bench/records.py --only pages          the lists alone; the file is made once
    python bench/records.py --only recording --rounds 5

The file has 100,000 conversations of 383,000 turns with eight services each. A page's time is that
of its endpoint: reading the parameters, the queries, writing JSON. Recording is CPU of a process
of its own (`bench/turns/runner.py`), kinds in turns; ratios are taken within a round.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import sqlite3
import statistics
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench.turns.report import table
from prolocutor import Assistant, Pipeline, Service
from prolocutor.assistant.assistant_settings import RecordSettings
from prolocutor.contracts.channel import Route
from prolocutor.contracts.http import Visitor
from prolocutor.contracts.observer import ServiceRecord, TurnRecord
from prolocutor.dialog import agent_state, plain
from prolocutor.dialog.ids import format_time, new_ids
from prolocutor.plugins.console.channel import Console
from prolocutor.stores.sqlite.queries import SQL
from prolocutor.stores.sqlite.sqlite_store import SqliteStore
from prolocutor.stores.turn_records import pack
from prolocutor.web.door_context import DoorContext

ROOT = Path(__file__).resolve().parents[1]
CONVERSATIONS = 100_000
DAYS = 7 * 86_400
AGENTS = ["refunds", "weather", "travel_bot", "dictionary", "news", "llm", "rare_agent"]
WORDS = (
    "train ticket refund weather Bergen Oslo late delay price hotel ferry bus storm rain sun order"
    " parcel return money account login password news sport music recipe dinner table meeting"
).split()
RUNS = 60


def main() -> None:
    options = arguments()
    options.dir.mkdir(parents=True, exist_ok=True)
    if "pages" in options.only:
        path = options.dir / f"records-{options.conversations}.db"
        if not path.exists():
            made = time.perf_counter()
            asyncio.run(make(path, options.conversations))
            print(f"{path.name} was made in {time.perf_counter() - made:.0f} s\n")
        print(f"{path.name}: {path.stat().st_size / 2**20:,.0f} MiB\n")
        print(asyncio.run(pages(path)), "\n")
    if "recording" in options.only:
        print(recording(options.dir, options.rounds))


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    tables = ["pages", "recording"]
    parser.add_argument("--only", nargs="+", choices=tables, default=tables, metavar="TABLE",
                        help=f"of {', '.join(tables)}")  # fmt: skip
    parser.add_argument("--conversations", type=int, default=CONVERSATIONS)
    parser.add_argument("--rounds", type=int, default=3, help="of recording")
    parser.add_argument("--dir", type=Path, default=ROOT / "build" / "bench")
    return parser.parse_args()


# -- the file ---------------------------------------------------------------------------------


async def make(path: Path, conversations: int) -> None:
    """Makes a file of these conversations, past the engine."""
    store = SqliteStore(path)
    await store.open()
    await store.aclose()
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA synchronous = OFF")
    connection.execute("BEGIN")
    last = Filler(connection, random.Random(1)).fill(conversations)
    connection.execute(SQL["index_words"], (0, last))
    connection.execute(SQL["set_indexed"], (last,))
    connection.execute("COMMIT")
    connection.close()


class Filler:
    """Writes conversations as turns leave them."""

    def __init__(self, connection: sqlite3.Connection, chance: random.Random) -> None:
        self._run = connection.execute
        self._many = connection.executemany
        self._chance = chance
        self._utterance = 0
        self._turns = 0

    def fill(self, conversations: int) -> int:
        """Writes them; gives the number of the last utterance."""
        began = time.time() - DAYS
        hours: dict[int, list[int]] = {}
        for number in range(1, conversations + 1):
            at = began + DAYS * number / conversations
            self._conversation(number, at, hours)
        rows = [(hour, *counts, 0, 0, 0) for hour, counts in hours.items()]
        self._many(
            "INSERT INTO hours (hour, turns, bad, none, down, failed, slow)"
            " VALUES (?, ?, ?, ?, ?, ?, ?)",
            rows,
        )
        self._run("UPDATE meta SET value = ? WHERE name = 'turn_records'", (self._turns,))
        return self._utterance

    def _conversation(self, number: int, at: float, hours: dict[int, list[int]]) -> None:
        ids = new_ids(4)
        self._run("INSERT INTO people VALUES (?, ?, ?, 0)", (number, f"page:{number}", ids[0]))
        self._run(
            "INSERT INTO dialogs (dialog, person, name, dialog_id, id, bot_id, channel_type,"
            " date_start, active, rated, attributes)"
            " VALUES (?, ?, 'main', ?, ?, ?, ?, ?, 1, 0, '{}')",
            (number, number, *ids[1:], self._chance.choice(("page", "openai", "almond")),
             format_time(at)),
        )  # fmt: skip
        for owner, state in (
            (ids[0], agent_state.new_human(ids[0], f"page:{number}")),
            (ids[3], agent_state.new_bot(ids[3])),
        ):
            self._run("INSERT INTO versions VALUES (?, 0, '[]', ?)", (owner, state))
        turns = self._chance.choice((1, 2, 3, 4, 5, 8))
        spoke, flags, slowest, cost, failed = set[str](), 0, 0.0, 0.0, 0
        for position in range(turns):
            agent = self._agent()
            spoke.add(agent)
            record = self._record(ids[1], f"page:{number}", at + position, agent)
            bits = 4 if any(service.outcome == "failed" for service in record.services) else 0
            bits |= 2 if record.by == "fallback" else 0
            bits |= 8 if record.seconds > 3.3 else 0
            bits |= 1 if self._chance.random() < 0.01 else 0
            self._turn(number, position, record, bits)
            count = hours.setdefault(int(record.started) // 3600 * 3600, [0, 0, 0])
            count[0] += 1
            count[1] += bool(bits & 6)
            count[2] += bool(bits & 2)
            flags, slowest = flags | bits, max(slowest, record.seconds)
            cost, failed = cost + record.cost, failed + bool(bits & 4)
        self._many("INSERT INTO spoke VALUES (?, ?)", [(one, number) for one in spoke])
        self._run(
            "INSERT INTO facts SELECT ?, ?, ?, ?, ?, ?, ?, ?, ?, channel_type FROM dialogs"
            " WHERE dialog = ?",
            (number, at + turns - 1, at, turns, slowest, cost, failed, flags, self._utterance,
             number),
        )  # fmt: skip

    def _agent(self) -> str:
        if self._chance.random() < 0.0005:
            return "rare_agent"
        return self._chance.choice(AGENTS[:-1])

    def _turn(self, dialog: int, position: int, record: TurnRecord, flags: int) -> None:
        words = " ".join(self._chance.choices(WORDS, k=9))
        reply = " ".join(self._chance.choices(WORDS, k=16))
        at = format_time(record.started)
        said = {"utt_id": new_ids(1)[0], "text": words, "annotations": {}, "date_time": at,
                "attributes": {}}  # fmt: skip
        told = {"utt_id": record.utt_id, "text": reply, "orig_text": reply, "annotations": {},
                "active_skill": record.active_skill, "confidence": 0.9, "date_time": at,
                "attributes": {}}  # fmt: skip
        self._utterance += 2
        self._many(
            "INSERT INTO utterances VALUES (?, ?, ?, ?, ?, 0, ?, ?)",
            [
                (self._utterance - 1, dialog, 2 * position, said["utt_id"], 0, at,
                 plain.encode(said)),
                (self._utterance, dialog, 2 * position + 1, record.utt_id, 1, at,
                 plain.encode(told)),
            ],
        )  # fmt: skip
        values = (self._utterance, record.started, record.seconds, record.cost, flags)
        self._run("INSERT INTO turns VALUES (?, ?, ?, ?, ?, ?)", (*values, pack(record)))
        self._turns += 1

    def _record(self, dialog_id: str, user: str, at: float, agent: str) -> TurnRecord:
        chance, (turn_id, utt_id) = self._chance, new_ids(2)
        seconds = min(4.9, chance.expovariate(1.2))
        wrong = chance.random() < 0.02
        services = [
            ServiceRecord(name=name, stage="skills", started=0.01, ended=seconds * 0.9, calls=1,
                          outcome="failed" if wrong and name == "news" else "done")
            for name in AGENTS[:-1]
        ]  # fmt: skip
        services += [
            ServiceRecord(
                name=name, stage=stage, started=0.001, ended=0.01, calls=1, outcome="done"
            )
            for name, stage in (("spelling", "annotators"), ("ranker", "response_selector"))
        ]
        nobody = chance.random() < 0.015
        return TurnRecord(
            turn_id=turn_id, dialog_id=dialog_id, user=user, channel="page", started=at,
            seconds=seconds, attempt=1, text="", response="", active_skill=agent, confidence=0.9,
            by="fallback" if nobody else "selector", chosen=[f"{agent}.0"], asked=AGENTS[:-1],
            services=services, hypotheses=[], faults=[], utt_id=utt_id,
            reasons=[{"service": "router", "asked": AGENTS[:-1], "reason": "all may know"}],
            cost=chance.random() / 100, scores={f"{agent}.0": 0.81}, version={"router": "r-1"},
        )  # fmt: skip


# -- pages ------------------------------------------------------------------------------------


class Request:
    """A request as an endpoint sees it."""

    method = "GET"
    visitor = Visitor("operator", name="bench")

    def __init__(self, query: Mapping[str, Any], **params: str) -> None:
        self.path = ""
        self.params = params
        self._query = {name: str(value) for name, value in query.items()}

    def header(self, name: str) -> str | None:
        return None

    def query(self, name: str) -> str | None:
        return self._query.get(name)

    async def body(self) -> bytes:
        return b""

    async def left(self) -> None:
        return None


async def pages(path: Path) -> str:
    """The time of each list."""
    pipeline = Pipeline(skills=[Service("llm", lambda request: {"text": "", "confidence": 0.0})])
    records = RecordSettings(keep=365 * 86_400.0, most=10**9)
    async with Assistant(pipeline, store=f"sqlite:///{path}", records=records) as assistant:
        routes = {
            route.path.removeprefix("/api/console"): route
            for route in Console(DoorContext(assistant)).routes
            if isinstance(route, Route) and route.method == "GET"
        }
        rows = [await timed(name, routes, query, goal) async for name, query, goal in cases(routes)]
        rows += [row async for row in single(routes)]
    return table(["what", "median ms", "p99 ms", "goal ms"], rows)


async def cases(routes: Mapping[str, Route]) -> Any:
    """The lists that are measured: name, query, goal in ms."""
    now = time.time()
    yield "first page", {}, 20
    cursor = await cursor_after(routes, 150)
    yield "a page 30,000 rows further", {"cursor": cursor}, 20
    for kind in ("down", "none", "failed", "slow"):
        yield f"kind={kind}", {"kind": kind}, 20
    yield "a common agent", {"agent": "llm"}, 20
    yield "a rare agent", {"agent": "rare_agent"}, 20
    yield "kind=none and a common agent", {"kind": "none", "agent": "llm"}, 100
    yield "kind=none and a rare agent", {"kind": "none", "agent": "rare_agent"}, 100
    yield "one person", {"user": "page:500"}, 20
    yield "a door", {"channel": "almond"}, 20
    yield "an hour, five days ago", {"since": now - 432_000, "until": now - 428_400}, 100
    yield "one common word", {"words": "train"}, 100
    yield "three words", {"words": "train ferry hotel"}, 100
    yield "a word that is nowhere", {"words": "zebra"}, 100
    yield "words, kind=none", {"words": "storm parcel", "kind": "none"}, 100


async def cursor_after(routes: Mapping[str, Route], pages: int) -> str:
    query: dict[str, Any] = {"limit": 200}
    for _ in range(pages):
        page = await asked(routes["/conversations"], query)
        if page["next"] is None:
            break
        query["cursor"] = page["next"]
    return str(query["cursor"])


async def single(routes: Mapping[str, Route]) -> Any:
    """What is not a list of dialogs."""
    first = (await asked(routes["/conversations"], {"limit": 200}))["items"]
    ids = [one["dialog_id"] for one in first]
    replies = [
        item["utt_id"]
        for id_ in ids[:50]
        for item in (await asked(routes["/conversations/{dialog_id}"], {}, dialog_id=id_))["items"]
    ]
    counts = [{"agent": agent} for agent in AGENTS]  # each is counted anew, as it is not cached
    yield await over("counts", routes["/counts"], [({}, {})], 20)
    yield await over("counts by agent", routes["/counts"], [(query, {}) for query in counts], 200)
    yield await over("hours of 7 days", routes["/hours"], [({}, {})] * RUNS, 20)
    dialogs = [({}, {"dialog_id": id_}) for id_ in ids[:RUNS]]
    yield await over("one conversation", routes["/conversations/{dialog_id}"], dialogs, 20)
    turns = [({}, {"utt_id": id_}) for id_ in replies[:RUNS]]
    yield await over("one turn", routes["/turns/{utt_id}"], turns, 20)


async def timed(name: str, routes: Mapping[str, Route], query: Any, goal: float) -> list[str]:
    return await over(name, routes["/conversations"], [(query, {})] * RUNS, goal)


async def over(name: str, route: Route, requests: Any, goal: float) -> list[str]:
    """The median and the 99th percentile of the milliseconds of these requests."""
    taken = []
    for query, params in requests:
        began = time.perf_counter()
        await asked(route, query, **params)
        taken.append((time.perf_counter() - began) * 1000)
    taken.sort()
    worst = taken[min(len(taken) - 1, int(len(taken) * 0.99))]
    return [name, f"{statistics.median(taken):.1f}", f"{worst:.1f}", f"{goal:g}"]


async def asked(route: Route, query: Mapping[str, Any], **params: str) -> Any:
    response = await route.answer(Request(query, **params))
    assert isinstance(response.body, bytes)
    return json.loads(response.body)


# -- recording --------------------------------------------------------------------------------


def recording(folder: Path, rounds: int) -> str:
    """CPU of a turn without records, with records made for observers, and with records kept."""
    rows = []
    for door, kinds in (("python", ("off", "seen", "kept")), ("http", ("off", "kept"))):
        found: dict[str, list[float]] = {kind: [] for kind in kinds}
        for _ in range(rounds):
            for kind in kinds:
                found[kind].append(cpu_of(folder, door, kind))
        for kind, figures in found.items():
            base = found["seen" if kind == "kept" and "seen" in found else "off"]
            ratios = [one / other for one, other in zip(figures, base, strict=True)]
            rows.append([door, kind, f"{statistics.median(figures):.3f}",
                         f"{statistics.median(ratios):.3f}"])  # fmt: skip
    return table(["way in", "records", "CPU ms a turn", "ratio"], rows)


def cpu_of(folder: Path, door: str, kind: str) -> float:
    words = ["--dialogs", "100", "--turns", "10", "--rounds", "2", "--door", door]
    command = [sys.executable, "-m", "bench.turns.runner", "--dir", str(folder), "--records", kind]
    done = subprocess.run([*command, *words], cwd=ROOT, capture_output=True, text=True, check=True)
    return float(json.loads(done.stdout)["cpu_ms_per_turn"])


if __name__ == "__main__":
    main()
