"""How well recorded conversations test: alike again and again, what changes are caught, how fast.

    nice -n 10 python bench/cassettes.py [--dialogs 1000] [--times 10] [--mutations 200]

Half of the dialogs are of the demo, half of an assistant whose agents are behind five protocols
(HTTP, OpenAI's with streams, WebSocket, a command over stdin, a process), each on loopback. All are
recorded with live agents, which are then ended. Each is replayed `--times` times; the replies of a
time, with all that is compared, are one digest. Mutations change the second assistant's file.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import random
import re
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec
from websockets.asyncio.server import serve

import prolocutor_demo
from prolocutor.assistant.call_recording import record_calls
from prolocutor.config.building import build_assistant
from prolocutor.config.loading import load
from prolocutor.config.settings import Settings
from prolocutor.plugins.cassettes.cassette import Cassette, read_cassette
from prolocutor.plugins.cassettes.recording import CassetteRecorder
from prolocutor.plugins.cassettes.redaction import Redaction
from prolocutor.plugins.cassettes.replaying import CassettePlayer, play, played_assistant

DEMO: Final = Path(prolocutor_demo.__file__).parent / "assistant" / "assistant.yaml"
TOPICS: Final = ("weather", "money", "news", "music", "trains")
SAID: Final = ("tell me about {}", "and {}?", "{} again, please", "{} or {}?", "what of it?")

FIVE: Final = """
name: Five
fallback: Nobody knows.
deadline: 8
skill_selector: {call: "five:route", name: route}
skills:
  weather: {call: "http://127.0.0.1:%(http)d/", timeout: 3, formatter: "five:last_words"}
  money:
    call: {url: "http://127.0.0.1:%(http)d/v1", model: small, stream: true}
    connector: openai_chat
    timeout: 3
    response_formatter: "five:sure"
  news: {call: "ws://127.0.0.1:%(socket)d/", connector: websocket, timeout: 3}
  music: {call: "%(python)s five.py", connector: command, timeout: 3, window: 1}
  trains: {call: "five:trains", process: true, timeout: 3}
response_selector: {call: "five:choose", name: choose}
"""
AGENTS: Final = '''
"""Five agents, and the assistant's own functions, for the benchmark of cassettes."""

import json
import sys


def words_of(request):
    return request["human_utterances"][-1]["text"].lower()


def last_words(state):
    return {"words": words_of(state), "turn": len(state["human_utterances"])}


def said(topic, words):
    if topic not in words:
        return []
    return [{"text": f"All of {topic} after {len(words)} letters.", "confidence": 0.8}]


def trains(request):
    return said("trains", words_of(request))


def sure(reply):
    return [{**one, "confidence": 0.6} for one in reply] if isinstance(reply, list) else reply


def route(request):
    return ["weather", "money", "news", "music", "trains"]


def route_less(request):
    return ["weather", "news"]


def choose(request):
    best = max(request["hypotheses"], key=lambda one: (one["confidence"], one["skill_name"]))
    return {key: best[key] for key in ("skill_name", "text", "confidence")}


def choose_last(request):
    best = min(request["hypotheses"], key=lambda one: (one["confidence"], one["skill_name"]))
    return {key: best[key] for key in ("skill_name", "text", "confidence")}


if __name__ == "__main__":
    for line in sys.stdin:
        print(json.dumps(said("music", words_of(json.loads(line)))), flush=True)
'''


def mutations() -> dict[str, Callable[[str, random.Random], str]]:
    """Return the ways to change the file, each of which must be caught."""

    def another(pattern: str, change: Callable[[re.Match[str]], str]) -> Any:
        def changed(text: str, chance: random.Random) -> str:
            found = list(re.finditer(pattern, text))
            one = chance.choice(found)
            return text[: one.start()] + change(one) + text[one.end() :]

        return changed

    def swapped(text: str, chance: random.Random) -> str:
        first, second = chance.sample(TOPICS, 2)
        marks = {first: second, second: first}
        return re.sub(
            r"^  (\w+):", lambda m: f"  {marks.get(m[1], m[1])}:", text, flags=re.MULTILINE
        )

    return {
        "other router": another(r"five:route", lambda _: "five:route_less"),
        "other selector": another(r"five:choose\b", lambda _: "five:choose_last"),
        "lost formatter": another(r', formatter: "five:last_words"', lambda _: ""),
        "lost response formatter": another(r'    response_formatter: "five:sure"\n', lambda _: ""),
        "changed time-out": another(r"timeout: 3", lambda _: "timeout: 1"),
        "swapped agents": swapped,
        "another model": another(r"model: small", lambda _: "model: large"),
        "another window": another(r"\n    timeout: 3\n", lambda m: f"{m[0]}    window: 2\n"),
        "lost agent": another(r"  news: .*\n", lambda _: ""),
        "renamed agent": another(r"  (music|news|trains):", lambda m: f"  {m[1]}s:"),
    }


class Agents:
    """Live agents on loopback: HTTP, OpenAI's API with streams, a WebSocket."""

    def __init__(self, folder: Path) -> None:
        namespace: dict[str, Any] = {"__name__": "five"}
        exec((folder / "five.py").read_text("utf-8"), namespace)
        self._said, self._words = namespace["said"], namespace["words_of"]
        self.ports: dict[str, Any] = {"python": sys.executable}
        self._servers: list[Any] = []
        for name in ("five", "demo"):
            (folder / name).mkdir()

    async def open(self) -> None:
        """Listen."""
        http = await asyncio.start_server(self._answer, "127.0.0.1", 0)
        socket = await serve(self._talk, "127.0.0.1", 0)
        self._servers = [http, socket]
        self.ports["http"] = http.sockets[0].getsockname()[1]
        self.ports["socket"] = next(iter(socket.sockets)).getsockname()[1]

    async def close(self) -> None:
        """Be gone."""
        for server in self._servers:
            server.close()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while not reader.at_eof():
            try:
                head = await reader.readuntil(b"\r\n\r\n")
            except asyncio.IncompleteReadError:
                break
            length = re.search(rb"content-length: (\d+)", head.lower())
            body = json.loads(await reader.readexactly(int(length[1]) if length else 0))
            if b" /v1/chat" in head.partition(b"\r\n")[0]:
                kind, text = b"text/event-stream", self._streamed(body)
            else:
                kind, text = b"application/json", json.dumps(self._said("weather", body["words"]))
            data = text.encode()
            writer.write(
                b"HTTP/1.1 200 OK\r\nContent-Type: %b\r\nContent-Length: %d\r\n\r\n%b"
                % (kind, len(data), data)
            )
            await writer.drain()
        writer.close()

    def _streamed(self, body: Any) -> str:
        found = self._said("money", body["messages"][-1]["content"].lower())
        pieces = re.findall(r"\S+\s*", found[0]["text"] if found else "I do not know.")
        chunks = [{"choices": [{"index": 0, "delta": {"content": piece}}]} for piece in pieces]
        lines = [f"data: {json.dumps(chunk)}\n\n" for chunk in chunks]
        return "".join([*lines, "data: [DONE]\n\n"])

    async def _talk(self, connection: Any) -> None:
        async for line in connection:
            await connection.send(json.dumps(self._said("news", self._words(json.loads(line)))))


def demo_words(chance: random.Random, number: int) -> list[list[str]]:
    """Return what is said in dialogs of the demo: the examples of its cards."""
    settings = load(DEMO)
    cards = [skill.card_members.get("examples") or [] for skill in settings.pipeline.skills]
    texts = [example for examples in cards for example in examples]
    return [chance.choices(texts, k=chance.randint(1, 3)) for _ in range(number)]


def five_words(chance: random.Random, number: int) -> list[list[str]]:
    """Return what is said in dialogs of the five agents."""

    def text() -> str:
        return chance.choice(SAID).format(*chance.sample(TOPICS, 2))

    return [[text() for _ in range(chance.randint(1, 4))] for _ in range(number)]


async def recorded(file: Path, folder: Path, talks: Sequence[Sequence[str]]) -> list[Cassette]:
    """Have these dialogs with live agents, and return their cassettes."""
    recorder = CassetteRecorder(folder, redaction=Redaction({}))
    with record_calls(recorder):
        async with build_assistant(load(file), store="memory:", recording=False) as assistant:
            for number, talk in enumerate(talks):
                for words in talk:
                    await assistant.reply(words, f"person {number}")
    return [read_cassette(path) for path in recorder.written]


async def replayed(settings: Settings, cassettes: Sequence[Cassette]) -> tuple[str, list[str]]:
    """Replay cassettes; return a digest of all that came, and which of them differ."""
    digest, different = hashlib.sha256(), []
    for cassette in cassettes:
        player = CassettePlayer(cassette, redaction=Redaction({}))
        async with played_assistant(settings, player) as assistant:
            await play(assistant, player)
        digest.update(msgspec.json.encode([player.replies, player.differences]))
        if player.differences:
            different.append(player.differences[0].told())
    return digest.hexdigest(), different


async def measure(given: argparse.Namespace, folder: Path) -> None:
    """Record, replay, mutate, and print the figures."""
    chance = random.Random(given.seed)
    (folder / "five.py").write_text(AGENTS, encoding="utf-8")
    agents = Agents(folder)
    await agents.open()
    file = folder / "assistant.yaml"
    text = FIVE % agents.ports
    file.write_text(text, encoding="utf-8")
    sets: list[tuple[str, Path, list[Cassette]]] = []
    began = time.monotonic()
    half = given.dialogs // 2
    five = await recorded(file, folder / "five", five_words(chance, given.dialogs - half))
    sets.append(("five protocols", file, five))
    sets.append(("demo", DEMO, await recorded(DEMO, folder / "demo", demo_words(chance, half))))
    await agents.close()
    print(f"recorded {given.dialogs:,} dialogs in {time.monotonic() - began:.1f} s")
    for name, path, cassettes in sets:
        settings = load(path)
        began, cpu = time.monotonic(), time.process_time()
        times = [await replayed(settings, cassettes) for _ in range(given.times)]
        seconds, cpu = time.monotonic() - began, time.process_time() - cpu
        calls = sum(len(turn.calls) for cassette in cassettes for turn in cassette.turns)
        turns = sum(len(cassette.turns) for cassette in cassettes)
        print(
            f"{name}: {len(cassettes):,} dialogs, {turns:,} turns, {calls:,} calls, {given.times}"
            f" times: {len({one for one, _ in times})} digest(s),"
            f" {sum(len(one) for _, one in times)} false alarms, {seconds / given.times:.2f} s"
            f" a time ({cpu / given.times:.2f} s of CPU)"
        )
        for told in [one for _, found in times for one in found][:3]:
            print(told)
    some = five[: given.tests]
    alarms = 0
    for _ in range(given.runs):
        alarms += bool((await replayed(load(file), some))[1])
    print(f"unchanged: {alarms} false alarms in {given.runs} runs of {len(some)} cassettes")
    caught, tried, kinds = Counter[str](), Counter[str](), mutations()
    for number in range(given.mutations):
        kind = list(kinds)[number % len(kinds)]
        other = folder / "changed.yaml"
        changed = kinds[kind](text, chance)
        if changed == text:
            continue
        other.write_text(changed, encoding="utf-8")
        tried[kind] += 1
        caught[kind] += bool((await replayed(load(other), some))[1])
    total = sum(tried.values())
    print(
        f"mutations: {sum(caught.values())} of {total} caught "
        f"({sum(caught.values()) / max(1, total):.0%})"
    )
    for kind, number in tried.items():
        print(f"  {kind}: {caught[kind]} of {number}")


def main() -> None:
    """Read the options and measure."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--dialogs", type=int, default=1000)
    parser.add_argument("--times", type=int, default=10)
    parser.add_argument("--mutations", type=int, default=200)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--tests", type=int, default=5, help="cassettes of a run with mutations")
    parser.add_argument("--seed", type=int, default=7)
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(measure(parser.parse_args(), Path(folder)))


if __name__ == "__main__":
    main()
