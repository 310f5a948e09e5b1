"""One's own agents are asked once, by the real command, and measured by what is on record."""

import json
import os
import select
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.commands import PATIENCE, PROGRAM, Commands

BOTS = """
import asyncio
import os


def noted(name, request):
    text = request["human_utterances"][-1]["text"]
    with open("calls.txt", "a") as calls:
        calls.write(f"{name}: {text}\\n")
    return text


async def weather(request):
    text = noted("weather", request)
    if fifo := os.environ.get("HOLD"):
        # Whoever has the other end of the pipe sees how far we are, and may kill us then.
        with open(fifo, "a") as told:
            told.write(text + "\\n")
    last = [one["text"] for one in request["utterances"][:-1]]
    if "rain" not in text and not last:
        return []
    return [{"text": f"it rains ({' '.join(last) or text})", "confidence": 0.6}]


def moody(request):
    if "odd" in noted("moody", request):
        raise ValueError("not today")
    return [{"text": "I know songs", "confidence": 0.9}]


async def slow(request):
    noted("slow", request)
    await asyncio.sleep(60)
"""
ASSISTANT = """
name: bots
skill_selector: {router: cards}
skills:
  weather: {call: "bots:weather", card: {description: Tells of rain and sun., price: 0.01}}
  moody:
    call: "bots:moody"
    breaker: {failures: 100}
    card: {description: Knows songs., latency: 2}
  slow: {call: "bots:slow", timeout: 0.02, breaker: {failures: 100}, card: {description: Thinks.}}
response_selector: {ranker: unsupervised}
"""
ROUTE = ("--router", "cards", "--ranker", "unsupervised", "--budget", "top:2", "--folds", "2")
PAIRING = ("evaluate", "pairing")
RECORD = (*PAIRING, "--assistant", "bots.yaml", "--record", "asked", *ROUTE)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with bots and questions."""
    place = tmp_path / "work"
    place.mkdir()
    (place / "bots.py").write_text(BOTS)
    (place / "bots.yaml").write_text(ASSISTANT)
    write(place / "q.jsonl", questions())
    monkeypatch.chdir(place)
    return place


def questions() -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = [
        {
            "text": f"rain {n} odd" if n % 2 else f"song {n}",
            "agents": "weather" if n % 2 else "moody",
        }
        for n in range(20)
    ]
    before = {"said_before": "rain in Oslo?", "answered_before": "No.", "agent_before": "weather"}
    return [*rows, {"text": "and Rome?", "agents": ["weather"], **before}]


def write(file: Path, rows: list[dict[str, Any]]) -> None:
    file.write_text("".join(f"{json.dumps(row)}\n" for row in rows))


def calls(folder: Path) -> list[str]:
    return (folder / "calls.txt").read_text().splitlines()


def wait_for(fifo: Path, lines: int) -> None:
    """Read so many lines of a pipe; it is kept open for writing too, so that it has no end."""
    descriptor = os.open(fifo, os.O_RDWR)
    try:
        while lines > 0:
            ready, _, _ = select.select([descriptor], [], [], PATIENCE)
            assert ready, "nobody was asked any more"
            lines -= os.read(descriptor, 1).count(b"\n")
    finally:
        os.close(descriptor)


def recorded(folder: Path) -> list[dict[str, Any]]:
    lines = (folder / "asked" / "test.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines]


def test_agents_are_asked_once_and_measured_without_them_from_then_on(
    commands: Commands, folder: Path
) -> None:
    first = commands.output(*RECORD, "--data", "jsonl:q.jsonl")
    asked = calls(folder)

    second = commands.output(*RECORD, "--data", "jsonl:q.jsonl")
    (folder / "bots.py").unlink()
    offline = commands.output(*PAIRING, "--data", "jsonl:asked", *ROUTE, "--json", "all.json")

    assert "bots: 21 of 21 questions asked, on record in asked" in first
    assert "bots: 0 of 21 questions asked" in second
    assert len(asked) == len({*asked}) == 3 * 21 == len(calls(folder))
    assert "failed 10 x: ValueError: not today" in first
    assert "failed 21 x: " in first
    rows = {row["method"]: row for row in json.loads((folder / "all.json").read_text())["rows"]}
    assert rows["everybody, highest confidence"]["precision_at_1"] == pytest.approx(20 / 21)
    assert rows["cards"]["mean_calls"] == 1
    assert rows["unsupervised"]["mean_calls"] == 3
    assert rows["unsupervised"]["wait"] >= 0.02
    assert rows["unsupervised"]["cost"] == pytest.approx(0.01)
    assert all(name in offline for name in rows)


def test_failing_slow_and_silent_agents_are_on_record(commands: Commands, folder: Path) -> None:
    commands.output(*RECORD, "--data", "jsonl:q.jsonl")

    song, rain = recorded(folder)[:2]
    assert song["answers"] == {"moody": "I know songs"}
    assert rain["answers"] == {"weather": "it rains (rain 1 odd)"}
    assert song["calls"]["weather"] == {
        "price": 0.01,
        "seconds": song["calls"]["weather"]["seconds"],
    }
    assert rain["calls"]["moody"]["error"].startswith("ValueError: not today (at ")
    assert rain["calls"]["slow"]["seconds"] >= 0.02
    assert "error" in rain["calls"]["slow"]
    cards = {
        card["name"]: card for card in json.loads((folder / "asked" / "cards.json").read_text())
    }
    assert cards["moody"]["latency"] == 2
    assert 0 < cards["weather"]["latency"] < 2
    assert cards["slow"]["latency"] is None


def test_a_follow_up_is_asked_after_what_was_said_before_it(
    commands: Commands, folder: Path
) -> None:
    commands.output(*RECORD, "--data", "jsonl:q.jsonl")

    assert recorded(folder)[-1]["answers"]["weather"] == "it rains (rain in Oslo? No.)"


@pytest.mark.skipif(sys.platform == "win32", reason="kills by signal")
def test_killed_at_any_time_the_same_command_goes_on(commands: Commands, folder: Path) -> None:
    words = (*RECORD, "--data", "jsonl:q.jsonl")
    fifo = folder / "held"
    for survived in (3, 11):
        os.mkfifo(fifo)
        process = subprocess.Popen(
            [PROGRAM, *words], env={**os.environ, "HOLD": str(fifo)}, stderr=subprocess.PIPE
        )
        with process:
            wait_for(fifo, survived)
            process.send_signal(signal.SIGKILL)
        fifo.unlink()
    assert not (folder / "asked" / "test.jsonl").exists()

    told = commands.output(*words)

    left = int(told.split(" of 21 questions asked")[0].rpartition(" ")[2])
    assert left <= 21 - 2 - 10
    assert len(recorded(folder)) == 21
    assert all(len(row["calls"]) == 3 for row in recorded(folder))
    again = {one: calls(folder).count(one) for one in calls(folder)}
    assert len(again) == 3 * 21
    assert sum(times > 1 for times in again.values()) <= 2 * 3
    assert max(again.values()) <= 2


def test_who_failed_is_asked_again_by_wish_and_a_new_agent_alone(
    commands: Commands, folder: Path
) -> None:
    words = (*RECORD, "--data", "jsonl:q.jsonl")
    commands.output(*words)
    (folder / "calls.txt").unlink()

    commands.output(*words, "--retry-failed")
    failed = {line.partition(":")[0] for line in calls(folder)}
    number = len(calls(folder))
    text = (folder / "bots.yaml").read_text()
    new = '  songs: {call: "songs:sing", card: {description: Sings songs.}}\nresponse_selector'
    (folder / "bots.yaml").write_text(text.replace("response_selector", new))
    (folder / "songs.py").write_text(
        "def sing(request):\n    return {'text': 'la', 'confidence': 1}\n"
    )
    commands.output(*words)

    assert failed == {"moody", "slow"}
    assert number == 10 + 21
    assert len(calls(folder)) == number
    assert recorded(folder)[0]["answers"]["songs"] == "la"


def test_labels_may_come_later(commands: Commands, folder: Path) -> None:
    bare = [{name: value for name, value in row.items() if name != "agents"} for row in questions()]
    write(folder / "q.jsonl", bare)

    unlabelled = commands.output(*RECORD, "--data", "jsonl:q.jsonl")
    write(folder / "q.jsonl", questions())
    labelled = commands.output(*RECORD, "--data", "jsonl:q.jsonl")

    assert "21 questions, 0 of them labelled or rated" in unlabelled
    assert "no question has a right agent" in unlabelled
    assert "bots: 0 of 21 questions asked" in labelled
    assert "everybody, highest confidence" in labelled
    assert len(calls(folder)) == 3 * 21
    assert "21 questions, 21 of them" in commands.output("overlap", "--data", "jsonl:asked")


def test_what_cannot_be_recorded_is_refused_in_a_line(commands: Commands, folder: Path) -> None:
    commands.output(*RECORD, "--data", "jsonl:q.jsonl")
    changed = (folder / "bots.yaml").read_text().replace("timeout: 0.02", "timeout: 0.03")
    (folder / "bots.yaml").write_text(changed)

    told = commands.complaint(*RECORD, "--data", "jsonl:q.jsonl")

    assert "asked: slow changed since it was asked; choose another folder with --record" in told
    assert "a store holds the answers already" in commands.complaint(
        *RECORD, "--data", "store:x.db"
    )
    ran = commands.run(*PAIRING, "--data", "jsonl:q.jsonl", "--record", "other")
    assert ran.returncode == 2
    assert ("--record needs an --assistant" in ran.stderr) is True


def test_cards_of_an_assistant_serve_a_record_as_they_are_now(
    commands: Commands, folder: Path
) -> None:
    commands.output(*RECORD, "--data", "jsonl:q.jsonl")
    text = (folder / "bots.yaml").read_text().replace("Knows songs.", "Knows any song, odd or not.")
    (folder / "bots.yaml").write_text(text)

    table = commands.output(
        *PAIRING, "--data", "jsonl:asked", "--assistant", "bots.yaml", *ROUTE, "--json", "-"
    )

    assert json.loads(table)["n"] == 3
    assert len(calls(folder)) == 3 * 21
