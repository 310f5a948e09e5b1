"""Effects under `kill -9`: how many are done twice, how many are not known, how that is settled.

    python bench/effects.py [--kills N] [--on sqlite|postgresql] [--modes keyed,plain,blind]
    PEER_PYTHON bench/effects.py --peer langgraph|dbos [--kills N]

A counting service takes orders and counts each charge. `keyed` charges once a key, `plain` ignores
keys but says what it charged, `blind` ignores them and says nothing. A process that was forked from
a warm one sends orders and is killed at a random instant; the next one goes on, as clients do that
ask again. In the end one runs until nothing is left to do. An order that was charged twice is
doubled; one that was charged and of which nobody knows or is told is lost.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import signal
import socket
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

AT_ONCE = 6
"""Orders that a process sends at once."""
SLOW = 0.015
"""Seconds, at most, before a charge and after it."""
LIFE = (0.03, 0.4)
"""Seconds from the first order of a process until it is killed."""


# -- the service, in a process of its own ---------------------------------------------------------


async def serve(port: int, keyed: bool) -> None:
    """Charge for orders: POST /pay `{order}` with a key, /status `{key}`, /all."""
    charges: dict[str, int] = {}
    known: set[str] = set()

    async def answer(path: str, key: str, body: Any) -> Any:
        if path == "/all":
            return charges
        if path == "/status":
            return {"state": "done" if body["key"] in known else "not_done"}
        await asyncio.sleep(random.uniform(0, SLOW))
        if not (keyed and key in known):
            order = body["order"]
            charges[order] = charges.get(order, 0) + 1
            known.add(key)
        await asyncio.sleep(random.uniform(0, SLOW))
        return [{"text": f"Sold {body['order']}", "confidence": 1.0}]

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while line := await reader.readline():
                path, headers = line.split()[1].decode(), {}
                while (head := await reader.readline()) not in (b"\r\n", b""):
                    name, _, value = head.decode().partition(":")
                    headers[name.lower()] = value.strip()
                sent = await reader.readexactly(int(headers.get("content-length", 0)))
                key = headers.get("idempotency-key", "")
                said = json.dumps(await answer(path, key, json.loads(sent or b"{}"))).encode()
                head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
                writer.write(f"{head}Content-Length: {len(said)}\r\n\r\n".encode() + said)
                await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    await asyncio.start_server(talk, "127.0.0.1", port)
    await asyncio.Event().wait()


def post(port: int, path: str, body: Any, key: str = "") -> Any:
    """Ask the service, without any library."""
    data = json.dumps(body).encode()
    with socket.create_connection(("127.0.0.1", port)) as line:
        head = f"POST {path} HTTP/1.1\r\nIdempotency-Key: {key}\r\n"
        line.sendall(f"{head}Content-Length: {len(data)}\r\n\r\n".encode() + data)
        got = b""
        while b"\r\n\r\n" not in got:
            got += line.recv(65536)
        head_, _, rest = got.partition(b"\r\n\r\n")
        length = int(head_.lower().split(b"content-length:")[1].split(b"\r\n")[0])
        while len(rest) < length:
            rest += line.recv(65536)
    return json.loads(rest)


def fork(work: Callable[[], None]) -> int:
    """Run work in a process that this one forks; return its number."""
    if number := os.fork():
        return number
    try:
        null = os.open(os.devnull, os.O_WRONLY)
        if not os.environ.get("SHOWN"):
            os.dup2(null, 2)
        work()
    finally:
        os._exit(0)


class Journal:
    """What clients know: which orders were sent, and which have an answer; it outlives kills."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def note(self, word: str, order: str) -> None:
        line = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        os.write(line, f"{word} {order}\n".encode())
        os.close(line)

    def begun(self, slot: int) -> int:
        """Return how many processes of a slot have begun to send."""
        said = self.path.read_text() if self.path.exists() else ""
        return said.count(f"ready {slot}-ready\n")

    def read(self) -> tuple[list[str], set[str]]:
        """Return the orders in their order, and those that have an answer."""
        sent: dict[str, None] = {}
        answered = set()
        for line in self.path.read_text().splitlines() if self.path.exists() else ():
            word, _, order = line.partition(" ")
            sent[order] = None
            if word == "answered":
                answered.add(order)
        return list(sent), answered


async def send_orders(
    journal: Journal, send: Callable[[str], Any], slot: int, last: bool = False
) -> None:
    """Send orders that have no answer yet, then new ones, some at once; with `last` no new ones."""
    sent, answered = journal.read()
    mine = [one for one in sent if one.startswith(f"{slot}-")]
    waiting = [one for one in mine if one not in answered]
    number = len(mine)
    if not last:
        journal.note("ready", f"{slot}-ready")

    async def one_client() -> None:
        nonlocal number
        while waiting or not last:
            if waiting:
                order = waiting.pop(0)
            else:
                number += 1
                order = f"{slot}-{os.getpid()}-{number}"
                journal.note("sent", order)
            if order.endswith("ready"):
                continue
            for _ in range(200):
                try:
                    await send(order)
                    break
                except Exception:  # a replica that cannot take it yet: clients ask again
                    await asyncio.sleep(0.1)
            journal.note("answered", order)

    async with asyncio.TaskGroup() as group:
        for _ in range(AT_ONCE):
            group.create_task(one_client())


# -- Prolocutor -----------------------------------------------------------------------------------


OPTIONS: dict[str, dict[str, Any]] = {
    "keyed": {"idempotent": True},
    "plain": {"reconcile": True},
    "blind": {"on_unknown": "ask_operator"},
}


def order_of(state: Any) -> dict[str, str]:
    """Return what the service is asked."""
    return {"order": state["utterances"][-1]["text"]}


async def prolocutor(
    store: str, port: int, mode: str, journal: Journal, slot: int, last: bool
) -> None:
    """Send orders to an assistant of one skill; the last process goes on until all is settled."""
    from prolocutor import Assistant, Pipeline, Skill
    from prolocutor.assistant.assistant_settings import ReplicaSettings

    options = dict(OPTIONS[mode])
    if options.pop("reconcile", None):
        options["reconcile"] = f"http://127.0.0.1:{port}/status"
    skill = Skill(
        f"http://127.0.0.1:{port}/pay",
        name="pay",
        acts=True,
        timeout=2.0,
        formatter=order_of,
        **options,
    )
    assistant = Assistant(
        Pipeline(skills=[skill]),
        store=store,
        records=None,
        durability="relaxed",
        replica=ReplicaSettings(lease=1.0),
    )

    async def send(order: str) -> None:
        await assistant.reply(order, order, request_id=order)

    async with assistant:
        await send_orders(journal, send, slot, last)
        ledger = assistant.effects.ledger
        until = time.monotonic() + 60
        while last and time.monotonic() < until:
            await asyncio.sleep(1)
            found = await ledger.list_effects()
            left = [one for one in found if one.record.state != "unknown" or one.record.untold]
            waits = [one for one in found if one.record.until < 1e10]
            if not (left or waits):
                break
        every = await ledger.list_effects(limit=1_000_000)
        every += await ledger.list_effects(closed=True, limit=1_000_000)
        states: dict[str, Any] = {}
        for one in every:
            how = one.record.state
            if one.record.steps[-1].by == "its agent":
                how = "reconciled" if how == "done" else f"reconciled: {how}"
            states.setdefault(how, []).append(one.record.user)
        journal.path.with_suffix(".states").write_text(json.dumps(states))


async def warm_up() -> None:
    """Run a turn, so that what is forked has all modules and tables."""
    from prolocutor import Assistant, Pipeline, Skill

    folder = tempfile.mkdtemp(prefix="effects-warm-")
    skill = Skill("http://127.0.0.1:9/pay", name="pay", acts=True, formatter=order_of)
    store = f"sqlite:///{folder}/dialogs.db"
    async with Assistant(Pipeline(skills=[skill]), store=store, records=None) as assistant:
        await assistant.reply("1", "1")


# -- the others -----------------------------------------------------------------------------------


async def langgraph(
    store: str, port: int, mode: str, journal: Journal, slot: int, last: bool
) -> None:
    """The same orders as threads of a LangGraph graph with its SQLite checkpointer."""
    from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
    from langgraph.graph import END, START, StateGraph

    key = mode.endswith("+key")

    async def pay(state: dict[str, Any]) -> dict[str, Any]:
        order = state["order"]
        said = await asyncio.to_thread(
            post, port, "/pay", {"order": order}, order if key else os.urandom(8).hex()
        )
        return {"order": order, "said": said[0]["text"]}

    graph = StateGraph(dict)
    graph.add_node("pay", pay)
    graph.add_edge(START, "pay")
    graph.add_edge("pay", END)
    async with AsyncSqliteSaver.from_conn_string(store.removeprefix("sqlite:///")) as saver:
        compiled = graph.compile(checkpointer=saver)

        async def send(order: str) -> None:
            config = {"configurable": {"thread_id": order}}
            state = await compiled.aget_state(config)
            if state.next:
                await compiled.ainvoke(None, config)  # it goes on where it was
            elif not state.values:
                await compiled.ainvoke({"order": order}, config)

        await send_orders(journal, send, slot, last)


async def dbos(store: str, port: int, mode: str, journal: Journal, slot: int, last: bool) -> None:
    """The same orders as workflows of DBOS, the charge as a step."""
    from dbos import DBOS, SetWorkflowID

    key = mode.endswith("+key")
    DBOS(config={"name": "orders", "system_database_url": store, "run_admin_server": False})

    @DBOS.step()
    def pay(order: str) -> str:
        return str(post(port, "/pay", {"order": order}, order if key else os.urandom(8).hex()))

    @DBOS.workflow()
    def buy(order: str) -> str:
        return pay(order)

    DBOS.launch()

    def one(order: str) -> None:
        with SetWorkflowID(order):
            DBOS.start_workflow(buy, order).get_result()

    async def send(order: str) -> None:
        await asyncio.to_thread(one, order)

    await send_orders(journal, send, slot, last)


SYSTEMS = {"prolocutor": prolocutor, "langgraph": langgraph, "dbos": dbos}


def ready(journal: Journal, slot: int, before: int, until: float) -> bool:
    """Wait until a process of a slot sends orders."""
    while time.monotonic() < until:
        if journal.begun(slot) > before:
            return True
        time.sleep(0.01)
    return False


def run(system: str, mode: str, kills: int, store: str, slots: int, seed: int) -> dict[str, Any]:
    """Kill so often, let the last process end, and count."""
    chance = random.Random(seed)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    folder = Path(tempfile.mkdtemp(prefix="effects-"))
    journal = Journal(folder / "journal")
    if store == "sqlite":
        store = f"sqlite:///{folder / 'dialogs.db'}"
    service = fork(lambda: asyncio.run(serve(port, mode.startswith("keyed"))))
    work = SYSTEMS[system]

    def begin(slot: int, last: bool = False) -> int:
        def go() -> None:
            random.seed()
            asyncio.run(work(store, port, mode, journal, slot, last))

        return fork(go)

    began = time.monotonic()
    counts = [0] * slots
    running = {slot: begin(slot) for slot in range(slots)}
    done = 0
    try:
        while done < kills:
            slot = chance.randrange(slots)
            if ready(journal, slot, counts[slot], time.monotonic() + 30):
                time.sleep(chance.uniform(*LIFE))
            counts[slot] = journal.begun(slot)
            os.kill(running[slot], signal.SIGKILL)
            os.waitpid(running[slot], 0)
            done += 1
            running[slot] = begin(slot)
            if done % 50 == 0:
                doubled = sum(one > 1 for one in post(port, "/all", {}).values())
                print(f"{system} {mode}: {done} kills, {doubled} doubled", flush=True)
        for number in running.values():
            os.kill(number, signal.SIGKILL)
            os.waitpid(number, 0)
        for slot in range(slots):
            os.waitpid(begin(slot, last=True), 0)
        charges = post(port, "/all", {})
    finally:
        os.kill(service, signal.SIGKILL)
        os.waitpid(service, 0)
    sent = [one for one in journal.read()[0] if not one.endswith("ready")]
    states_file = journal.path.with_suffix(".states")
    states = json.loads(states_file.read_text()) if states_file.exists() else {}
    known = {user for users in states.values() for user in users}
    told = {user for how in ("done", "reconciled", "unknown") for user in states.get(how, ())}
    return {
        "system": system,
        "mode": mode,
        "kills": kills,
        "orders": len(sent),
        "charged": len(charges),
        "doubled": sum(charge > 1 for charge in charges.values()),
        "states": {how: len(users) for how, users in states.items()},
        "lost": len(set(charges) - told) if states else None,
        "phantom": len({*states.get("done", ()), *states.get("reconciled", ())} - set(charges)),
        "without a row": len(set(sent) - known) if states else None,
        "seconds": round(time.monotonic() - began),
    }


def main() -> None:
    reader = argparse.ArgumentParser(description=__doc__)
    reader.add_argument("--kills", type=int, default=100)
    reader.add_argument("--on", choices=["sqlite", "postgresql"], default="sqlite")
    reader.add_argument("--peer", choices=["langgraph", "dbos"])
    reader.add_argument("--modes", default="")
    reader.add_argument("--seed", type=int, default=1)
    given = reader.parse_args()
    usual = "keyed+key,plain+key,plain" if given.peer else "keyed,plain,blind"
    system = given.peer or "prolocutor"
    if given.peer is None:
        import prolocutor.plugins.postgresql.postgresql_store  # noqa: F401

        asyncio.run(warm_up())
    elif given.peer == "langgraph":
        import langgraph.checkpoint.sqlite.aio
        import langgraph.graph  # noqa: F401
    server: Any = None
    if given.on == "postgresql":
        from tests.postgresql_server import PostgresqlServer, quick_folder

        server = PostgresqlServer(quick_folder())
        server.make()
        server.start()
    try:
        for mode in (given.modes or usual).split(","):
            store, slots = "sqlite", 1
            if server is not None:
                name = f"effects_{mode}_{os.getpid()}"
                server.execute(f"CREATE DATABASE {name}")
                store, slots = server.url(name), 3
            print(json.dumps(run(system, mode, given.kills, store, slots, given.seed)), flush=True)
    finally:
        if server is not None:
            server.stop()


if __name__ == "__main__":
    main()
