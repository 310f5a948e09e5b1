"""Measures routers on agents that they have never seen, beside plain ways to do the same.

    python bench/strangers.py FOLDER [--encoder FOLDER] [--draws 3] [--bbai FOLDER] [--peers]

FOLDER has `metatool.json` and `clinc150.json`, each with `agents` (name to description), `learn`
and `test` (lists of [text, agent or null]). Prints for each task and way: the share of questions
with a right agent for which it is chosen (top 1), how far probabilities are from what comes true
over all questions (ECE), the share of questions of nobody that are found when 5 % of the others
are held for such, and milliseconds a question. With `--peers` semantic-router (`peers/setup.py`)
chooses by the same vectors.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from subprocess import PIPE, run
from tempfile import NamedTemporaryFile
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import msgspec
import numpy as np
from scipy.sparse import csr_matrix, hstack
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression

from bench.peers.setup import python_of
from prolocutor.contracts.pairing import Card, Encoder, LabelledQuestion, TrainingData, UserQuestion
from prolocutor.plugins.pairing.encoders.meanings import embed_texts
from prolocutor.plugins.pairing.measuring.fitting import fit_method, probabilities
from prolocutor.plugins.pairing.measuring.method_rows import bin_by_probability, calibration_error
from prolocutor.plugins.pairing.measuring.model_locations import ModelLocations, open_models
from prolocutor.plugins.pairing.measuring.pairing_data import load_pairing_data
from prolocutor.plugins.pairing.method_catalog import await_result
from prolocutor.plugins.pairing.text import Bm25, stems

Scores = Any
"""Questions x agents."""


class Task(msgspec.Struct, frozen=True):
    """Cards, what is learned, and what is asked; vectors of all texts where there is an encoder."""

    name: str
    cards: Sequence[Card]
    learn: Sequence[LabelledQuestion]
    test: Sequence[LabelledQuestion]
    vectors: dict[str, Any] = {}

    @property
    def agents(self) -> list[str]:
        """The names of the agents."""
        return [card.name for card in self.cards]

    @property
    def asked(self) -> list[str]:
        """The questions of the test."""
        return [one.question.text for one in self.test]

    @property
    def examples(self) -> tuple[list[str], list[int]]:
        """Cards and labelled questions as texts, and the place of the agent of each."""
        place = {name: n for n, name in enumerate(self.agents)}
        pairs = [(f"{card.name}: {card.description}", n) for n, card in enumerate(self.cards)]
        pairs += [
            (one.question.text, place[max(one.agents, key=one.agents.__getitem__)])
            for one in self.learn
            if one.gold
        ]
        return [text for text, _ in pairs], [n for _, n in pairs]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--bbai", type=Path, help="a folder of BBAI, measured too")
    parser.add_argument("--encoder", metavar="FOLDER")
    parser.add_argument("--peers", action="store_true", help="semantic-router too")
    parser.add_argument("--draws", type=int, default=3)
    parser.add_argument("--only", default="", metavar="TEXT", help="tasks whose name has this")
    asyncio.run(measured(parser.parse_args()))


async def measured(given: argparse.Namespace) -> None:
    print(f"{'task':<18}{'way':<28}{'top 1':>7}{'ECE':>7}{'nobody':>8}{'ms':>8}")
    rows: dict[tuple[str, str], list[list[float]]] = {}
    async with open_models(ModelLocations(encoder=given.encoder)) as models:
        for task in tasks(given):
            vectors = await with_vectors(task, models.encoder)
            for name, way in ways(vectors, models.encoder, peers=given.peers):
                start = time.process_time()
                scores = await await_result(way())
                spent = 1000 * (time.process_time() - start) / len(task.test)
                rows.setdefault((task.name, name), []).append([*figures(task, scores), spent])
    for (name, way_name), found in rows.items():
        mean = np.array(found).mean(axis=0)
        shown = ("" if np.isnan(one) else f"{one:.1f}" for one in mean)
        print(f"{name:<18}{way_name:<28}" + " ".join(f"{one:>7}" for one in shown), flush=True)


def tasks(given: argparse.Namespace) -> Iterator[Task]:
    """Yield each task with each draw of what it learns from."""
    for kind, shots in (("metatool", 0), ("metatool", 5), ("clinc150", 10), ("clinc150", 50)):
        name = f"{kind}, {shots} each"
        if given.only in name:
            content = json.loads((given.folder / f"{kind}.json").read_text())
            for seed in range(given.draws if 0 < shots < 50 else 1):
                yield drawn(name, content, shots, seed)
    if given.bbai and given.only in "bbai":
        data = load_pairing_data(f"bbai:{given.bbai}")
        yield Task("bbai", data.cards, data.learn, data.test)


def drawn(name: str, content: dict[str, Any], shots: int, seed: int) -> Task:
    """Return the task with so many questions of each agent to learn from."""
    chance = random.Random(seed)
    of_agent: dict[str, list[LabelledQuestion]] = {}
    for text, agent in content["learn"]:
        of_agent.setdefault(agent, []).append(labelled(text, agent))
    return Task(
        name,
        [Card(name=agent, description=said) for agent, said in content["agents"].items()],
        [
            one
            for found in of_agent.values()
            for one in chance.sample(found, min(shots, len(found)))
        ],
        [labelled(text, agent) for text, agent in content["test"]],
    )


def labelled(text: str, agent: str | None) -> LabelledQuestion:
    right = frozenset() if agent is None else frozenset({agent})
    return LabelledQuestion(
        question=UserQuestion(text=text), agents=dict.fromkeys(right, 1.0), gold=right
    )


async def with_vectors(task: Task, encoder: Encoder | None) -> Task:
    if encoder is None:
        return task
    texts = [*task.examples[0], *task.asked]
    return msgspec.structs.replace(task, vectors=await embed_texts(encoder, texts))


def ways(
    task: Task, encoder: Encoder | None, *, peers: bool
) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Yield plain ways, then routers of ours."""
    yield "BM25", lambda: by_bm25(task)
    yield "TF-IDF", lambda: by_likeness(task, grams(task))
    if encoder is not None:
        yield "cosine", lambda: by_likeness(task, cosines(task))
        yield "cosine + n-grams", lambda: by_likeness(task, cosines(task) + 0.5 * grams(task))
        if peers:
            yield "semantic-router", lambda: by_semantic_router(task)
    if task.learn:
        yield "softmax head", lambda: by_head(task)
    for name in ("cards", "learned"):
        yield name, lambda name=name: routed(task, name, None)
    if encoder is not None:
        yield "learned, with encoder", lambda: routed(task, "learned", encoder)


def by_bm25(task: Task) -> Scores:
    texts, _ = task.examples
    index = Bm25((place, stems(text)) for place, text in enumerate(texts))
    found = np.zeros((len(task.test), len(texts)))
    for row, text in enumerate(task.asked):
        for place, score in index.search(stems(text)):
            found[row, place] = score
    return by_likeness(task, found)


def by_likeness(task: Task, likeness: Any) -> Scores:
    """Return the best likeness of a question to the examples of each agent."""
    owners = np.array(task.examples[1])
    return np.stack([likeness[:, owners == n].max(axis=1) for n in range(len(task.agents))], axis=1)


def grams(task: Task) -> Any:
    texts = task.examples[0]
    learned = TfidfVectorizer(analyzer="char_wb", ngram_range=(3, 5), sublinear_tf=True).fit(texts)
    return (learned.transform(task.asked) @ learned.transform(texts).T).toarray()


def cosines(task: Task) -> Any:
    asked, texts = (
        np.array([task.vectors[text] for text in found]) for found in (task.asked, task.examples[0])
    )
    return asked @ texts.T


def by_semantic_router(task: Task) -> Scores:
    """Return the score of the agent that semantic-router chooses; the others have 0."""
    texts, owners = task.examples
    agents = task.agents
    routes: dict[str, list[str]] = {}
    for text, owner in zip(texts, owners, strict=True):
        routes.setdefault(agents[owner], []).append(text)
    vectors = {text: vector.tolist() for text, vector in task.vectors.items()}
    told = {"routes": routes, "questions": task.asked, "vectors": vectors}
    script = Path(__file__).parent / "peers" / "run_semantic_router.py"
    with NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(told, file)
        file.flush()
        words = [python_of("semantic-router"), script, file.name]
        ran = run(words, stdout=PIPE, check=True)
    scores = np.zeros((len(task.test), len(agents)))
    for row, (name, score) in enumerate(json.loads(ran.stdout.splitlines()[-1])):
        if name is not None:
            scores[row, agents.index(name)] = score or 0.0
    return scores


def by_head(task: Task) -> Scores:
    """Return what a softmax over TF-IDF, and vectors if any, says; cards are examples."""
    texts, owners = task.examples
    words = TfidfVectorizer(analyzer="char_wb", ngram_range=(3, 5), sublinear_tf=True).fit(texts)

    def rows(found: Sequence[str]) -> Any:
        made = words.transform(found)
        if not task.vectors:
            return made
        return hstack([made, csr_matrix(np.array([task.vectors[text] for text in found]))]).tocsr()

    learned = LogisticRegression(C=10, max_iter=100, tol=1e-3).fit(rows(texts), owners)
    scores = np.zeros((len(task.test), len(task.agents)))
    scores[:, learned.classes_] = learned.predict_proba(rows(task.asked))
    return scores


async def routed(task: Task, name: str, encoder: Encoder | None) -> Scores:
    """Return the probabilities of a router of ours."""
    training = TrainingData(cards=task.cards, labelled=task.learn, encoder=encoder)
    router = await fit_method("router", name, training)
    found = []
    for one in task.test:
        by_name = await probabilities(router, one)
        found.append([by_name.get(agent, 0.0) for agent in task.agents])
    return np.array(found)


def figures(task: Task, scores: Scores) -> list[float]:
    """Return top 1, ECE (of scores that are probabilities), and nobody found, in %."""
    best, sure = scores.argmax(axis=1), scores.max(axis=1)
    agents = task.agents
    right = [float(agents[n] in one.gold) for n, one in zip(best, task.test, strict=True)]
    known = np.array([bool(one.gold) for one in task.test])
    bins = bin_by_probability([*zip(sure.tolist(), right, strict=True)])
    ece = 100 * calibration_error(bins) if sure.max() <= 1 else np.nan
    unknown = sure[~known]
    found = (unknown < np.quantile(sure[known], 0.05)).mean() if len(unknown) else np.nan
    return [100 * float(np.array(right)[known].mean()), ece, 100 * float(found)]


if __name__ == "__main__":
    main()
