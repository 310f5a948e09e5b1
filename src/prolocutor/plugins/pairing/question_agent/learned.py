"""Learned: the router that works by cards alone and improves with every labelled question.

Kernel ridge regression (Saunders, Gammerman and Vovk 1998): cards and labelled questions are rows,
how right each agent is for them are targets, and a text scores by its likeness to the rows. So one
machine serves one right agent or several, votes, and questions for which nobody is right, and what
it would say of a row that it had not learned follows without learning anew.
"""

from __future__ import annotations

from collections.abc import Awaitable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec
import numpy as np

from prolocutor.contracts.pairing import Card, Pairing, TrainingData, UserQuestion
from prolocutor.errors import BadInput, ConfigError
from prolocutor.plugins.pairing.calibration import Sigmoid, fit_sigmoid
from prolocutor.plugins.pairing.encoders.meanings import (
    NO_VECTORS,
    PROBES,
    EncoderMark,
    Vectors,
    check_encoder,
    embed_texts,
    make_mark,
    trained_meanings,
)
from prolocutor.plugins.pairing.method_catalog import ENCODER, LABELS, PairingMethod, load_encoder
from prolocutor.plugins.pairing.model_files import (
    Model,
    TrainingCard,
    load_model,
    save_model,
    training_card,
)
from prolocutor.plugins.pairing.question_agent.cards import check_cards, documents, spoken_name
from prolocutor.plugins.pairing.question_agent.follow_ups import pairings
from prolocutor.plugins.pairing.question_agent.loaded_router import MeantRouter
from prolocutor.plugins.pairing.question_agent.router_label import RouterLabel, make_router_label
from prolocutor.plugins.pairing.question_agent.text_index import TextIndex
from prolocutor.reading.words import near_duplicates

Agents = Mapping[str, float] | Iterable[str]
"""The names of the agents that are right, or how right each is, 0 to 1; none: nobody is."""

_SHARPNESS: Final = 2.0
_RIDGE: Final = 0.3
_MEANING: Final = 2 / 3
"""The share of an encoder's cosine in the likeness; the rest is that of words."""

_MOST_INVERTED: Final = 3000
_MOST_ROWS: Final = 8000
"""Labels that are learned from, the latest; cards have half as many rows at most."""

_LEAST_GROUPS: Final = 20
_NEAR_ROWS: Final = 32
_CHEAP_ROWS: Final = 12
"""Labels are learned together where the others are fewer than so many times their number."""

_SMALL: Final = 0.02
"""Scores of this size and less differ by no more than chance where there are labels."""

_LEAST_SLOPE: Final = 0.5
"""The least slope of a fitted curve: a higher score is likelier."""

_USUAL_CURVE: Final = Sigmoid(3.0, 0.0)
_SLOPE_STRENGTH: Final = 50.0
"""The usual slope, and how firmly it is expected of agents of few labels."""

_FEW_LABELS: Final = 10
"""Labels an agent from which on the labels tell the slope, the more the better."""

_USUAL: Final = 5
"""As many agents speak for the usual deviation of scores."""

_NOBODY: Final = 0.05
"""The share of questions for which nobody is right that is expected where no label says so."""

_NAME: Final = "learned"


class PlainRouter:
    """The router `learned`, used directly; `encoder` is a folder with an ONNX model.

    `from_cards` and `load` make it. Its calls block, and are not for several threads at once.
    """

    def __init__(self, learned: LearnedRouter, encoder: Any = None) -> None:
        self._learned, self._encoder = learned, encoder

    @classmethod
    def from_cards(
        cls, cards: Iterable[Card] | Mapping[str, str], *, encoder: str | Path | None = None
    ) -> PlainRouter:
        """Make a router of cards, or of descriptions by name."""
        if isinstance(cards, Mapping):
            cards = [Card(name=name, description=said) for name, said in cards.items()]
        router = cls(LearnedRouter(list(cards)), None if encoder is None else load_encoder(encoder))
        router._learn_meaning()
        return router

    @classmethod
    def load(cls, folder: str | Path, *, encoder: str | Path | None = None) -> PlainRouter:
        """Read a model written by `save` or `prolocutor train router`."""
        made = None if encoder is None else load_encoder(encoder)
        model = load_model(folder)
        check_encoder(model, made, has_endpoint=False)
        return cls(LearnedRouter.of_model(model), made)

    @property
    def agents(self) -> list[str]:
        """The names of the agents."""
        return list(self._learned.agents)

    def route(self, text: str) -> list[Pairing]:
        """Return a pairing for every agent, the likeliest first."""
        vectors = NO_VECTORS if self._encoder is None else self._vectors([text])
        return pairings(self._learned, UserQuestion(text=text), vectors)

    def learn(self, text: str, agents: Agents) -> None:
        """Learn which agents are right for a question; the next `route` sees it."""
        self._learned.learn(text, agents)

    def learn_all(self, labels: Iterable[tuple[str, Agents]]) -> None:
        """Learn many questions, together with all earlier ones."""
        new = []
        for text, agents in labels:
            shares = dict(agents) if isinstance(agents, Mapping) else dict.fromkeys(agents, 1.0)
            new.append(RouterLabel(text, shares or dict.fromkeys(self.agents, 0.0)))
        self._learned.relearn([*self._learned.lessons, *new])
        self._learn_meaning()

    def save(self, folder: str | Path) -> str:
        """Write a model for `load` and assistants, and return its id."""
        self._learned.relearn(self._learned.lessons)
        self._learn_meaning()
        model = self._learned.to_model(training_card(len(self._learned.lessons)))
        if self._encoder is not None:
            mark = make_mark(self._encoder, self._encoder.encode_now(PROBES))
            model = mark.mark_model(model)
        return save_model(Path(folder), model)

    def _learn_meaning(self) -> None:
        if self._encoder is not None:
            self._learned.learn_meaning(self._vectors(self._learned.texts))

    def _vectors(self, texts: list[str]) -> Vectors:
        found = np.array(self._encoder.encode_now(texts), np.float32)
        return dict(zip(texts, found, strict=True))


class ScoreCurve(msgspec.Struct, frozen=True):
    """The probabilities of scores: their odds grow as a power of the score.

    The power is the slope of `curve`, a sigmoid over the inverse hyperbolic sine, which is the
    logarithm of all but the smallest. Scores of agents known by cards alone are standardized first:
    by the mean and deviation of all but the best, of which `deviation` is the usual value (0: there
    are labels). `nearest` is the weight of the likest row of each agent in the score.
    """

    curve: Sigmoid
    deviation: float
    nearest: float = 0.0

    def probabilities(self, scores: Any) -> list[float]:
        """Return the probability of each agent; the order is that of the scores."""
        if not self.deviation:
            scores = scores / _SMALL
        elif len(scores):
            others = np.sort(scores)[: max(1, len(scores) - 1)]
            square = _USUAL * self.deviation**2 + len(others) * others.var()
            scores = (scores - others.mean()) / np.sqrt(square / (_USUAL + len(others)))
        return [self.curve(score) for score in np.arcsinh(scores).tolist()]


# Fitted to cards of three sets of data, each of the same weight; the table of the documentation
# says how far they are off for a set that they were not fitted to.
_BY_WORDS: Final = ScoreCurve(Sigmoid(2.46, -7.13), deviation=0.006)
_BY_MEANING: Final = ScoreCurve(Sigmoid(3.25, -7.93), deviation=0.024, nearest=0.7)


class _RowWeights(msgspec.Struct):
    """What is learned of one kind of likeness: `weights` are rows x agents of float32."""

    weights: Any
    curve: ScoreCurve


def fit(training: TrainingData) -> LearnedRouter | Awaitable[MeantRouter]:
    """Return a router of cards and labels, with an encoder's vectors if there is one."""
    labels = [make_router_label(one) for one in training.labelled if one.agents]
    if training.encoder is None:
        return LearnedRouter(training.cards, labels)
    return _fit_with_meaning(training, labels)


async def _fit_with_meaning(training: TrainingData, labels: list[RouterLabel]) -> MeantRouter:
    assert training.encoder is not None
    router = LearnedRouter(training.cards, labels)
    texts = [*router.fixed_texts, *(one.text for one in labels)]
    router.learn_meaning(await embed_texts(training.encoder, texts))
    return MeantRouter(router, await trained_meanings(training.encoder))


class LearnedRouter:
    """Scores agents by cards and labels; `learn` is seen by the next question.

    Agents have a card or are named by a label. `vectors` are used where they contain the text of
    the question; the vectors of the cards are then needed once.
    """

    def __init__(
        self,
        cards: Sequence[Card] = (),
        labels: Iterable[RouterLabel] = (),
    ) -> None:
        known = check_cards(cards) if cards else []
        self._agents: list[str] = [card.name for card in known]
        most = max(1, _MOST_ROWS // 2 // max(1, len(known)))
        self._card_rows = [(text, card.name) for card in known for text in _card_texts(card)[:most]]
        self._lessons: list[RouterLabel] = []
        self._row_lessons: list[int] = []
        self._row_vectors: Any = None
        self._meant: _RowWeights | None = None
        self._latest: tuple[Any, Any, Any] = (None, None, None)
        self.relearn(labels)

    @property
    def agents(self) -> Sequence[str]:
        """The names of all agents: first agents with cards, then agents known from labels only."""
        return self._agents

    @property
    def lessons(self) -> Sequence[RouterLabel]:
        """All learned labels, the oldest first."""
        return self._lessons

    @property
    def fixed_texts(self) -> list[str]:
        """The texts of cards whose vectors are needed once, where none were learned yet."""
        return [] if self._meant else [text for text, _ in self._card_rows]

    @property
    def texts(self) -> list[str]:
        """The texts of all rows: cards, then labels."""
        return [
            *(text for text, _ in self._card_rows),
            *(self._lessons[number].text for number in self._row_lessons),
        ]

    def learn(
        self, question: str | UserQuestion, agents: Mapping[str, float] | Iterable[str]
    ) -> RouterLabel:
        """Learn which agents are right for a question (none: nobody); the next `route` sees it."""
        text = question if isinstance(question, str) else question.text
        shares = dict(agents) if isinstance(agents, Mapping) else dict.fromkeys(agents, 1.0)
        if wrong := next((name for name, share in shares.items() if not 0 <= share <= 1), None):
            raise BadInput(f"{shares[wrong]!r} is not from 0 to 1", field=f"agents.{wrong}")
        lesson = RouterLabel(text, shares or dict.fromkeys(self._agents, 0.0))
        self.learn_all([lesson])
        return lesson

    def learn_all(self, lessons: Iterable[RouterLabel]) -> None:
        """Learn labels; many labels are learned together, with the vectors of the rows before."""
        new = [*lessons]
        if len(new) > _NEAR_ROWS and len(new) * _CHEAP_ROWS > len(self._index):
            texts = self.texts if self._meant else ()
            vectors = dict(zip(texts, self._row_vectors, strict=False)) if self._meant else {}
            self.relearn([*self._lessons, *new])
            if vectors:
                self.learn_meaning(vectors)
            return
        for lesson in new:
            self._add(lesson)

    def relearn(self, labels: Iterable[RouterLabel]) -> None:
        """Learn cards and these labels from scratch, by their words."""
        self._lessons = list(labels)
        for lesson in self._lessons:
            self._meet(lesson)
        places = np.arange(len(self._lessons))
        if len(places) > _MOST_ROWS:
            places = places[-_MOST_ROWS:]
        self._row_lessons = places.tolist()
        texts = self.texts
        self._meant = None
        self._index, self._trained = TextIndex.of_texts(texts), len(texts)
        self._words = self._solve_weights(self._likeness_of_rows(), _BY_WORDS)
        self._latest = (None, None, None)

    def learn_meaning(self, vectors: Vectors) -> None:
        """Learn cards and labels anew by the vectors of their texts, where there are some."""
        none = np.zeros_like(next(iter(vectors.values())))
        rows = np.array([vectors.get(text, none) for text in self.texts], np.float32)
        self._row_vectors = rows
        words = self._likeness_of_rows()
        known = rows.any(axis=1)
        both = _MEANING * (rows @ rows.T) + (1 - _MEANING) * words
        likeness = np.where(np.outer(known, known), both, words)
        self._meant = self._solve_weights(likeness, _BY_MEANING)

    def route(self, question: UserQuestion) -> list[Pairing]:
        """Return a pairing for every agent, the best first."""
        return pairings(self, question)

    def probabilities(self, text: str, vectors: Vectors = NO_VECTORS) -> list[float]:
        """Return the probability of each agent."""
        _, head = self._kernel(text, vectors)
        return head.curve.probabilities(self.scores(text, vectors))

    def scores(self, text: str, vectors: Vectors = NO_VECTORS) -> Any:
        """Return the score of each agent."""
        kernel, head = self._kernel(text, vectors)
        scores = kernel @ head.weights
        if head.curve.nearest:
            place = {agent: n for n, agent in enumerate(self._agents)}
            owners = [place[agent] for _, agent in self._card_rows]
            nearest = head.curve.nearest * kernel[: len(owners)]
            np.maximum.at(scores, owners, scores[owners] + nearest)
        return scores

    def reason(self, text: str, agent: str, vectors: Vectors = NO_VECTORS) -> str:
        """Quote the question or sentence with the largest score for an agent."""
        kernel, head = self._kernel(text, vectors)
        gains = kernel * head.weights[:, self._agents.index(agent)]
        best = int(np.argmax(gains)) if len(gains) else 0
        if not len(gains) or kernel[best] <= np.exp(-_SHARPNESS):
            return "right most often" if self._lessons else "no card speaks of this"
        is_card = best < len(self._card_rows)
        quoted = self._card_rows[best][0] if is_card else self._row_lesson(best).text
        quoted = quoted if len(quoted) <= 80 else f"{quoted[:79]}…"
        return f"its card: {quoted}" if is_card else f"right for: {quoted}"

    def to_model(self, card: TrainingCard | None = None) -> Model:
        """Return a model to be saved; single labels are learned together first."""
        if len(self._index) > self._trained:
            self.relearn(self._lessons)
        meant = self._meant
        heads = {"words": self._words} | ({} if meant is None else {"meant": meant})
        arrays = {
            f"{name}_weights": np.ascontiguousarray(one.weights, "<f4")
            for name, one in heads.items()
        }
        if meant is not None:
            arrays["row_vectors"] = np.ascontiguousarray(self._row_vectors, "<f4")
        return Model(
            role="router",
            method=_NAME,
            agents=list(self._agents),
            settings={name: msgspec.to_builtins(one.curve) for name, one in heads.items()},
            parts={
                "lessons": msgspec.to_builtins(self._lessons),
                "cards": self._card_rows,
                "row_lessons": self._row_lessons,
                **self._index.parts(),
            },
            arrays={**arrays, **self._index.arrays()},
            card=card or training_card(len(self._lessons)),
        )

    @classmethod
    def of_model(
        cls,
        model: Model,
        cards: Sequence[Card] = (),
    ) -> LearnedRouter:
        """Make the router of a model, of which cards change nothing; `ConfigError` if not its."""
        router = cls()
        try:
            router._restore(model)
        except (KeyError, ValueError, TypeError, IndexError, msgspec.ValidationError) as error:
            raise ConfigError(
                f"the model {model.id} is not a model of learned: {error!r}"
            ) from None
        return router

    @classmethod
    def of_cards(cls, cards: Sequence[Card]) -> LearnedRouter:
        """Make a router without lessons."""
        return cls(cards)

    def _restore(self, model: Model) -> None:
        self._agents = list(model.agents)
        self._card_rows = msgspec.convert(model.parts["cards"], list[tuple[str, str]])
        self._lessons = msgspec.convert(model.parts["lessons"], list[RouterLabel])
        self._row_lessons = msgspec.convert(model.parts["row_lessons"], list[int])
        size = self._trained = len(self._card_rows) + len(self._row_lessons)
        if any(not 0 <= row < len(self._lessons) for row in self._row_lessons):
            raise ValueError("rows without a label")
        self._index = TextIndex.of_parts(model.parts, model.arrays, size)
        heads = {}
        for name in ("words", "meant")[: 1 + ("meant" in model.settings)]:
            weights = model.arrays[f"{name}_weights"]
            if weights.shape != (size, len(self._agents)):
                raise ValueError(f"{weights.shape} weights")
            heads[name] = _RowWeights(weights, msgspec.convert(model.settings[name], ScoreCurve))
        self._words, self._meant = heads["words"], heads.get("meant")
        if self._meant is not None:
            mark = EncoderMark.of_model(model)
            self._row_vectors = model.arrays["row_vectors"]
            if mark is None or self._row_vectors.shape != (size, mark.width):
                raise ValueError(f"{self._row_vectors.shape} vectors")

    def _likeness_of_rows(self) -> Any:
        rows = [self._index.likeness(text) for text in self.texts]
        return np.array(rows, np.float32).reshape(len(rows), len(rows))

    def _solve_weights(self, likeness: Any, alone: ScoreCurve) -> _RowWeights:
        """Solve for the weights of all rows, and fit the curve on labels held out.

        `alone` is the curve where there are too few.
        """
        targets, weights = self._targets()
        if not len(targets):
            return _RowWeights(targets, alone)
        kernel = np.exp(_SHARPNESS * (likeness - 1))
        kernel[np.diag_indices(len(kernel))] += _RIDGE / weights
        if len(kernel) <= _MOST_INVERTED:
            inverse = np.linalg.inv(kernel)
            solved = inverse @ targets
            curve = self._curve(inverse, solved, targets, np.arange(len(kernel)))
            return _RowWeights(solved.astype(np.float32), curve or alone)
        solved = np.linalg.solve(kernel, targets)
        some = np.random.default_rng(0).permutation(np.arange(len(self._card_rows), len(kernel)))
        some = np.concatenate([np.arange(len(self._card_rows)), some])[:_MOST_INVERTED]
        inverse = np.linalg.inv(kernel[np.ix_(some, some)])
        curve = self._curve(inverse, inverse @ targets[some], targets[some], some)
        return _RowWeights(solved.astype(np.float32), curve or alone)

    def _targets(self) -> tuple[Any, Any]:
        """Return how right each agent is for each row, and the weight of each row."""
        place = {agent: n for n, agent in enumerate(self._agents)}
        cards = len(self._card_rows)
        targets = np.zeros((cards + len(self._row_lessons), len(place)), np.float32)
        weights = np.ones(len(targets), np.float32)
        for row, (_, agent) in enumerate(self._card_rows):
            targets[row, place[agent]] = 1.0
        for row, number in enumerate(self._row_lessons, cards):
            lesson = self._lessons[number]
            weights[row] = max(lesson.weight, 1e-3)
            for agent, share in lesson.agents.items():
                targets[row, place[agent]] = share
        return targets, weights

    def _curve(self, inverse: Any, solved: Any, targets: Any, rows: Any) -> ScoreCurve | None:
        """Fit the curve to the scores of labels that are held out with their near duplicates.

        Return None for too few labels. Where no label says that nobody is right, each label is
        scored once more without its agents, and stands for such questions.
        """
        labels = np.flatnonzero(rows >= len(self._card_rows))
        texts = self.texts
        groups = np.array(near_duplicates([texts[rows[n]] for n in labels]))
        if len(set(groups.tolist())) < _LEAST_GROUPS:
            return None
        scores, right, weights = [], [], []
        for group in _members(groups):
            here = labels[group]
            scores.append(_held_out(inverse, solved, targets, here))
            right.append(targets[here])
            weights += [self._row_lesson(int(rows[n])).weight for n in here]
        found = _Ranked(np.concatenate(scores), np.concatenate(right), np.array(weights))
        shares = targets[labels].max(axis=1, initial=0.0)
        if not (shares <= 0).any():
            owners = targets.argmax(axis=1)
            for group in _members(owners):
                known = group[np.isin(group, labels)]
                if len(known):
                    scored = _held_out(inverse, solved, targets, group)[np.isin(group, labels)]
                    scored[targets[known] > 0] = -np.inf
                    found.nobody.append(scored)
        return found.curve()

    def _row_lesson(self, row: int) -> RouterLabel:
        return self._lessons[self._row_lessons[row - len(self._card_rows)]]

    def _meet(self, lesson: RouterLabel) -> None:
        for agent in lesson.agents:
            if agent not in self._agents:
                self._agents.append(agent)

    def _add(self, lesson: RouterLabel) -> None:
        """Learn one label: the weights of the most similar rows change, and its own.

        The scores of those rows and of the label are then those of a regression over them, with the
        weights of the other rows as they were.
        """
        before = len(self._agents)
        self._meet(lesson)
        self._lessons.append(lesson)
        self._row_lessons.append(len(self._lessons) - 1)
        self._index.add(lesson.text)
        likeness = self._index.likeness(lesson.text)
        near = np.argsort(-likeness[:-1], kind="stable")[:_NEAR_ROWS]
        block = [*near.tolist(), len(likeness) - 1]
        texts = self.texts
        among = np.array([self._index.likeness(texts[row])[block] for row in block])
        kernel = np.exp(_SHARPNESS * (among - 1))
        ridges = [self._ridge(row) for row in block]
        solved = np.linalg.solve(kernel + np.diag(ridges), np.eye(len(block))[:, -1])
        wanted = np.array([lesson.agents.get(agent, 0.0) for agent in self._agents])
        for head in filter(None, (self._words, self._meant)):
            more = len(self._agents) - before
            weights = np.pad(head.weights, ((0, 1), (0, more)))
            said = np.exp(_SHARPNESS * (likeness - 1)) @ weights
            weights[block] += np.outer(solved, wanted - said).astype(np.float32)
            head.weights = weights

    def _ridge(self, row: int) -> float:
        if row < len(self._card_rows):
            return _RIDGE
        return _RIDGE / max(self._row_lesson(row).weight, 1e-3)

    def _kernel(self, text: str, vectors: Vectors) -> tuple[Any, _RowWeights]:
        """Return the kernel of a text with each row, and the weights to multiply it with.

        Cached for the latest text, which `reason` reads.
        """
        key = text, text in vectors, len(self._index)
        if self._latest[0] != key:
            self._latest = key, *self._make_kernel(text, vectors)
        return self._latest[1:]

    def _make_kernel(self, text: str, vectors: Vectors) -> tuple[Any, _RowWeights]:
        likeness, head = self._index.likeness(text), self._words
        if (vector := vectors.get(text)) is not None and self._knows(vectors):
            assert self._meant is not None
            head, known = self._meant, len(self._row_vectors)
            meant = self._row_vectors @ vector
            meaning = np.where(self._row_vectors.any(axis=1), _MEANING, 0.0)
            likeness[:known] += meaning * (meant - likeness[:known])
        return np.exp(_SHARPNESS * (likeness - 1)), head

    def _knows(self, vectors: Vectors) -> bool:
        """Return whether rows have vectors; without a model, those of cards come with a text."""
        texts = self.fixed_texts
        if texts and all(text in vectors for text in texts):
            self.learn_meaning(vectors)
        return self._meant is not None


class _Ranked:
    """Scores of held-out labels: rows x agents, how right each is, and weights."""

    def __init__(self, scores: Any, right: Any, weights: Any) -> None:
        self._scores, self._right, self._weights = scores, right, weights
        self.nobody: list[Any] = []

    def curve(self) -> ScoreCurve:
        """Fit the curve to the agent of the highest score, which would answer."""
        best = self._scores.argmax(axis=1)[:, None]
        scores = np.take_along_axis(self._scores, best, 1)[:, 0]
        right = np.take_along_axis(self._right, best, 1)[:, 0]
        weights = self._weights
        if self.nobody:
            unknown = np.concatenate(self.nobody).max(axis=1)
            share = float(weights.sum()) * _NOBODY / (1 - _NOBODY) / len(unknown)
            known = np.isfinite(unknown)
            scores = np.concatenate([scores, unknown[known]])
            right = np.concatenate([right, np.zeros(int(known.sum()))])
            weights = np.concatenate([weights, np.full(int(known.sum()), share)])
        logs = np.arcsinh(scores / _SMALL)
        crowd = max(1.0, self._scores.shape[0] / self._scores.shape[1] / _FEW_LABELS)
        fitted = fit_sigmoid(
            logs,
            right,
            weights,
            least_slope=_LEAST_SLOPE,
            usual=_USUAL_CURVE,
            strength=(_SLOPE_STRENGTH / crowd**2, 0.0),
        )
        return ScoreCurve(fitted, deviation=0.0)


def _held_out(inverse: Any, solved: Any, targets: Any, rows: Any) -> Any:
    """Return the scores of some rows by a machine without these rows, in closed form."""
    if len(rows) == 1:
        return targets[rows] - solved[rows] / inverse[rows[0], rows[0]]
    return targets[rows] - np.linalg.solve(inverse[np.ix_(rows, rows)], solved[rows])


def _members(groups: Any) -> list[Any]:
    """Return the places of each group."""
    order = np.argsort(groups, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(groups[order])) + 1)


def _card_texts(card: Card) -> list[str]:
    """Return name and whole description of a card, then its sentences and examples."""
    name = spoken_name(card.name) or card.name
    whole = [f"{name}: {card.description}"] if card.description else []
    return [*whole, name, *documents(card)]


METHOD: Final = PairingMethod(fit=fit, needs=LABELS, uses=ENCODER, reader=LearnedRouter)
