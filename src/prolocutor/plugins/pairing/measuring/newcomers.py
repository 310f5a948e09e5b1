"""What a new agent brings before it has labels: each agent is left out in turn, and joins again.

For each agent in turn router and ranker are trained as if it were not there. Then it joins, known
by its card alone, and questions come in one by one, as they would to an assistant that is in use:
router and budget choose whom to ask, the ranker whose answer is given, and a person rates it, up if
the data say that it is right, else down. What nobody was shown is not rated. After so many turns
all answers to questions that were kept apart are counted.

`newcomer_results` says what is made of that.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Final

import msgspec

from prolocutor.contracts.pairing import AgentAnswer, LabelledQuestion, Pairing, Ranker, Router
from prolocutor.errors import BadInput
from prolocutor.plugins.pairing.budget import BudgetPolicy, TopK, TryingOut, asks_one
from prolocutor.plugins.pairing.encoders.encoder_wiring import EncoderWiring
from prolocutor.plugins.pairing.measuring.budgets import policy_of, spend
from prolocutor.plugins.pairing.measuring.fitting import (
    NO_MODELS,
    PairingModels,
    fitted_ranker,
    fitted_router,
    needs_no_labels,
    probabilities,
    settled,
    unseen_priors,
)
from prolocutor.plugins.pairing.measuring.newcomer_results import (
    CountedAnswers,
    NewcomerOutcome,
    NewcomerPlan,
    NewcomerResults,
    newcomer_results,
)
from prolocutor.plugins.pairing.measuring.pairing_data import PairingData, checked, only_agents
from prolocutor.plugins.pairing.model_files import training_card
from prolocutor.plugins.pairing.near_duplicates import folds_of, near_duplicates
from prolocutor.plugins.pairing.new_agent_learner import label_of_ranks
from prolocutor.plugins.pairing.newcomer_trial import NewcomerTrial
from prolocutor.plugins.pairing.question_agent.loaded_router import PresentRouter, router_of_model
from prolocutor.plugins.pairing.question_agent.meant_router import MeantRouter
from prolocutor.plugins.pairing.question_agent.router_label import label_of_thumb

_PARTS: Final = 20
_TO_TRAIN: Final = 9
_STREAMED: Final = 5
_FOLDS: Final = 5


async def measure_newcomers(
    data: PairingData,
    plan: NewcomerPlan,
    *,
    models: PairingModels = NO_MODELS,
    on_step: Callable[[str], None] = lambda _: None,
) -> NewcomerResults:
    """Measure how soon new agents bring what they bring with labels; see above.

    `BadInput` where the data do not have what is needed.
    """
    data = checked(data)
    if plan.ranker is not None and not data.has_answers:
        raise BadInput("no agent's answers are known: say --ranker none", field="data")
    trials = []
    for seed in plan.seeds:
        splitting = _Split(data, plan, seed)
        for agent in plan.agents or data.agents:
            on_step(f"seed {seed}, without {agent}")
            trials.append(await _Trial(splitting, plan, agent, models).run())
    return newcomer_results(data.name, plan, trials)


class _System(msgspec.Struct, frozen=True):
    """A router and a ranker with the agents that they choose among."""

    agents: Sequence[str]
    router: Router
    ranker: Ranker | None


class _JoinedSystem(_System, frozen=True):
    """A system that a new agent has joined: its router learns while it serves."""

    router: PresentRouter | MeantRouter


class _Split:
    """The questions of one seed: to train with, to stream, and kept apart."""

    def __init__(self, data: PairingData, plan: NewcomerPlan, seed: int) -> None:
        self.data, self.seed = data, seed
        self.groups = near_duplicates([one.question.text for one in data.test])
        parts = folds_of(self.groups, _PARTS, seed)
        train = _TO_TRAIN if plan.ranker is not None or not data.learn else 0
        streamed = train + (_STREAMED if train else _PARTS // 2)
        self.train = [n for n, part in enumerate(parts) if part < train]
        self.stream = [n for n, part in enumerate(parts) if train <= part < streamed]
        self.apart = [n for n, part in enumerate(parts) if part >= streamed and data.test[n].gold]
        self.whole: tuple[_System, CountedAnswers] | None = None
        if not self.stream or not self.apart:
            raise BadInput("are too few questions to keep some apart", field="data")

    async def trained(
        self, data: PairingData, plan: NewcomerPlan, models: PairingModels
    ) -> _System:
        """Return a system that has learned all about the agents of these data."""
        labelled = [data.test[n] for n in self.train]
        known = data.learn or [one for one in labelled if one.gold]
        routing = models.training(cards=data.cards, labelled=known, seed=self.seed)
        router = await fitted_router(plan.router, routing)
        if plan.ranker is None:
            return _System(data.agents, router, None)
        ranking = models.training(cards=data.cards, labelled=labelled, seed=self.seed)
        if not needs_no_labels(plan.ranker, "ranker"):
            if data.learn:
                priors = [await probabilities(router, one) for one in labelled]
            else:
                priors = await unseen_priors(plan.router, ranking, _FOLDS)
            ranking = msgspec.structs.replace(ranking, priors=priors)
        return _System(data.agents, router, await fitted_ranker(plan.ranker, ranking))


class _Trial:
    """One agent that joins a system of the others."""

    def __init__(
        self, splitting: _Split, plan: NewcomerPlan, agent: str, models: PairingModels
    ) -> None:
        self._split, self._plan, self._agent, self._models = splitting, plan, agent, models
        self._data = splitting.data
        self._policy: BudgetPolicy = TopK(1)
        if plan.ranker is not None:
            policy = policy_of(plan.budget)
            self._policy = policy if isinstance(policy, TopK) else TryingOut(policy)

    async def run(self) -> NewcomerOutcome:
        """Train without the agent, then let it join and count."""
        split, plan, data = self._split, self._plan, self._data
        if split.whole is None:
            system = await split.trained(data, plan, self._models)
            split.whole = system, await self._counted(system)
        others = only_agents(data, [one for one in data.agents if one != self._agent])
        before = await split.trained(others, plan, self._models)
        without = await self._counted(before)
        joined = self._joined(before)
        questions = [data.test[n] for n in split.stream]
        random.Random(f"{split.seed} {self._agent}").shuffle(questions)
        after: dict[int, CountedAnswers] = {}
        seen: dict[int, tuple[int, int]] = {}
        asked = rated = 0
        for turn, question in enumerate([*questions, None]):
            if turn in plan.turns or (question is None and turn < max(plan.turns)):
                after[turn], seen[turn] = await self._counted(joined), (asked, rated)
            if question is None or turn >= max(plan.turns):
                break
            was_asked, was_rated = await self._turn(joined, question, turn)
            asked, rated = asked + was_asked, rated + was_rated
        groups = [split.groups[n] for n in split.apart]
        return NewcomerOutcome(self._agent, groups, without, split.whole[1], after, seen)

    def _joined(self, before: _System) -> _JoinedSystem:
        """Return the system as `serve` reads it for all agents from a model without one of them."""
        to_model = getattr(before.router, "to_model", None)
        if to_model is None:
            raise BadInput(f"the router {self._plan.router} has no model to join", field="router")
        encoder = self._models.encoder
        wired = None if encoder is None else EncoderWiring(encoder)
        router = router_of_model(
            to_model(training_card(0)), self._data.cards, wired, self._plan.newcomers.turns
        )
        return _JoinedSystem(self._data.agents, router, before.ranker)

    async def _turn(
        self, system: _JoinedSystem, one: LabelledQuestion, turn: int
    ) -> tuple[bool, bool]:
        """Answer a question, rate the answer; return whether the new agent was asked, and rated."""
        turn_id = f"{self._split.seed} {turn}"
        asked, ranked = await self._answered(system, one, turn_id, tries=True)
        text, learn = one.question.text, system.router.learn_all
        if self._agent in asked:
            ranks = dict.fromkeys(asked, 0.0)
            ranks |= {pair.agent: pair.probability for pair in reversed(ranked)}
            learn([label_of_ranks(text, ranks, is_ranked=system.ranker is not None)])
        if not ranked:
            return self._agent in asked, False
        given = ranked[0].agent
        learn([label_of_thumb(text, given, given in one.gold, system.agents)])
        return self._agent in asked, given == self._agent

    async def _answered(
        self, system: _System, one: LabelledQuestion, turn_id: str, *, tries: bool
    ) -> tuple[list[str], Sequence[Pairing]]:
        """Return the agents that were asked, and their answers, the best first."""
        routed = await settled(system.router.route(one.question))
        prior = {pair.agent: pair.probability for pair in routed}
        if not tries:  # as when it has been tried out enough
            routed = [msgspec.structs.replace(pair, tried=False) for pair in routed]
        trial = NewcomerTrial(turn_id, self._plan.newcomers, asks_one(self._policy))
        chances = {pair.agent: trial.prior(pair) for pair in routed}
        new = trial.wanted(routed)

        async def rank(called: Sequence[str]) -> Sequence[Pairing]:
            if system.ranker is None:
                return [Pairing(agent, prior[agent]) for agent in called]
            answers = [AgentAnswer(agent=agent, text=one.answers[agent]) for agent in called]
            ranked: Sequence[Pairing] = await settled(
                system.ranker.rank(one.question, answers, prior)
            )
            return ranked

        cards = [card for card in self._data.cards if card.name in system.agents]
        there = list(one.answers) if system.ranker is not None else list(system.agents)
        steps, ranked = await spend(self._policy, cards, chances, there, rank, new=new)
        return [agent for step in steps for agent in step], ranked

    async def _counted(self, system: _System) -> CountedAnswers:
        """Count right answers to the questions that were kept apart; nothing is learned."""
        right: dict[int, float] = {}
        calls = 0
        for number in self._split.apart:
            one = self._data.test[number]
            asked, ranked = await self._answered(system, one, str(number), tries=False)
            right[number] = float(bool(ranked) and ranked[0].agent in one.gold)
            calls += len(asked)
        return CountedAnswers(right, calls / len(right))
