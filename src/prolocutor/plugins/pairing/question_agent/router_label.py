"""RouterLabel: a question with its right agents, from which a router learns."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import msgspec

from prolocutor.contracts.pairing import LabelledQuestion, UserQuestion

UP: Final = 0.5
"""The weight of an answer that was rated as good."""

DOWN: Final = 0.25
"""The weight of an answer that was rated as bad."""

_GOLD: Final = 0.5
"""The share above which an agent is right."""

_SURE: Final = 0.9
_ELSEWHERE: Final = 0.5
"""The probability that an agent with a good answer is right; with a bad answer, all others'."""


class RouterLabel(msgspec.Struct, frozen=True, omit_defaults=True):
    """One label: a question and how right each agent is for it, 0 to 1; `weight` discounts it.

    `user` is the author of the text, "" where it has none, and `utt_id` the reply that it is about:
    a label is deleted with either.
    """

    text: str
    agents: dict[str, float]
    weight: float = 1.0
    user: str = ""
    utt_id: str = ""

    @property
    def labelled(self) -> LabelledQuestion:
        """What was learned as a labelled question."""
        gold = frozenset(name for name, share in self.agents.items() if share > _GOLD)
        return LabelledQuestion(
            question=UserQuestion(text=self.text),
            agents=self.agents,
            gold=gold,
            weight=self.weight,
        )


def make_router_label(labelled: LabelledQuestion) -> RouterLabel:
    """Return a labelled question as the router learns it."""
    return RouterLabel(labelled.question.text, labelled.agents, labelled.weight)


def answer_shares(agent: str, right: bool, agents: Iterable[str]) -> dict[str, float]:
    """Return how right each of the `agents` is where the answer of one is good, or is bad."""
    if right:
        return {agent: _SURE}
    others = [one for one in agents if one != agent]
    return {agent: 0.0, **dict.fromkeys(others, _ELSEWHERE / max(1, len(others)))}


def label_of_thumb(
    question: str,
    agent: str,
    right: bool,
    agents: Iterable[str],
    user: str = "",
    utt_id: str = "",
) -> RouterLabel:
    """Return the label for a thumb on the answer of one of the `agents`."""
    shares = answer_shares(agent, right, agents)
    return RouterLabel(question, shares, UP if right else DOWN, user, utt_id)
