"""LoadedRouter: a router from a model's folder, for the present agents of the assistant."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Protocol

import msgspec

from prolocutor.contracts.pairing import AgentAnswer, Card, Pairing, Ranker, UserQuestion
from prolocutor.errors import ConfigError
from prolocutor.plugins.pairing.encoders.meanings import (
    NO_VECTORS,
    EncoderWiring,
    Meanings,
    Vectors,
    note_fault,
    open_meanings,
)
from prolocutor.plugins.pairing.method_catalog import read_method
from prolocutor.plugins.pairing.model_files import (
    Model,
    TrainingCard,
    agents_that_differ,
    load_model,
)
from prolocutor.plugins.pairing.question_agent.follow_ups import (
    TextScorer,
    pairings,
    question_texts,
)
from prolocutor.plugins.pairing.question_agent.newcomers import NewAgents, lesson_share
from prolocutor.plugins.pairing.question_agent.router_label import RouterLabel

_ENOUGH: Final = 50


class MeaningRanker(Protocol):
    """Ranks by words, and by vectors where these have question and answers."""

    def rank(
        self,
        question: UserQuestion,
        answers: Sequence[AgentAnswer],
        prior: Mapping[str, float],
        vectors: Vectors = NO_VECTORS,
    ) -> list[Pairing]:
        """Return a pairing for every answer, the best first."""


class _MeantMethod:
    """Asks an encoder for vectors, and goes by words alone where that fails."""

    def __init__(self, learned: Any, meanings: Meanings) -> None:
        self._learned, self._meanings = learned, meanings

    @property
    def agents(self) -> Sequence[str]:
        """The known agents by name."""
        agents: Sequence[str] = self._learned.agents
        return agents

    def to_model(self, card: TrainingCard) -> Model:
        """Return the learned model, with the fingerprint of the encoder."""
        model: Model = self._learned.to_model(card)
        return model if self._meanings.mark is None else self._meanings.mark.mark_model(model)


class MeantRouter(_MeantMethod):
    """A router by the vectors of a question and its words."""

    def __init__(self, scorer: TextScorer, meanings: Meanings) -> None:
        super().__init__(scorer, meanings)
        self._scorer = scorer

    async def route(self, question: UserQuestion) -> list[Pairing]:
        """Return a pairing for every agent, the best first."""
        meant = await self._meanings.encode(question_texts(question))
        return note_fault(pairings(self._scorer, question, meant.vectors), meant.fault)

    def learn_all(self, lessons: Iterable[RouterLabel]) -> None:
        """Learn stored labels, if the scorer learns online."""
        self._learned.learn_all(lessons)


class MeantRanker(_MeantMethod):
    """A ranker by the vectors of question and answers; `at_once` ranks by words alone."""

    def __init__(self, ranker: MeaningRanker, meanings: Meanings) -> None:
        super().__init__(ranker, meanings)
        self.at_once: Ranker = ranker
        self._ranker = ranker

    async def rank(
        self, question: UserQuestion, answers: Sequence[AgentAnswer], prior: Mapping[str, float]
    ) -> list[Pairing]:
        """Return a pairing for every answer, the best first."""
        if not answers:
            return []
        meant = await self._meanings.encode([question.text, *(one.text for one in answers)])
        ranked = self._ranker.rank(question, answers, prior, meant.vectors)
        return note_fault(ranked, meant.fault)


def attach_encoder(method: Any, model: Model, wired: EncoderWiring | None) -> Any:
    """Return the method of a model, which asks the encoder if the model was trained with one.

    Raise `ConfigError` if encoder and model do not belong together.
    """
    meanings = open_meanings(model, wired, getattr(method, "fixed_texts", ()))
    if meanings is None:
        return method
    return (MeantRouter if model.role == "router" else MeantRanker)(method, meanings)


class LoadedRouter(msgspec.Struct, frozen=True):
    """A router, its model (whose `id` is the version), and warnings to show."""

    router: PresentRouter | MeantRouter
    model: Model
    warnings: list[str]


def load_router_model(
    folder: str | Path,
    cards: Sequence[Card],
    wired: EncoderWiring | None = None,
) -> LoadedRouter:
    """Read a router's model; former agents are not routed to, new agents are `NewAgents`.

    `wired` is the encoder for a model trained with an encoder; `ConfigError` without it.
    """
    model = load_model(folder)
    if model.role != "router":
        raise ConfigError(f"is the model of a {model.role}, not of a router", file=str(folder))
    warnings = agents_that_differ(model, {card.name: card for card in cards})
    router = router_of_model(model, cards, wired, folder=Path(folder))
    return LoadedRouter(router, model, warnings)


def router_of_model(
    model: Model,
    cards: Sequence[Card],
    wired: EncoderWiring | None = None,
    *,
    folder: Path = Path(),
) -> PresentRouter | MeantRouter:
    """Return the router of a read model; errors name `folder`."""
    scorer = read_method(model, "router", cards, folder)
    present = PresentRouter(scorer, cards, settled_agents(model), model_lessons(model))
    meanings = open_meanings(model, wired, getattr(scorer, "fixed_texts", ()))
    return present if meanings is None else MeantRouter(present, meanings)


class PresentRouter:
    """Routes among the agents with cards, known agents by a model, new agents by `NewAgents`.

    `known` are the agents known to the model. Labels of new agents are learned here, all others by
    the scorer, if it learns online.
    """

    def __init__(
        self,
        scorer: TextScorer,
        cards: Sequence[Card],
        known: Collection[str],
        lessons: Sequence[RouterLabel] = (),
    ) -> None:
        self.agents: Sequence[str] = [card.name for card in cards]
        self._scorer = scorer
        new = [agent for agent in self.agents if agent not in known]
        self._newcomers = NewAgents(cards, new, lessons) if new else None
        self.new_agents: Sequence[str] = new
        self._learn = getattr(scorer, "learn_all", None)
        self._learn_new(one for one in lessons if self._speaks_of_new(one))

    def route(self, question: UserQuestion) -> list[Pairing]:
        """Return a pairing for every present agent, the best first."""
        return pairings(self, question)

    def probabilities(self, text: str, vectors: Vectors = NO_VECTORS) -> list[float]:
        """Return the probability of each agent."""
        found = self._found(text, vectors)
        if (newcomers := self._newcomers) is not None:
            worth = found.copy()
            for agent in newcomers.agents:
                found[agent] = newcomers.probability(text, agent, worth)
        return [found[agent] for agent in self.agents]

    def doubts(self) -> dict[str, float]:
        """Return how unsure the probabilities of new agents are."""
        newcomers = self._newcomers
        return {agent: newcomers.doubt(agent) for agent in newcomers.agents} if newcomers else {}

    def reason(self, text: str, agent: str, vectors: Vectors = NO_VECTORS) -> str:
        """Return why an agent goes with a text."""
        if self._newcomers is not None and agent in self.new_agents:
            return self._newcomers.reason(text, agent)
        return self._scorer.reason(text, agent, vectors)

    def learn_all(self, lessons: Iterable[RouterLabel]) -> None:
        """Learn stored labels, in their order."""
        new = []
        for lesson in lessons:
            if self._speaks_of_new(lesson):
                new.append(lesson)
            if self._learn is not None and self._speaks_of_known(lesson):
                self._learn([lesson])
        self._learn_new(new)

    def _speaks_of_new(self, lesson: RouterLabel) -> bool:
        return any(lesson_share(lesson, agent) is not None for agent in self.new_agents)

    def _speaks_of_known(self, lesson: RouterLabel) -> bool:
        """Return whether a label concerns known agents."""
        spoken = [agent for agent in lesson.agents if lesson_share(lesson, agent) is not None]
        return not spoken or not {*spoken} <= {*self.new_agents}

    def _learn_new(self, lessons: Iterable[RouterLabel]) -> None:
        if self._newcomers is not None:
            self._newcomers.learn(
                (lesson, self._found(lesson.text, NO_VECTORS)) for lesson in lessons
            )

    def _found(self, text: str, vectors: Vectors) -> dict[str, float]:
        """Return the model's probability of each known agent."""
        shares = self._scorer.probabilities(text, vectors)
        return dict(zip(self._scorer.agents, shares, strict=True))


def settled_agents(model: Model) -> frozenset[str]:
    """Return the agents known to a router's model.

    An agent with a few ratings alone, where others have full labels, is still new: labels from
    before it existed would count against it.
    """
    lessons = model_lessons(model)
    counts = Counter(agent for one in lessons for agent in one.agents)
    full = {agent for one in lessons if one.weight >= 1 for agent in one.agents}
    rated = {agent for agent, count in counts.items() if full and count < _ENOUGH} - full
    return frozenset(model.agents) - rated


def since_model(labels: Iterable[RouterLabel], model: Model) -> Iterator[RouterLabel]:
    """Return the labels unknown to a model."""
    learned = Counter(map(_content, model_lessons(model)))
    for label in labels:
        content = _content(label)
        if learned[content]:
            learned[content] -= 1
        else:
            yield label


def _content(label: RouterLabel) -> bytes:
    return msgspec.json.encode((label.text, label.agents, label.weight), order="deterministic")


def model_lessons(model: Model) -> list[RouterLabel]:
    """Return the labels in a router's model; an empty list for a model without labels."""
    try:
        return msgspec.convert(model.parts.get("lessons", []), list[RouterLabel])
    except msgspec.ValidationError:
        return []  # what reads the model says what is wrong with it
