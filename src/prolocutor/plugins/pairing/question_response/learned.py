"""The learned ranker: boosted trees and a linear model over features without names of agents."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise
from math import log, sqrt
from typing import Any, Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from prolocutor.contracts.pairing import AgentAnswer, Card, Pairing, UserQuestion
from prolocutor.errors import ConfigError
from prolocutor.plugins.pairing.agent_log import AgentLog, LogCounts
from prolocutor.plugins.pairing.answer_features import NAMES, answer_traits, features
from prolocutor.plugins.pairing.answer_meaning import NAMES as MEANING_NAMES
from prolocutor.plugins.pairing.answer_meaning import MeaningMemory
from prolocutor.plugins.pairing.calibration import Sigmoid
from prolocutor.plugins.pairing.encoders.meanings import NO_VECTORS, Vectors
from prolocutor.plugins.pairing.method_catalog import ENCODER, LABELS, PairingMethod
from prolocutor.plugins.pairing.model_files import Model, TrainingCard
from prolocutor.plugins.pairing.question_response.unsupervised import rank_pairings

_LENGTH_STEP: Final = 4
_MAX_LENGTH_STEPS: Final = 9

DEPTH: Final = 3
NODES: Final = 2**DEPTH - 1
LEAVES: Final = 2**DEPTH
_BLOCK: Final = 64

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]
Rows = Floats | Singles
"""Features, rows x features; in training they are stored in half the room."""

_TREE_ARRAYS: Final = {"feature": "<i4", "threshold": "<f8", "leaf": "<f8"}

_NAME: Final = "learned"
COLUMNS: Final = (*NAMES, "wording", "lead_wording")
MEANT_COLUMNS: Final = (*COLUMNS, *MEANING_NAMES)
"""The names of the features, in order: without an encoder, and with one."""

_WIDEST: Final = 5.0
"""Standard deviations from the mean beyond which a feature is cut."""

_REASONS: Final = {
    "likeness to the question": "covered grams_covered",
    "what the router thinks of its agent": "prior prior_logit",
    "its wording": "wording lead_wording",
    "refusing": "refusal",
    "how often its agent says so": "verbatim shape opening meant_usual",
    "how often others say so": "others",
    "agreement of others": "agreement meant_agreement meant_agreements",
    "its meaning": "meant lead_meant",
    "what its agent is for": "meant_card meant_by_card",
    "what its agent answered well": "meant_well lead_meant_well",
}
_WORDS: Final = {name: words for words, names in _REASONS.items() for name in names.split()}


class StyleModel:
    """A linear model over an answer's terms: TF-IDF of norm 1, times weights, plus an offset.

    `terms` maps a term to its inverse document frequency and its weight.
    """

    def __init__(self, terms: dict[str, tuple[float, float]], offset: float) -> None:
        self.terms, self.offset = terms, offset

    def score(self, text: str) -> float:
        """Return the score of an answer, about a logit that it is right by its words alone."""
        total = norm = 0.0
        for term, times in term_counts(text).items():
            known = self.terms.get(term)
            if known is not None:
                value = (1 + log(times)) * known[0]
                norm += value * value
                total += value * known[1]
        return self.offset + (total / sqrt(norm) if norm else 0.0)


def term_counts(text: str) -> Counter[str]:
    """Count an answer's words and word pairs, and add one term for its length (`#0` to `#9`)."""
    found = answer_traits(text).words
    terms = Counter(found)
    terms.update(f"{first} {second}" for first, second in pairwise(found))
    terms[f"#{min(_MAX_LENGTH_STEPS, len(found) // _LENGTH_STEP)}"] += 1
    return terms


class TreeEnsemble:
    """Complete trees of depth 3: node n has the children 2n + 1 (<= threshold) and 2n + 2 (>).

    `feature` and `threshold` are trees x 7, `leaf` is trees x 8; what is predicted is the sum of
    one leaf a tree.
    """

    def __init__(self, feature: NDArray[np.int32], threshold: Floats, leaf: Floats) -> None:
        self.feature, self.threshold, self.leaf = feature, threshold, leaf
        self._features = feature.ravel()
        self._thresholds = threshold.ravel()
        self._starts = np.arange(len(leaf)) * LEAVES
        self._leaves = leaf.ravel()

    def predict(self, rows: Rows) -> Floats:
        """Return a prediction for each row of features, block by block, so that memory is bounded.

        All trees are walked level by level with array operations instead of branches.
        """
        if len(rows) <= _BLOCK:
            return self._predict(rows)
        parts = [self._predict(rows[at : at + _BLOCK]) for at in range(0, len(rows), _BLOCK)]
        return np.concatenate(parts)

    def _predict(self, rows: Rows) -> Floats:
        more = (rows[:, self._features] > self._thresholds).reshape(len(rows), -1, NODES)
        first = more[:, :, 0]
        second = np.where(first, more[:, :, 2], more[:, :, 1])
        low = np.where(second, more[:, :, 4], more[:, :, 3])
        high = np.where(second, more[:, :, 6], more[:, :, 5])
        leaf = first * 4 + second * 2 + np.where(first, high, low)
        found: Floats = self._leaves[leaf + self._starts].sum(axis=1)
        return found

    def arrays(self) -> dict[str, Any]:
        """Return the trees as a model's arrays."""
        return {
            f"trees_{name}": np.ascontiguousarray(getattr(self, name), dtype)
            for name, dtype in _TREE_ARRAYS.items()
        }

    @classmethod
    def of_arrays(cls, arrays: Mapping[str, Any]) -> TreeEnsemble:
        """Return the trees of a model's arrays."""
        return cls(*(arrays[f"trees_{name}"] for name in _TREE_ARRAYS))


def joined(forests: list[TreeEnsemble], share: float) -> TreeEnsemble:
    """Return all trees as one, whose prediction is the sum of theirs times `share`."""
    return TreeEnsemble(
        np.concatenate([one.feature for one in forests]),
        np.concatenate([one.threshold for one in forests]),
        np.concatenate([one.leaf for one in forests]) * share,
    )


def unpack_tree(node: dict[str, Any]) -> tuple[list[int], list[float], list[float]]:
    """Fill one tree, as LightGBM dumps it, up to depth 3: features, thresholds, leaves."""
    feature, threshold, leaf = [0] * NODES, [np.inf] * NODES, [0.0] * LEAVES
    _fill(node, 0, 0, feature, threshold, leaf)
    return feature, threshold, leaf


def _fill(
    node: dict[str, Any],
    place: int,
    depth: int,
    feature: list[int],
    threshold: list[float],
    leaf: list[float],
) -> None:
    if depth == DEPTH:
        leaf[place - NODES] = float(node["leaf_value"])
        return
    inner = "split_feature" in node
    if inner:
        feature[place], threshold[place] = int(node["split_feature"]), float(node["threshold"])
    for side, child in ((1, "left_child"), (2, "right_child")):
        below = node[child] if inner else node
        _fill(below, 2 * place + side, depth + 1, feature, threshold, leaf)


class LinearScore(msgspec.Struct, frozen=True):
    """A linear model over features, standardised to mean 0 and deviation 1 and clipped to +-5."""

    mean: Floats
    deviation: Floats
    weight: Floats
    offset: float

    def terms(self, rows: Rows) -> Floats:
        """Return the contribution of each feature, rows x features."""
        scaled = np.clip((rows - self.mean) / self.deviation, -_WIDEST, _WIDEST)
        found: Floats = scaled * self.weight
        return found


class LearnedBlend(msgspec.Struct, frozen=True):
    """The parts of the learned ranker; `linear_share` is the weight of the linear model.

    `sigmoid` turns a score into a probability.
    """

    agent_log: AgentLog
    wording: StyleModel
    forest: TreeEnsemble
    linear: LinearScore
    linear_share: float
    sigmoid: Sigmoid
    memory: MeaningMemory | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the features."""
        return COLUMNS if self.memory is None else MEANT_COLUMNS


class LearnedRanker:
    """Ranks answers by their features, independently of the agent."""

    def __init__(self, blend: LearnedBlend, agents: Sequence[str]) -> None:
        self.agents: Sequence[str] = list(agents)
        self.fixed_texts: Sequence[str] = blend.memory.fixed_texts if blend.memory else ()
        self._blend = blend

    def rank(
        self,
        question: UserQuestion,
        answers: Sequence[AgentAnswer],
        prior: Mapping[str, float],
        vectors: Vectors = NO_VECTORS,
    ) -> list[Pairing]:
        """Return a pairing for every answer, the best first; `vectors` are read if it can."""
        if not answers:
            return []
        blend = self._blend
        given = features(question, answers, prior, blend.agent_log)
        rows = add_style(given, [blend.wording.score(answer.text) for answer in answers])
        if blend.memory is not None:
            meant = blend.memory.rows(question.text, answers, vectors)
            rows = np.column_stack([rows, np.asarray(meant, dtype=float)])
        terms = blend.linear.terms(rows)
        scores = score_answers(blend, rows, terms)
        probabilities = [blend.sigmoid(float(score)) for score in scores]
        reasons = [_reason(term, blend.columns) for term in terms]
        return rank_pairings(answers, probabilities, reasons, [float(score) for score in scores])

    def to_model(self, card: TrainingCard) -> Model:
        """Return the learned ranker as a model to save."""
        blend, memory = self._blend, self._blend.memory
        return Model(
            role="ranker",
            method=_NAME,
            agents=list(self.agents),
            settings={
                "columns": list(blend.columns),
                "linear_share": blend.linear_share,
                "linear_offset": blend.linear.offset,
                "sigmoid": msgspec.to_builtins(blend.sigmoid),
            },
            parts={
                "log": msgspec.to_builtins(blend.agent_log.counts()),
                "wording": {"offset": blend.wording.offset, "terms": blend.wording.terms},
                **({} if memory is None else {"meaning": memory.part()}),
            },
            arrays={
                **blend.forest.arrays(),
                "linear": np.stack(
                    [blend.linear.mean, blend.linear.deviation, blend.linear.weight]
                ),
                **({} if memory is None else memory.arrays()),
            },
            card=card,
        )

    @classmethod
    def of_model(cls, model: Model, cards: Sequence[Card] = ()) -> LearnedRanker:
        """Make the ranker of a model, which ranks agents new to it too.

        Cards are compared with where it reads vectors. `ConfigError` if the model is another's, or
        was trained on other features.
        """
        try:
            return cls(_restore_blend(model, cards), model.agents)
        except (KeyError, ValueError, TypeError) as error:
            raise ConfigError(f"the model {model.id} is not a learned ranker: {error!r}") from None


def add_style(rows: Sequence[Sequence[float]] | Floats, wording: Sequence[float]) -> Floats:
    """Add the style scores of one question's answers to their features, and the lead of each."""
    styles = np.asarray(wording, dtype=float)
    return np.column_stack([np.asarray(rows, dtype=float), styles, styles - styles.max()])


def score_answers(blend: LearnedBlend, rows: Rows, terms: Floats) -> Floats:
    """Return the score of each answer: trees, and a share of the linear model."""
    line = terms.sum(axis=1) + blend.linear.offset
    share = blend.linear_share
    found: Floats = (1 - share) * blend.forest.predict(rows) + share * line
    return found


def _restore_blend(model: Model, cards: Sequence[Card]) -> LearnedBlend:
    settings: dict[str, Any] = model.settings
    memory = MeaningMemory.of_model(model, cards)
    if tuple(settings["columns"]) != (COLUMNS if memory is None else MEANT_COLUMNS):
        raise ValueError("it was trained on other features; train it again")
    mean, deviation, weight = model.arrays["linear"]
    wording = model.parts["wording"]
    return LearnedBlend(
        agent_log=AgentLog.from_counts(msgspec.convert(model.parts["log"], LogCounts)),
        wording=StyleModel(
            {term: (idf, weight) for term, (idf, weight) in wording["terms"].items()},
            wording["offset"],
        ),
        forest=TreeEnsemble.of_arrays(model.arrays),
        linear=LinearScore(mean, deviation, weight, settings["linear_offset"]),
        linear_share=settings["linear_share"],
        sigmoid=msgspec.convert(settings["sigmoid"], Sigmoid),
        memory=memory,
    )


def _reason(terms: Floats, columns: Sequence[str]) -> str:
    """Return in words the two contributions of the largest size, for or against an answer."""
    said: dict[str, float] = {}
    for name, term in zip(columns, terms.tolist(), strict=True):
        if name in _WORDS:
            said[_WORDS[name]] = said.get(_WORDS[name], 0.0) + term
    first, second = sorted(said.items(), key=lambda pair: -abs(pair[1]))[:2]
    return "; ".join(f"{_side(term)} it: {words}" for words, term in (first, second))


def _side(term: float) -> str:
    return "for" if term >= 0 else "against"


METHOD: Final = PairingMethod(
    fit="prolocutor.plugins.pairing.question_response.learned_training:fit",
    needs=LABELS,
    uses=ENCODER,
    reader=LearnedRanker,
)
