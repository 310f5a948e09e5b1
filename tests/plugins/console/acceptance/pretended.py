"""A console whose data are invented: the real pages and their policy before answers of a test."""

import asyncio
import json
import queue
import threading
from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from prolocutor.assistant.assistant import Assistant
from prolocutor.contracts.channel import Route
from prolocutor.contracts.http import HttpRequest, HttpResponse
from prolocutor.errors import HandoverConflict, NotFound, ProlocutorError
from prolocutor.plan.pipeline import Pipeline, Service
from prolocutor.plugins.console.static_pages import ConsolePages
from prolocutor.web.authentication import AccessPolicy
from prolocutor.web.listener import Listener
from prolocutor.web.serving import serve
from tests.plugins.console.acceptance.invented import NOW, Json, not_kept, turn, turns

PATIENCE = 180.0


async def nobody(_: Json) -> str:
    return "hello"


AGENTS = ("travel_bot", "refunds", "llm", "jokes", "weather")
DRAWN = {"llm": "markdown"}
PIPELINE = Pipeline(
    skills=[Service(name, nobody, format=DRAWN.get(name, "plain")) for name in AGENTS]
)


class Invented:
    """The endpoints as the design writes them, over rows that a test puts in."""

    def __init__(self) -> None:
        self.begin()

    def begin(self, *rows: Json) -> None:
        """Forget everything but these conversations, the newest first."""
        self.rows = list(rows)
        self.turns: dict[str, Json] = {}
        self.talks: dict[str, list[Json]] = {}
        self.handovers: dict[str, Json | None] = {}
        self.said: list[tuple[str, str]] = []
        self.notes: list[str] = []
        self.asked: list[str] = []
        self.deleted: list[str] = []
        self.labels: list[Json] = []
        self.broken: ProlocutorError | None = None
        self.again: Json = {}

    async def conversations(self, request: HttpRequest) -> object:
        cursor, limit = request.query("cursor"), int(request.query("limit") or 50)
        found = [row for row in self.rows if fits(row, request)]
        after = [row for row in found if cursor is None or row["at"] < float(cursor)]
        more = len(after) > limit
        return {"items": after[:limit], "next": str(after[limit - 1]["at"]) if more else None}

    async def counts(self, request: HttpRequest) -> object:
        kinds = ("waits", "down", "none", "failed", "slow")
        found = [row for row in self.rows if fits(row, request)]
        return {"all": len(found)} | {k: sum(k in row["flags"] for row in found) for k in kinds}

    async def hours(self, request: HttpRequest) -> object:
        since = float(request.query("since") or 0)
        at = [since + 3600 * n for n in range(24)]
        return {"step": 3600, "at": at, "turns": [*range(24)], "bad": [n // 6 for n in range(24)]}

    async def conversation(self, request: HttpRequest) -> object:
        row = self._row(request)
        said = self.talks.get(row["dialog_id"]) or list(turns(int(row["dialog_id"], 16)))
        known = ("dialog_id", "user", "channel", "active")
        head = {name: row[name] for name in known} | {"started": NOW - 9000}
        head["handover"] = self.handovers.get(row["dialog_id"])
        return {**head, "items": said, "previous": None, "next": None}

    async def turn(self, request: HttpRequest) -> object:
        id_ = request.params["utt_id"]
        return self.turns.get(id_) or turn(id_)

    async def run_again(self, request: HttpRequest) -> object:
        self.asked.append((await request.body()).decode())
        return {"job": "j1"}

    async def job(self, request: HttpRequest) -> object:
        now = {"spoke": "refunds", "text": "Half of it.", "score": 0.83, "seconds": 0.64}
        then = {"spoke": "llm", "text": "Within a month.", "score": 0.71, "seconds": 3.41}
        record = {"services": [{"name": "timer", "outcome": "skipped"}]}
        result = {"then": {**then, "cost": 0.01}, "now": {**now, "cost": 0.004, "record": record}}
        return {"id": "j1", "state": "done", "share": 1.0, "error": None, "result": result}

    async def assistants(self, _: HttpRequest) -> object:
        return {"items": ["changed"]}

    async def take(self, request: HttpRequest) -> object:
        id_, by = request.params["dialog_id"], request.visitor.name
        held = self.handovers.get(id_)
        if held and held["state"] == "taken" and held["by"] != by:
            raise HandoverConflict(f"{held['by']} has taken over")
        self.handovers[id_] = {"state": "taken", "by": by, "since": NOW, "reason": ""}
        return self._handover(id_)

    async def say(self, request: HttpRequest) -> object:
        text = json.loads(await request.body())["text"]
        key = request.header("idempotency-key") or ""
        if (key, text) not in self.said:
            self.said.append((key, text))
        return self._handover(request.params["dialog_id"])

    async def give(self, request: HttpRequest) -> object:
        self.notes.append(json.loads(await request.body()).get("note", ""))
        self.handovers[request.params["dialog_id"]] = None
        return self._handover(request.params["dialog_id"])

    async def alone(self, request: HttpRequest) -> object:
        return {"hypotheses": [{"text": "What did the conductor say?"}], "error": None}

    async def delete(self, request: HttpRequest) -> None:
        user = request.params["user"]
        self.deleted.append(user)
        self.rows = [row for row in self.rows if row["user"] != user]

    async def label(self, request: HttpRequest) -> object:
        self.labels.append(json.loads(await request.body()))
        return {"id": "l1", "turns": 3}

    async def unlabel(self, request: HttpRequest) -> None:
        self.labels.pop()

    def _row(self, request: HttpRequest) -> Json:
        for row in self.rows:
            if row["dialog_id"] == request.params["dialog_id"]:
                return row
        raise NotFound("there is no such conversation", field="dialog_id")

    def _handover(self, id_: str) -> Json:
        return {"dialog_id": id_, "handover": self.handovers.get(id_)}


def fits(row: Json, request: HttpRequest) -> bool:
    kind, words = request.query("kind"), request.query("words")
    return (
        (kind is None or kind in row["flags"])
        and (words is None or words in row["said"])
        and request.query("user") in (None, row["user"])
        and request.query("channel") in (None, row["channel"])
        and (request.query("agent") is None or request.query("agent") in row["spoke"])
        and float(request.query("since") or 0) <= row["at"] <= float(request.query("until") or 1e11)
    )


class PretendedConsole:
    """The console's door, with invented data."""

    name = "console"
    prefix = "console:"

    def __init__(self, assistant: Assistant, data: Invented) -> None:
        one = "/conversations/{dialog_id}"
        answers: dict[tuple[Any, str], Callable[[HttpRequest], Any]] = {
            ("GET", "/conversations"): data.conversations,
            ("GET", "/counts"): data.counts,
            ("GET", "/hours"): data.hours,
            ("GET", one): data.conversation,
            ("POST", f"{one}/take"): data.take,
            ("POST", f"{one}/say"): data.say,
            ("POST", f"{one}/give"): data.give,
            ("GET", "/turns/{utt_id}"): data.turn,
            ("POST", "/turns/{utt_id}/again"): data.run_again,
            ("GET", "/jobs/{id}"): data.job,
            ("POST", "/agents/{name}/alone"): data.alone,
            ("DELETE", "/people/{user:path}"): data.delete,
            ("GET", "/assistants"): data.assistants,
            ("POST", "/labels"): data.label,
            ("DELETE", "/labels/{id}"): data.unlabel,
        }
        self.routes: Sequence[Route] = [
            *ConsolePages(assistant).routes,
            *(
                Route(method, f"/api/console{path}", as_json(data, answer), "operators")
                for (method, path), answer in answers.items()
            ),
        ]

    async def open(self) -> None: ...

    async def close(self) -> None: ...


def as_json(data: Invented, answer: Callable[[HttpRequest], Any]) -> Callable[[HttpRequest], Any]:
    async def answered(request: HttpRequest) -> HttpResponse:
        if data.broken is not None:
            raise data.broken
        found = await answer(request)
        return HttpResponse(msgspec.json.encode(found)) if found else HttpResponse(status=204)

    return answered


class PretendedServer:
    """A listener in a thread of its own; it can be stopped and started again at its port."""

    def __init__(self, data: Invented, auth: AccessPolicy | None = None) -> None:
        self.data, self._auth = data, auth
        self._port = 0

    def __enter__(self) -> "PretendedServer":
        self._ready: queue.Queue[BaseException | None] = queue.Queue()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()
        error = self._ready.get(timeout=PATIENCE)
        if error is not None:
            raise error
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(PATIENCE)

    def _run(self) -> None:
        try:
            asyncio.run(self._live())
        except BaseException as error:
            self._ready.put(error)

    async def _live(self) -> None:
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        async with Assistant(PIPELINE, store="memory:", name="Concierge") as assistant:
            app = Listener(assistant, [PretendedConsole(assistant, self.data)], auth=self._auth)
            await serve(app, port=self._port, stop=self._stop, on_ready=self._listening)

    def _listening(self, url: str) -> None:
        self.url, self._port = url, int(url.rpartition(":")[2])
        self._ready.put(None)


__all__ = ["Invented", "PretendedServer", "not_kept"]
