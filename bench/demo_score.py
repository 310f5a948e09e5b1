"""Scores the demo assistant: how often a correct agent's answer wins, over all phrasings mixed.

Each line of `tests/demo/phrasings/*.txt` is sent by its own user to the real assistant, including
its processes, in a random but repeatable order. A reply is right if it comes from an agent whose
file has the line, or if it matches the pattern of the line. Each double question must get one reply
from all its agents.

The demo asks every agent and composes. For comparison, other selections without labels: the most
confident agent alone, the ranker, and a router that asks until an answer is likely right.

Dialogs of `tests/demo/dialogs/*.txt` are held too: see `demo_dialogs.py`.

    python bench/demo_score.py [--seed 1] [--wrong] [--alone] [--dialogs] [--json FILE]
"""

from __future__ import annotations

import argparse
import asyncio
import random
import re
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

import msgspec
from demo_dialogs import DialogScore, score_dialogs, show_dialogs

from prolocutor.assistant.assistant import Assistant
from prolocutor.config.building import build_assistant
from prolocutor.config.loading import demo_file, load
from prolocutor.config.settings import Settings
from prolocutor.contracts.observer import TurnRecord
from prolocutor.plan.pipeline import Service
from prolocutor.plugins.pairing.budget import Budget
from prolocutor.plugins.pairing.selector_building import RankerSelector, RouterSelector

PHRASINGS: Final = Path(__file__).parents[1] / "tests" / "demo" / "phrasings"
GOAL: Final = 0.9
CONCURRENCY: Final = 8

DOUBLES: Final = (
    ("what's 15% of 80 and what time is it in Tokyo?", "calculator clock", "12.*Tokyo"),
    (
        "What is the capital of Peru? And how many feet are in a mile?",
        "countries units",
        "Lima.*5,?280",
    ),
    ("flip a coin and tell me a joke", "chance jokes", "heads|tails"),
    ("define serendipity and tell me the capital of Japan", "dictionary countries", "Tokyo"),
    ("set a timer for 10 minutes and add milk to my shopping list", "timer todo", "10.*milk"),
    ("how old is someone born on 1 May 1990, and what is 12 times 12?", "days calculator", "144"),
    ("convert 100 euros to dollars, then roll a die", "currency chance", ""),
    ("when is Christmas in Germany? what's 100 km in miles?", "holidays units", "62"),
    ("tell me a joke and what is the square root of 144", "jokes calculator", "12"),
    ("Hello! What is 7 times 8?", "calculator", "56"),
    (
        "what is 5 + 5, what is the capital of Peru, and when is Easter?",
        "calculator countries holidays",
        "10.*Lima.*Easter",
    ),
    ("What time is it in Tokyo? And in London?", "clock", "Tokyo.*London"),
    ("synonyms of happy and antonyms of sad", "dictionary", "happy.*sad"),
    (
        "is 25 December a holiday in Japan and how many days until then",
        "holidays days",
        "No.*days until",
    ),
    (
        "what is the capital of Peru and what is the weather in Lima?",
        "countries",
        "no answer.*weather",
    ),
)


_ROUTED: Final = RouterSelector(router="cards")
_RANKED: Final = RankerSelector(ranker="unsupervised")


def _selecting(target: RouterSelector | RankerSelector) -> Service:
    return Service(target.role, target)  # type: ignore[arg-type]


OTHERS: Final[dict[str, dict[str, Any]]] = {
    "all asked, the surest speaks": {"response_selector": None},
    "all asked, ranked": {"response_selector": _selecting(_RANKED)},
    "routed until .3 sure, ranked": {
        "skill_selector": _selecting(_ROUTED),
        "response_selector": _selecting(_RANKED),
    },
    "routed until .3 sure, composed": {"skill_selector": _selecting(_ROUTED)},
    "routed until .6 sure, composed": {
        "skill_selector": _selecting(msgspec.structs.replace(_ROUTED, budget=Budget(sure=0.6)))
    },
}
"""Other selections, as changes to the demo's pipeline; none uses labels."""


class Phrase(msgspec.Struct, frozen=True):
    """One line: its agents, its text, and an optional pattern of a right reply."""

    agent: str
    text: str
    expected: str | None


class Verdict(msgspec.Struct, frozen=True):
    """The outcome of one line."""

    agent: str
    text: str
    right: bool
    by: list[str]
    reply: str
    confidence: float
    seconds: float


class SelectionScore(msgspec.Struct, frozen=True):
    """The score of one selection, and the number of agents that it asks per turn."""

    name: str
    right: int
    said: int
    doubles: int
    calls: float


class Score(msgspec.Struct, frozen=True):
    """How often a correct agent won; `agents`: name -> [right, said]."""

    seed: int
    right: int
    said: int
    share: float
    agents: dict[str, tuple[int, int]]
    doubles: tuple[int, int]
    calls: float
    wrong: list[Verdict]
    others: list[SelectionScore] = []
    dialogs: DialogScore | None = None


class RunOutcome(msgspec.Struct, frozen=True):
    """A run over all lines: the verdicts, calls per turn, and seconds of the single questions."""

    singles: list[Verdict]
    doubles: list[Verdict]
    calls: float
    seconds: float


class _Calls:
    """Counts the agents asked."""

    def __init__(self) -> None:
        self.turns = self.asked = 0

    def turn_ended(self, record: TurnRecord) -> None:
        """Count the agents of one turn."""
        self.turns += 1
        self.asked += len(record.asked)

    def breaker_changed(self, service: str, state: str) -> None:
        """Breakers are not counted."""


def main() -> None:
    given = _arguments()
    if given.dialogs:
        dialogs = asyncio.run(score_dialogs(load(demo_file())))
        show_dialogs(dialogs, wrong=given.wrong)
        sys.exit(not dialogs.good)
    score, seconds = asyncio.run(_run(given.seed, alone=given.alone))
    _show(score, seconds)
    if given.wrong:
        _show_wrong(score.wrong)
    assert score.dialogs is not None
    show_dialogs(score.dialogs, wrong=given.wrong)
    if given.json:
        given.json.write_bytes(msgspec.json.format(msgspec.json.encode(score), indent=2))
    sys.exit(score.share < GOAL or score.doubles[0] < score.doubles[1] or not score.dialogs.good)


async def _run(seed: int, *, alone: bool) -> tuple[Score, float]:
    lines = _lines()
    random.Random(seed).shuffle(lines)
    settings = load(demo_file())
    heard = await _run_phrases(settings, lines)
    agents = {
        name: (
            sum(v.right for v in heard.singles if v.agent == name),
            sum(v.agent == name for v in heard.singles),
        )
        for name in sorted(owned for owned in {line.agent for line in lines})
    }
    right = sum(verdict.right for verdict in heard.singles)
    every = [*heard.singles, *heard.doubles]
    score = Score(
        seed,
        right,
        len(lines),
        round(right / len(lines), 4),
        agents,
        (sum(v.right for v in heard.doubles), len(heard.doubles)),
        heard.calls,
        sorted((v for v in every if not v.right), key=lambda v: v.agent),
        [] if alone else [await _other(settings, lines, name) for name in OTHERS],
        await score_dialogs(settings),
    )
    return score, heard.seconds


async def _other(settings: Settings, lines: list[Phrase], name: str) -> SelectionScore:
    """Run the same lines with another selection."""
    pipeline = msgspec.structs.replace(settings.pipeline, **OTHERS[name])
    heard = await _run_phrases(msgspec.structs.replace(settings, pipeline=pipeline), lines)
    doubles = sum(v.right for v in heard.doubles)
    return SelectionScore(
        name, sum(v.right for v in heard.singles), len(lines), doubles, heard.calls
    )


async def _run_phrases(settings: Settings, lines: list[Phrase]) -> RunOutcome:
    doubles = [Phrase(agents, text, expected) for text, agents, expected in DOUBLES]
    owners: dict[str, set[str]] = {}
    for line in lines:
        owners.setdefault(line.text, set()).add(line.agent)
    calls = _Calls()
    async with build_assistant(settings, store="memory:", observers=[calls]) as assistant:
        began = time.perf_counter()
        heard = await _send_all(assistant, lines)
        seconds = time.perf_counter() - began
        asked = round(calls.asked / calls.turns, 2)
        doubly = await _send_all(assistant, doubles)
    return RunOutcome(
        [_judged(one, line, owners[line.text]) for one, line in zip(heard, lines, strict=True)],
        [_judged_double(one, line) for one, line in zip(doubly, doubles, strict=True)],
        asked,
        seconds,
    )


def _lines() -> list[Phrase]:
    lines = []
    for file in sorted(PHRASINGS.glob("*.txt")):
        for line in file.read_text(encoding="utf-8").splitlines():
            text, _, expected = line.partition("\t")
            if text.strip():
                lines.append(Phrase(file.stem, text.strip(), expected.strip() or None))
    return lines


async def _send_all(assistant: Assistant, lines: Iterable[Phrase]) -> list[Verdict]:
    """Send every line, a few concurrently, each in its own dialog."""
    slots = asyncio.Semaphore(CONCURRENCY)

    async def say(number: int, line: Phrase) -> Verdict:
        async with slots:
            result = await assistant.turn(line.text, user=f"{line.agent} {number}")
        record = result.record
        assert record is not None
        by = list(dict.fromkeys(id_.rpartition(".")[0] for id_ in record.chosen))
        return Verdict(
            line.agent, line.text, False, by, record.response, record.confidence, record.seconds
        )

    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(say(number, line)) for number, line in enumerate(lines)]
    return [task.result() for task in tasks]


def _judged(heard: Verdict, line: Phrase, owners: set[str]) -> Verdict:
    right = bool(owners & set(heard.by)) or (
        line.expected is not None and _shows(heard.reply, line.expected)
    )
    return msgspec.structs.replace(heard, right=right)


def _judged_double(heard: Verdict, line: Phrase) -> Verdict:
    right = set(heard.by) >= set(line.agent.split()) and _shows(heard.reply, line.expected or "")
    return msgspec.structs.replace(heard, right=right)


def _shows(reply: str, expected: str) -> bool:
    if expected.lower() in reply.lower():
        return True
    try:
        return re.search(expected, reply, re.IGNORECASE | re.DOTALL) is not None
    except re.error:
        return False


def _show(score: Score, seconds: float) -> None:
    print(f"{'agent':<14}{'right':>6}{'said':>6}{'share':>8}")
    for name, (right, said) in score.agents.items():
        print(f"{name:<14}{right:>6}{said:>6}{right / said:>8.1%}")
    print(f"{'all':<14}{score.right:>6}{score.said:>6}{score.share:>8.1%}   (goal {GOAL:.0%})")
    print(f"{'doubles':<14}{score.doubles[0]:>6}{score.doubles[1]:>6}")
    own = SelectionScore("the demo", score.right, score.said, score.doubles[0], score.calls)
    print(f"\n{'':<32}{'right':>6}{'share':>8}{'doubles':>9}{'calls':>7}")
    for way in (own, *score.others):
        share = way.right / way.said
        print(f"{way.name:<32}{way.right:>6}{share:>8.1%}{way.doubles:>9}{way.calls:>7.2f}")
    print(f"\nseed {score.seed}, {1000 * seconds / score.said:.1f} ms a turn")


def _show_wrong(wrong: list[Verdict]) -> None:
    print()
    for one in wrong:
        by = ", ".join(one.by) or "no agent"
        print(f"{one.agent}: {one.text!r} -> {by} ({one.confidence:g}): {one.reply[:90]!r}")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seed", type=int, default=1, help="the order (default 1)")
    parser.add_argument("--wrong", action="store_true", help="list the lines with a wrong reply")
    parser.add_argument("--alone", action="store_true", help="leave out the other selections")
    parser.add_argument("--dialogs", action="store_true", help="hold the dialogs, and no more")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all of it as JSON")
    return parser.parse_args()


if __name__ == "__main__":
    main()
