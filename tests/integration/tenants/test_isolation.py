"""Nothing of one tenant is seen at, or changed through, the doors of another.

The walk takes its requests from the OpenAPI document of the tenant, which is made of the tables of
routes: a new route is walked too. What it sends are ids of the other tenant, gathered from the
answers to the same walk there.
"""

import asyncio
import json
import random
import re
import sqlite3
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import aiohttp

from prolocutor.cli.tenant_server import TenantServer
from prolocutor.config.tenants_file import load_tenants
from prolocutor.testing.channel_kit import running

MARK = "SECRET-acme"
INTRUDER = "words-of-an-intruder"
PNG = b"\x89PNG\r\n\x1a\n" + MARK.encode()
DOORS = "[deeppavlov, almond, page, console, openai, a2a, mcp, agui, parlai]"
AGENTS = """
from prolocutor import knowledge
knowledge.put("shared", "key", "{mark}", seconds=3600)
def answer(request):
    known = knowledge.get("shared", "key")
    own = {{"of": "{mark}"}}
    return {{"text": "{mark} says " + known, "confidence": 0.9, "human_attributes": own}}
"""
ASSISTANT = """
name: {mark}
doors: {doors}
auth: {{keys: {{"boss {mark}": key-{name}}}, tokens: {{token-{name}: ann-{name}}}, anonymous: true}}
limits: {{person: {{turns: unlimited}}, anonymous: {{turns: unlimited, new_persons: unlimited}},
         address: {{turns: unlimited, new_persons: unlimited}}, token: {{turns: unlimited}},
         wrong_keys: 100000}}
skills: {{skill-{mark}: {{call: "agents:answer", inline: true, icon: icon.svg,
         card: {{description: "knows {mark}"}}}}}}
"""
IDS = re.compile(r"[\w.:-]{12,}")
NO_TIME = aiohttp.ClientTimeout(total=60)
WORDS = ("text", "input", "payload")
Found = tuple[int, bytes]


def write(folder: Path, name: str, mark: str) -> None:
    (folder / name).mkdir()
    (folder / name / "agents.py").write_text(AGENTS.format(mark=mark))
    (folder / name / "icon.svg").write_text(f"<svg><!-- {mark} --></svg>")
    text = ASSISTANT.format(name=name, mark=mark, doors=DOORS)
    (folder / name / "assistant.yaml").write_text(text)


@asynccontextmanager
async def two_tenants(folder: Path) -> AsyncIterator[aiohttp.ClientSession]:
    write(folder, "acme", MARK)
    write(folder, "beta", "beta")
    file = folder / "tenants.yaml"
    file.write_text(
        """
auth: {keys: [server-key]}
tenants:
  acme: {assistant: acme, store: "sqlite:///acme.db"}
  beta: {assistant: beta, store: "sqlite:///beta.db", hosts: beta.example.org}
"""
    )
    async with running(TenantServer(load_tenants(file)).app()) as url:  # noqa: SIM117
        async with aiohttp.ClientSession(url, timeout=NO_TIME) as http:
            yield http


class Walk:
    """Requests to all operations of one tenant, with given ids in all places for ids."""

    def __init__(
        self,
        http: aiohttp.ClientSession,
        tenant: str,
        key: str,
        chance: random.Random,
        model: str = "beta",
        words: str = INTRUDER,
    ) -> None:
        self._http = http
        self._model = model
        self._words = words
        self._root = f"/t/{tenant}"
        self._headers = {"Authorization": f"Bearer {key}"}
        self._chance = chance

    async def document(self) -> dict[str, Any]:
        async with self._http.get(f"{self._root}/openapi.json") as response:
            return await response.json()  # type: ignore[no-any-return]

    async def send(self, method: str, path: str, **options: Any) -> Found:
        headers = {**self._headers, **options.pop("headers", {})}
        async with self._http.request(
            method, self._root + path, headers=headers, allow_redirects=False, **options
        ) as response:
            told = repr(sorted(response.headers.items())).encode()
            body = bytearray()
            try:
                async with asyncio.timeout(
                    2 if response.content_type == "text/event-stream" else 60
                ):
                    async for piece in response.content.iter_any():
                        body += piece
            except TimeoutError:
                pass  # a stream without an end
            return response.status, told + bytes(body)

    async def everything(self, ids: list[str], users: list[str]) -> list[tuple[str, Found]]:
        found = []
        document = await self.document()
        for path, method, described in operations(document):
            for at, options in self.requests(path, method, described, document, ids, users):
                found.append((f"{method} {at} {options}", await self.send(method, at, **options)))
        for path, body in calls(ids, users, self._chance, self._model, self._words):
            options = {"json": body, "headers": {"Accept": "application/json, text/event-stream"}}
            found.append((f"{path} {body}", await self.send("POST", path, **options)))
        return found

    def requests(
        self,
        path: str,
        method: str,
        described: Any,
        document: Any,
        ids: list[str],
        users: list[str],
    ) -> Iterator[tuple[str, dict[str, Any]]]:
        """Make a request for each id that the path may have, else a few."""
        parameters = described.get("parameters", ())
        in_path = [one["name"] for one in parameters if one["in"] == "path"]
        for id_ in [*ids, *users] if in_path else self._chance.sample(ids, min(3, len(ids))):
            at = path
            for name in in_path:
                at = at.replace(f"{{{name}}}", id_)
            query = {one["name"]: self._one(one, ids, users) for one in parameters}
            sent = {one["name"] for one in parameters if one["in"] == "query"}
            headers = {
                one["name"]: query[one["name"]]
                for one in parameters
                if one["in"] == "header" and self._chance.random() < 0.5
            }
            options: dict[str, Any] = {
                "params": {name: query[name] for name in sent if self._chance.random() < 0.8},
                "headers": headers,
            }
            for kind, content in described.get("requestBody", {}).get("content", {}).items():
                body: Any = PNG if kind.startswith("image/") else f"id={id_}".encode()
                if "schema" in content:
                    schemas = document["components"]["schemas"]
                    body = json.dumps(self._value("", content["schema"], schemas, ids, users))
                options["data"], headers["Content-Type"] = body, kind
            yield at, options

    def _one(self, parameter: Any, ids: list[str], users: list[str]) -> str:
        if parameter["name"] in ("limit", "offset", "since", "cursor", "wire", "protocol", "step"):
            return "0"
        return self._chance.choice(users if "user" in parameter["name"].lower() else ids)

    def _value(
        self, name: str, schema: Any, schemas: Any, ids: Any, users: Any, depth: int = 0
    ) -> Any:
        if "$ref" in schema:
            schema = schemas[schema["$ref"].rpartition("/")[2]]
        for key in ("anyOf", "oneOf"):
            if key in schema:
                options = [one for one in schema[key] if one != {"type": "null"}]
                return self._value(name, self._chance.choice(options), schemas, ids, users, depth)
        if "enum" in schema:
            return self._chance.choice(schema["enum"])
        match schema.get("type"):
            case "object" if depth < 6:
                needed = set(schema.get("required", ()))
                return {
                    each: self._value(each, kind, schemas, ids, users, depth + 1)
                    for each, kind in schema.get("properties", {}).items()
                    if each in needed or self._chance.random() < 0.4
                }
            case "array" if depth < 6:
                return [self._value(name, schema.get("items", {}), schemas, ids, users, depth + 1)]
            case "integer" | "number":
                return 1
            case "boolean":
                return self._chance.random() < 0.5
        if name in WORDS:
            return self._words
        if name == "model":
            return self._model
        return self._chance.choice(users if "user" in name else ids)

    async def sockets(self, ids: list[str], users: list[str]) -> list[tuple[str, bytes]]:
        """Open each WebSocket with ids of persons and dialogs, speak, and return what comes."""
        document, found = await self.document(), []
        for path, _, _ in operations(document, sockets=True):
            for _ in range(3):
                query = {
                    name: self._chance.choice(users if name == "user" else ids)
                    for name in ("user", "id", "conversationId", "conversation", "session")
                    if self._chance.random() < 0.7
                }
                said = {
                    "type": "command",
                    "text": INTRUDER,
                    "user_id": users[0],
                    "payload": INTRUDER,
                }
                heard = bytearray()
                try:
                    async with self._http.ws_connect(
                        self._root + path, params={"after": "0", **query}, headers=self._headers
                    ) as socket:
                        await socket.send_json(said)
                        while (frame := await socket.receive(0.1)).type is aiohttp.WSMsgType.TEXT:
                            heard += frame.data.encode()
                except (TimeoutError, aiohttp.WSServerHandshakeError):
                    pass
                found.append((f"{path} {query}", bytes(heard)))
        return found


def operations(document: Any, *, sockets: bool = False) -> Iterator[tuple[str, str, Any]]:
    for path, methods in document["paths"].items():
        for method, described in methods.items():
            if ("x-websocket" in described) == sockets:
                yield path, method.upper(), described


def calls(
    ids: list[str], users: list[str], chance: random.Random, model: str, words: str
) -> Iterator[tuple[str, Any]]:
    """Make the bodies that no schema describes, and turns at each door that fit."""
    id_, user = chance.choice(ids), users[0]
    said = {"messageId": id_, "role": "ROLE_USER", "parts": [{"text": words}]}
    yield "/", {"user_id": user, "payload": words}
    yield "/api/converse", {"command": {"type": "command", "text": words}, "conversationId": id_}
    yield (
        "/v1/chat/completions",
        {"model": model, "user": user, "messages": [{"role": "user", "content": words}]},
    )
    yield "/v1/responses", {"model": model, "input": words, "user": user}
    yield "/v1/conversations", {"metadata": {"user": user}}
    yield (
        "/agui",
        {
            "threadId": "t",
            "runId": "r",
            "state": {},
            "tools": [],
            "context": [],
            "forwardedProps": {},
            "messages": [{"id": "m", "role": "user", "content": words}],
        },
    )
    yield "/a2a/message:send", {"message": said}
    yield "/api/apps/create", {"code": "now => @org.thingpedia.builtin.thingengine.builtin.say();"}
    for one in ids:
        for method in ("GetTask", "CancelTask", "SubscribeToTask", "ListTasks"):
            yield "/a2a", {"jsonrpc": "2.0", "id": 1, "method": method, "params": {"id": one}}
        for key in ("taskId", "contextId"):
            message = {**said, key: one}
            params = {"message": message}
            yield "/a2a", {"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": params}
        arguments = {"text": words, "conversation_id": one}
        yield (
            "/mcp",
            {
                "jsonrpc": "2.0",
                "id": 1,
                "method": "tools/call",
                "params": {"name": "ask", "arguments": arguments},
            },
        )
        yield "/v1/responses", {"model": model, "input": words, "previous_response_id": one}
        yield "/v1/responses", {"model": model, "input": words, "conversation": one}


def ids_in(found: list[tuple[str, Found]], chance: random.Random) -> list[str]:
    """Return ids of answers, a few of each form, none with the mark that is looked for."""
    forms: dict[str, set[str]] = {}
    for _, (status, told) in found:
        if status < 300:
            for text in re.findall(rb'"([^"\s]{12,80})"', told):
                id_ = text.decode("utf-8", "replace")
                if IDS.fullmatch(id_) and re.search(r"\d\w*\d", id_) and MARK not in id_:
                    form = re.sub(r"[0-9a-f]{8,}", "#", re.sub(r"\d+", "0", id_))[:12]
                    kind = "#" if form.startswith("#") else form
                    forms.setdefault(kind, set()).add(id_)
    return [
        id_
        for form, some in sorted(forms.items())
        for id_ in chance.sample(sorted(some), min(len(some), 4 if form == "#" else 1))
    ][:24]


def rows(file: Path) -> list[str]:
    """Return all that a store holds, but for what is written to try the disk."""
    database, found = sqlite3.connect(f"file:{file}?mode=ro", uri=True), list[str]()
    tables = "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name"
    for (table,) in database.execute(tables).fetchall():
        with suppress(sqlite3.OperationalError):  # an index of words, which cannot be scanned
            found += [f"{table} {row}" for row in database.execute(f'SELECT * FROM "{table}"')]
    database.close()
    return [line for line in found if "store-health" not in line]


async def test_no_door_shows_or_changes_anything_of_another_tenant(tmp_path: Path) -> None:
    chance = random.Random(16)
    async with two_tenants(tmp_path) as http:
        own = Walk(http, "acme", "key-acme", chance, MARK, "hi")
        users = ["ann-acme", "api:ann-acme", "page:ann-acme"]
        seen = await own.everything(["main"], users)
        upload = await own.send("POST", "/uploads", params={"user": users[0]}, data=PNG)
        ids = ids_in([*seen, ("", upload)], chance)
        ids.append(json.loads(upload[1][upload[1].rindex(b"{") :])["url"].rpartition("/")[2])
        before, figures = rows(tmp_path / "acme.db"), await own.send("GET", "/metrics")
        assert sum(MARK.encode() in told for _, (_, told) in seen) > 20
        assert len(ids) > 8

        other = Walk(http, "beta", "key-beta", chance)
        ids.append(f"skill-{MARK.lower()}")
        shown = await other.everything(ids, users)
        heard = await other.sockets(ids, users)
        foreign = await Walk(http, "beta", "key-acme", chance).everything(["main"], users[:1])

        after = rows(tmp_path / "acme.db")
        said = [line for line in before if line.startswith(("utterances", "feed", "records"))]
        leaks = [what for what, (_, told) in shown + foreign if MARK.encode() in told]
        assert (leaks, [what for what, told in heard if MARK.encode() in told]) == ([], [])
        assert len(said) > 20
        assert [line for line in said if line not in set(after)] == []
        assert [line for line in after if INTRUDER in line] == []
        assert turns(await own.send("GET", "/metrics")) == turns(figures)
        assert sum(status < 300 for _, (status, _) in shown) > 50
        assert {status for what, (status, _) in foreign if needs_key(what)} <= {401, 404, 405}


def turns(figures: Found) -> list[bytes]:
    return re.findall(rb"(?m)^prolocutor_turns_total.*$", figures[1])


def needs_key(what: str) -> bool:
    return what.startswith(
        ("GET /api/", "POST /api/", "DELETE /api/", "GET /metrics", "POST /owner")
    )


async def test_keys_and_paths_lead_to_no_other_tenant(tmp_path: Path) -> None:
    chance = random.Random(1)
    async with two_tenants(tmp_path) as http:
        acme = Walk(http, "acme", "key-acme", chance)
        made = {"do": "create", "name": "x", "scopes": ["admin"]}
        _, told = await acme.send("POST", "/owner/keys", json=made)
        key = json.loads(told[told.index(b"{") :])["secret"]
        at_host = {"Host": "beta.example.org"}

        statuses = [
            (await Walk(http, tenant, given, chance).send("GET", "/metrics"))[0]
            for tenant in ("acme", "beta")
            for given in ("key-acme", key, "key-beta", "server-key")
        ]
        async with http.get("/t/acme/v1/models", headers=at_host) as response:
            statuses.append(response.status)
        for given in ("server-key", "key-acme", key):
            headers = {"Authorization": f"Bearer {given}"}
            async with http.get("/metrics", headers=headers) as response:
                statuses.append(response.status)

    assert statuses == [200, 200, 401, 401, 401, 401, 200, 401, 404, 200, 401, 401]
