"""Whom a router has asked, step by step, without an engine."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from prolocutor.contracts.pairing import AgentAnswer, Card, Pairing, UserQuestion
from prolocutor.contracts.selection import Enough, Selection
from prolocutor.plugins.pairing.abstention import AbstentionRule
from prolocutor.plugins.pairing.budget import Budget
from prolocutor.plugins.pairing.skill_selector import RoutedSelector, TurnRouting

CARDS = [Card(name=name) for name in ("red", "green", "blue")]


class Router:
    """Gives these probabilities, and counts."""

    def __init__(self, **shares: float) -> None:
        self.shares = shares
        self.asked: list[UserQuestion] = []

    async def route(self, question: UserQuestion) -> list[Pairing]:
        self.asked.append(question)
        order = sorted(self.shares, key=self.shares.__getitem__, reverse=True)
        return [Pairing(name, self.shares[name], "for a reason") for name in order]


class Believing:
    """A ranker that takes confidence for probability."""

    def rank(
        self, question: UserQuestion, answers: Sequence[AgentAnswer], prior: Mapping[str, float]
    ) -> list[Pairing]:
        return [Pairing(one.agent, one.confidence or 0.0) for one in answers]


class Waiting(Believing):
    """A ranker that has to wait."""

    async def rank(  # type: ignore[override]
        self, question: UserQuestion, answers: Sequence[AgentAnswer], prior: Mapping[str, float]
    ) -> list[Pairing]:
        raise AssertionError("a wave cannot wait for it")


def request(text: str = "hello", **more: Any) -> dict[str, Any]:
    return {"turn_id": "1", "utterances": [{"text": text}], **more}


def selector(budget: Budget, router: Router | None = None, **options: Any) -> RoutedSelector:
    routing = TurnRouting(router or Router(red=0.2, green=0.7, blue=0.4))
    return RoutedSelector(routing, CARDS, budget, **{"ranker": Believing(), **options})


def answer(skill: str, confidence: float) -> dict[str, Any]:
    return {"hypothesis_id": f"{skill}.0", "text": skill, "confidence": confidence}


def look(
    selection: Selection, settled: list[str], *answers: dict[str, Any]
) -> Selection | Enough | None:
    more: Callable[..., Any] | None = selection.more
    assert more is not None
    found: Selection | Enough | None = more(list(answers), 9.0, settled=settled)
    return found


async def test_the_likeliest_are_asked_with_the_reason() -> None:
    selection = await selector(Budget(policy="top", calls=2))(request())

    assert selection.first == ["green", "blue"]
    assert selection.reason == (
        "the 2 likeliest are asked (green 0.70, blue 0.40, red 0.20; for a reason)"
    )


async def test_an_agent_that_failed_is_not_waited_for() -> None:
    selection = await selector(Budget(start=1))(request())

    assert selection.first == ["green"]
    assert look(selection, []) is None
    after = look(selection, ["green"])
    assert isinstance(after, Selection)
    assert after.first == ["blue"]
    assert isinstance(look(selection, ["green", "blue"], answer("blue", 0.9)), Enough)


async def test_agents_without_a_card_are_never_asked() -> None:
    selection = await selector(Budget(policy="all"), Router(stranger=0.9, red=0.1))(request())

    assert selection.first == ["red"]


async def test_the_skill_that_goes_on_counts_as_asked() -> None:
    selection = await selector(Budget(start=1))(request(preferred="red"))

    assert look(selection, ["green"]) is None
    after = look(selection, ["green", "red"])
    assert isinstance(after, Selection)
    assert after.first == ["blue"]


async def test_who_speaks_when_nobody_knows_is_asked_last_and_once() -> None:
    unsure = AbstentionRule(below=0.5, then="red")
    selection = await selector(Budget(policy="top", calls=1), unsure=unsure)(request())
    answers = [answer("green", 0.3)]

    after = look(selection, ["green"], *answers)
    assert isinstance(after, Selection)
    assert after.first == ["red"]
    assert "the best answer is right with 0.30 < 0.5" in after.reason
    last = look(selection, ["green", "red"], *answers, answer("red", 1.0))
    assert isinstance(last, Enough)


async def test_a_ranker_that_waits_is_stood_in_for() -> None:
    selection = await selector(Budget(start=1), ranker=Waiting())(request())

    assert isinstance(look(selection, ["green"], answer("green", 0.9)), Selection)


async def test_a_router_is_asked_once_a_turn() -> None:
    router = Router(red=0.5)
    routing = TurnRouting(router)
    for turn in ("1", "1", "2"):
        await routing.route_turn({**request(), "turn_id": turn})

    assert len(router.asked) == 2


async def test_the_last_whole_turn_is_apart_from_the_question() -> None:
    router = Router(red=0.5)
    before = [{"text": "rain?"}, {"text": "Some.", "active_skill": "green"}]
    await TurnRouting(router).route_turn({"utterances": [*before, {"text": "and Texas?"}]})

    assert router.asked == [
        UserQuestion(
            text="and Texas?",
            said_before="rain?",
            answered_before="Some.",
            agent_before="green",
        )
    ]
