"""Measures pairing: CPU time a question, loading, learning one label, a thousand agents.

    python bench/pairing.py [--data bbai:FOLDER] [--json FILE]
    python bench/pairing.py --peers          with semantic-router, of `peers/setup.py`
    python bench/pairing.py --write          put the table into bench/README.md as well
    python bench/pairing.py --train 1458 --data bbai:FOLDER      training a ranker alone

Without --data it takes the made-up agents of `synthetic_agents.py`. Times are of this process's
CPU, one thread, the best of a few rounds over all questions. semantic-router gets the same
questions, the same labelled ones as utterances, and an encoder that takes no time, as no model's
weights are at hand: what is measured is its routing step.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from inspect import isawaitable
from itertools import chain
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench import synthetic_agents
from bench.peers.setup import python_of
from bench.turns import machine
from bench.turns.report import PAIRING, WIRE, number, table
from prolocutor.contracts.pairing import AgentAnswer, Card, TrainingData, UserQuestion
from prolocutor.plugins.pairing.measuring.pairing_data import PairingData, load_pairing_data
from prolocutor.plugins.pairing.method_catalog import (
    load_fit,
    method_needs,
    methods,
)
from prolocutor.plugins.pairing.model_files import save_model, training_card
from prolocutor.plugins.pairing.question_agent.cards import CardsRouter
from prolocutor.plugins.pairing.question_agent.learned import LearnedRouter
from prolocutor.plugins.pairing.question_agent.loaded_router import load_router_model

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "bench" / "README.md"
PEER = "semantic-router"
PUBLISHED = "1.5 to 3 ms without its encoder, 15 ms with one"
"""The published time of a route of semantic-router 1.1.1."""

Row = tuple[str, float, str]

LEADS = (
    "tell me please",
    "I would like to know",
    "hey there",
    "could somebody say",
    "quick question friend",
)
ROUNDS = 5
MANY, EXAMPLES = 1000, 100
QUESTIONS = 200


def main() -> None:
    given = arguments()
    if given.train:
        for name, figure, unit in training(given.data, given.train):
            print(f"{name:<66} {figure:9.1f} {unit}")
        return
    if given.peers and not python_of(PEER).exists():
        sys.exit(f"no environment of {PEER}: run bench/peers/setup.py {PEER}")
    with tempfile.TemporaryDirectory() as folder:
        data = data_of(given.data, Path(folder))
        beside = neighbour(data, Path(folder)) if given.peers else ()
        rows = []
        for row in chain(routing(data, Path(folder)), beside, many_agents(), ranking(data)):
            rows.append(row)
            print(f"{row[0]:<66} {row[1]:9.3f} {row[2]}", flush=True)
    if given.json:
        Path(given.json).write_text(json.dumps(rows, indent=1))
    if given.write:
        write(section(data, rows, peers=given.peers))


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", metavar="KIND:PATH")
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--train", type=int, metavar="N", help="train on N questions of BBAI")
    parser.add_argument("--peers", action="store_true", help="measure the neighbour too")
    parser.add_argument("--write", action="store_true", help="write bench/README.md")
    return parser.parse_args()


def section(data: PairingData, rows: Sequence[Row], *, peers: bool) -> str:
    """Return the section of the page on pairing."""
    facts = machine.facts()
    beside = "Measured in this very run" if peers else "Not measured this time"
    shown = [[name, f"{number(figure)} {unit}"] for name, figure, unit in rows]
    return (
        f"{PAIRING}\nBy `bench/pairing.py` on {facts['date']}, {facts['machine']}; load average "
        f"{machine.load_average()}. {len(data.cards)} agents, {len(data.learn):,} labelled "
        f"questions.\nCPU of one thread, the best of {ROUNDS} rounds. {PEER} has the same labelled "
        f"questions as utterances, and an encoder that looks up\nvectors of 384 numbers that were "
        f"made before, so that its routing step alone is measured. {beside};\n"
        f"its published figures are {PUBLISHED}.\n\n"
        f"{table(['what', 'time'], shown)}\n"
    )


def write(report: str) -> None:
    """Replace the section on pairing, which stands before the one on Almond's wire."""
    page = DOCS.read_text()
    wire = page[page.index(WIRE) :] if WIRE in page else ""
    before = page.partition(PAIRING)[0].partition(WIRE)[0].rstrip()
    DOCS.write_text(f"{before}\n\n{report}" + (f"\n{wire}" if wire else ""))


def neighbour(data: PairingData, folder: Path) -> Iterator[Row]:
    """The routing step of semantic-router, in an environment and a process of its own."""
    routes: dict[str, list[str]] = {}
    for one in data.learn:
        for agent in sorted(one.gold):
            routes.setdefault(agent, []).append(one.question.text)
    questions = [one.question.text for one in data.test[:QUESTIONS]]
    file = folder / "routes.json"
    file.write_text(json.dumps({"routes": routes, "questions": questions}))
    words = [python_of(PEER), ROOT / "bench" / "peers" / "run_semantic_router.py", file]
    ran = subprocess.run(words, capture_output=True, text=True, check=False)
    if ran.returncode != 0:
        sys.exit(f"{PEER} failed:\n{ran.stderr}")
    found = json.loads(ran.stdout)
    what = f"{found['peer']} {found['version']}: route among {found['routes']}"
    for way, words_of in (("acall", "awaited"), ("call", "called from plain code")):
        yield f"{what}, {words_of}", found[f"{way}_cpu_ms"], "CPU ms"
        yield f"{what}, {words_of}", found[f"{way}_wall_ms"], "ms of waiting"


def data_of(spec: str | None, folder: Path) -> PairingData:
    if spec is not None:
        return load_pairing_data(spec)
    synthetic_agents.write(folder / "data", 0)
    cards = [Card(**load) for load in json.loads((folder / "data" / "cards.json").read_text())]
    return load_pairing_data(f"jsonl:{folder / 'data'}", cards)


def routing(data: PairingData, folder: Path) -> Iterator[Row]:
    questions = [one.question for one in data.test[:QUESTIONS]]
    for name in methods("router"):
        if not method_needs(name, "router") <= {"labels"}:
            continue
        start = time.process_time()
        router: Any = load_fit(name, "router")(TrainingData(cards=data.cards, labelled=data.learn))
        yield f"{name}: made of {len(data.learn):,} labels", time.process_time() - start, "s"
        spent = best(router.route, questions)
        yield f"{name}: route among {len(data.cards)}", spent, "CPU ms"
        if not hasattr(router, "to_model"):
            continue
        save_model(folder / name, router.to_model(training_card(len(data.learn))))
        yield (
            f"{name}: load",
            best(lambda at: load_router_model(at, data.cards), [folder / name]),
            "CPU ms",
        )
        if hasattr(router, "learn"):
            spent = best(
                lambda one, router=router: router.learn(one, data.agents[:1]), questions, rounds=1
            )
            yield f"{name}: learn one label", spent, "CPU ms"


def ranking(data: PairingData) -> Iterator[Row]:
    asked = [one for one in data.test if one.answers]
    pairs = [
        (one.question, [AgentAnswer(agent=agent, text=text) for agent, text in one.answers.items()])
        for one in asked[:QUESTIONS]
    ]
    for name in methods("ranker") if pairs else ():
        if not method_needs(name, "ranker") <= {"labels"}:
            continue
        ranker: Any = load_fit(name, "ranker")(TrainingData(cards=data.cards, labelled=asked))
        if isawaitable(ranker):
            ranker = asyncio.run(awaited(ranker))
        spent = best(lambda one, ranker=ranker: ranker.rank(one[0], one[1], {}), pairs)
        yield f"{name}: rank {len(data.cards)} answers", spent, "CPU ms"


def training(spec: str | None, number: int) -> Iterator[Row]:
    """CPU and memory of `train ranker` on so many questions: some of BBAI's in other words."""
    kind, _, path = (spec or "").partition(":")
    if kind != "bbai":
        sys.exit("--train takes --data bbai:FOLDER")
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made) / "data"
        folder.mkdir()
        for file in Path(path).glob("*.json"):
            (folder / file.name).write_bytes(file.read_bytes())
        asked = json.loads((folder / "test.json").read_text())
        (folder / "test.json").write_text(json.dumps(in_other_words(asked, number)))
        words = [sys.executable, "-m", "prolocutor", "train", "ranker", "--data", f"bbai:{folder}"]
        subprocess.run([*words, "--out", str(Path(made) / "model")], check=True)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    yield f"train ranker on {number:,} questions", used.ru_utime + used.ru_stime, "CPU s"
    yield "most memory of that process", used.ru_maxrss / 1000, "MB"


def in_other_words(asked: dict[str, Any], number: int) -> dict[str, Any]:
    """Return so many questions: all, and some again with words added and moved."""
    chance = random.Random(0)
    texts = list(asked)
    found = dict(asked)
    while len(found) < number:
        text = chance.choice(texts)
        words = text.split()
        for _ in range(max(1, len(words) // 4)):
            words.insert(chance.randrange(len(words)), words.pop(chance.randrange(len(words))))
        found[f"{chance.choice(LEADS)} {' '.join(words)}"] = asked[text]
    return dict(list(found.items())[:number])


def many_agents() -> Iterator[Row]:
    """A thousand agents with a hundred examples each, of words that follow Zipf's law."""
    chance = random.Random(0)
    words = [f"w{number}" for number in range(20_000)]
    weights = [1 / (number + 1) for number in range(len(words))]

    def sentence() -> str:
        return " ".join(chance.choices(words, weights, k=8))

    cards = [
        Card(name=f"agent {number}", examples=[sentence() for _ in range(EXAMPLES)])
        for number in range(MANY)
    ]
    questions = [UserQuestion(text=sentence()) for _ in range(QUESTIONS)]
    what = f"{MANY:,} agents with {EXAMPLES} examples"
    yield (
        f"cards: route among {what}",
        best(CardsRouter(cards).route, questions, rounds=2),
        "CPU ms",
    )
    learned = LearnedRouter(cards)
    yield f"learned: route among {what}", best(learned.route, questions, rounds=2), "CPU ms"


def best(call: Callable[[Any], Any], given: Sequence[Any], rounds: int = ROUNDS) -> float:
    """Return the CPU milliseconds of one call, in the fastest round over all that is given."""
    found = []
    for _ in range(rounds):
        start = time.process_time()
        for one in given:
            call(one)
        found.append((time.process_time() - start) / len(given) * 1000)
    return min(found)


async def awaited(one: Any) -> Any:
    return await one


if __name__ == "__main__":
    sys.exit(main())
