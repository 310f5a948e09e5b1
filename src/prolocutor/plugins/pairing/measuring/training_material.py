"""The lessons from which a model in use is trained anew, and fitting on parts of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import msgspec

from prolocutor.contracts.model_use import TrainingOrder
from prolocutor.contracts.pairing import AgentAnswer, Card, LabelledQuestion, Pairing, TrainingData
from prolocutor.errors import BadInput, ConfigError, MissingExtra
from prolocutor.plugins.pairing.measuring.fitting import (
    Priors,
    await_result,
    fit_method,
    unseen_priors,
)
from prolocutor.plugins.pairing.measuring.pairing_data import load_pairing_data
from prolocutor.plugins.pairing.method_catalog import load_fit
from prolocutor.plugins.pairing.model_files import Model
from prolocutor.plugins.pairing.question_agent.router_label import RouterLabel

_LEARNED: Final = "learned"
_LESSONS: Final = "lessons"


class _Learned(msgspec.Struct, frozen=True):
    """The part of a model with its lessons: `base` from data, and the ids of operators' labels."""

    base: list[LabelledQuestion] = []
    labels: list[str] = []


class Material(msgspec.Struct, frozen=True, kw_only=True):
    """Lessons in order: the base, thumbs (`rated` of them), operators' labels.

    `fresh` says of each whether the model in use had not learned it.
    """

    name: str
    cards: list[Card]
    lessons: list[LabelledQuestion]
    fresh: list[bool]
    base: int
    rated: int
    labels: list[str]

    def __len__(self) -> int:
        return len(self.lessons)

    @property
    def has_base(self) -> bool:
        """Whether the lessons of the model in use are known."""
        return self.base > 0 or not all(self.fresh[self.base + self.rated :])

    @property
    def prices(self) -> dict[str, float]:
        """The price of a call by agent."""
        return {card.name: card.price or 0.0 for card in self.cards}

    def label_of(self, place: int) -> str | None:
        """Return the id of the label of a lesson, "" for one of the base, None for a thumb."""
        if place < self.base:
            return ""
        number = place - self.base - self.rated
        return None if number < 0 else self.labels[number]

    def parts(self) -> dict[str, Any]:
        """Return the part of the new model with its lessons."""
        learned = _Learned(self.lessons[: self.base], sorted(set(self.labels)))
        return {_LEARNED: msgspec.to_builtins(learned)}


def gather_material(
    order: TrainingOrder, live: Model | None, rated: Sequence[LabelledQuestion]
) -> Material:
    """Return what is learned from; an operator's label takes the place of thumbs on the same words.

    Raise `BadInput` if there is too little.
    """
    known = _learned_lessons(live)
    base = known.base
    if order.data:
        loaded = [load_pairing_data(spec, order.cards) for spec in order.data]
        base = [one for data in loaded for one in (*data.learn, *data.test)]
        _check_agents(order.data, order.cards, base)
    labels = order.labels
    thumbs = [*order.rated, *rated]
    if order.role == "ranker":
        base, thumbs = (_keep_answered(some) for some in (base, thumbs))
        labels = [one for one in labels if one.question.answers]
    labelled = {one.question.question.text for one in labels}
    base, thumbs = (
        [one for one in some if one.question.text not in labelled and one.agents]
        for some in (base, thumbs)
    )
    seen = frozenset(known.labels)
    lessons = [*base, *thumbs, *(one.question for one in labels)]
    cards = _cards(order.cards, lessons)
    _check(order, cards, lessons)
    return Material(
        name=", ".join(order.data) or "what the one before learned, and labels",
        cards=cards,
        lessons=lessons,
        fresh=[False] * (len(base) + len(thumbs)) + [one.id not in seen for one in labels],
        base=len(base),
        rated=len(thumbs),
        labels=[one.id for one in labels],
    )


def _learned_lessons(live: Model | None) -> _Learned:
    """Return the lessons in a model; empty for a model without lessons."""
    if live is None:
        return _Learned()
    try:
        if _LEARNED in live.parts:
            return msgspec.convert(live.parts[_LEARNED], _Learned)
        lessons = msgspec.convert(live.parts.get(_LESSONS, []), list[RouterLabel])
    except msgspec.ValidationError as error:
        what = f"the model {live.id} does not say what it learned: {error}"
        raise ConfigError(what) from None
    return _Learned([one.labelled for one in lessons])


def _keep_answered(labelled: Sequence[LabelledQuestion]) -> list[LabelledQuestion]:
    return [one for one in labelled if one.answers]


def _cards(own: Sequence[Card], lessons: Sequence[LabelledQuestion]) -> list[Card]:
    have = {card.name: card for card in own}
    for one in lessons:
        for name in one.agents:
            have.setdefault(name, Card(name=name))
    return list(have.values())


def _check_agents(
    data: Sequence[str], cards: Sequence[Card], lessons: Sequence[LabelledQuestion]
) -> None:
    """Raise `BadInput` if data name agents, but none of the assistant: labels may be texts."""
    named = {name for one in lessons for name in one.agents}
    if cards and named and named.isdisjoint(card.name for card in cards):
        what = (
            f"the labels of {', '.join(data)} name no agent of this assistant: {min(named)[:60]!r}"
        )
        raise BadInput(f"{what}; give names of agents as labels", field="what")


def _check(order: TrainingOrder, cards: list[Card], lessons: list[LabelledQuestion]) -> None:
    if len(cards) < 2:
        raise BadInput(f"there are {len(cards)} agents, and a choice needs two", field="what")
    if not any(one.gold for one in lessons):
        with_answers = " and answers" if order.role == "ranker" else ""
        what = f"no question with a right agent{with_answers} is there to learn from"
        raise BadInput(f"{what}: label some first", field="what")


_PRIOR: Final = "learned"
_FREE: Final = "cards"


class Refitting:
    """Fits methods on some of the lessons, by their places, and lets them choose.

    `priors` are a router's probabilities for each lesson of a ranker; None for a router.
    """

    def __init__(self, order: TrainingOrder, material: Material, priors: Priors | None) -> None:
        self._order, self._material, self._priors = order, material, priors

    @classmethod
    async def of(cls, order: TrainingOrder, material: Material) -> Refitting:
        """Return the fitting of the method that an order names."""
        if order.role == "router":
            return cls(order, material, None)
        training = TrainingData(cards=material.cards, labelled=material.lessons, seed=order.seed)
        return cls(
            order, material, await unseen_priors(prior_router(material), training, order.folds)
        )

    async def fit(self, places: Sequence[int], method: str = "") -> Any:
        """Return a method that has learned these lessons; `method` replaces the order's."""
        training = TrainingData(
            cards=self._material.cards,
            labelled=[self._material.lessons[place] for place in places],
            priors=[self._priors[place] for place in places] if self._priors else [],
            seed=self._order.seed,
        )
        return await fit_method(self._order.role, method or self._order.method, training)

    async def choose(self, method: Any, place: int) -> Sequence[Pairing]:
        """Return its pairings for the question of a lesson, the best first."""
        one = self._material.lessons[place]
        if self._priors is None:
            found: Sequence[Pairing] = await await_result(method.route(one.question))
            return found
        answers = [AgentAnswer(agent=name, text=text) for name, text in one.answers.items()]
        ranked: Sequence[Pairing] = await await_result(
            method.rank(one.question, answers, self._priors[place])
        )
        return ranked


def prior_router(material: Material) -> str:
    """Return the router whose probabilities a ranker learns to weigh."""
    if not any(one.gold for one in material.lessons):
        return _FREE
    try:
        load_fit(_PRIOR, "router")
    except MissingExtra:
        return _FREE
    return _PRIOR
