"""Whose answer is said, without an engine."""

from collections.abc import Mapping, Sequence
from typing import Any

from prolocutor.contracts.pairing import AgentAnswer, Card, Pairing, UserQuestion
from prolocutor.plugins.pairing.abstention import AbstentionRule, risk_curve
from prolocutor.plugins.pairing.model_reloading import VersionedMethod
from prolocutor.plugins.pairing.response_selector import PREFERENCE, RankedSelector
from prolocutor.plugins.pairing.skill_selector import TurnRouting
from tests.plugins.pairing.unit.test_skill_selector import Router, request

CARDS = [Card(name=name, description=f"Knows {name}. And more.") for name in ("red", "blue")]


class Believing:
    """A ranker that takes confidence for probability, and tells what it was given."""

    def __init__(self) -> None:
        self.priors: list[Mapping[str, float]] = []

    def rank(
        self, question: UserQuestion, answers: Sequence[AgentAnswer], prior: Mapping[str, float]
    ) -> list[Pairing]:
        self.priors.append(prior)
        told: dict[str, int] = {}
        pairs = []
        for one in answers:
            place = told[one.agent] = told.get(one.agent, -1) + 1
            pairs.append(Pairing(one.agent, one.confidence or 0.0, "sounds sure", place))
        return sorted(pairs, key=lambda one: -one.probability)


def answer(id_: str, confidence: float, **more: Any) -> dict[str, Any]:
    return {"hypothesis_id": id_, "text": f"says {id_}", "confidence": confidence, **more}


async def choose(
    *hypotheses: dict[str, Any], unsure: AbstentionRule | None = None, **more: Any
) -> dict[str, Any] | None:
    routing = TurnRouting(VersionedMethod(Router(red=0.7, blue=0.2), "r-1"))
    selector = RankedSelector(
        VersionedMethod(Believing(), "k-2"), CARDS, routing=routing, unsure=unsure
    )
    return await selector(request(hypotheses=list(hypotheses), **more))


async def test_the_best_answer_is_said_and_tells_why() -> None:
    reply = await choose(answer("red.0", 0.2), answer("blue.0", 0.3), answer("blue.1", 0.8))

    assert reply == {
        "skill_name": "blue",
        "hypothesis": "blue.1",
        "text": "says blue.1",
        "confidence": 0.8,
        "attributes": {
            "pairing": {
                "router": "r-1",
                "ranker": "k-2",
                "reason": "sounds sure",
                "ranked": [["blue", 0.8], ["blue", 0.3], ["red", 0.2]],
                "scores": {"blue.1": 0.8, "blue.0": 0.3, "red.0": 0.2},
            }
        },
    }


async def test_what_an_answer_carries_stays_beside_the_reason() -> None:
    reply = await choose(answer("red.0", 0.9, attributes={"mood": "good"}))

    assert reply is not None
    assert reply["attributes"].keys() == {"mood", "pairing"}


async def test_the_skill_that_goes_on_wins_unless_another_is_clearly_better() -> None:
    near = await choose(answer("red.0", 0.5), answer("blue.0", 0.6), preferred="red")
    far = await choose(answer("red.0", 0.5), answer("blue.0", 0.51 + PREFERENCE), preferred="red")

    assert [one and one["skill_name"] for one in (near, far)] == ["red", "blue"]


async def test_a_skill_that_had_to_be_asked_speaks_however_unlikely_it_is() -> None:
    reply = await choose(answer("red.0", 0.01), unsure=AbstentionRule(below=0.5), forced="red")

    assert reply is not None
    assert reply["skill_name"] == "red"
    assert "router" not in reply["attributes"]["pairing"]


async def test_where_nobody_knows_it_abstains() -> None:
    assert await choose(answer("red.0", 0.4), unsure=AbstentionRule(below=0.5)) == {"abstain": True}
    assert await choose(unsure=AbstentionRule(below=0.5)) == {"abstain": True}


async def test_the_person_is_asked_who_should_answer_and_the_words_are_kept() -> None:
    unsure = AbstentionRule(below=0.5, then="clarify", question="Who?")
    reply = await choose(answer("red.0", 0.4), answer("blue.0", 0.1), unsure=unsure)

    assert reply is not None
    assert reply["text"] == "Who?"
    assert reply["ask"] == "choice"
    assert reply["skill_name"] == ""
    assert reply["messages"][1] == {
        "type": "choice",
        "title": "Red",
        "text": "Knows red.",
        "forward": {"skill": "red", "text": "hello"},
    }


async def test_with_one_agent_alone_there_is_nothing_to_choose_from() -> None:
    unsure = AbstentionRule(below=0.5, then="clarify", choices=1)

    assert await choose(answer("red.0", 0.4), unsure=unsure) == {"abstain": True}


async def test_the_skill_for_that_speaks_when_nobody_knows_and_only_then() -> None:
    unsure = AbstentionRule(below=0.5, then="blue")
    unknown = await choose(answer("red.0", 0.4), answer("blue.0", 1.0), unsure=unsure)
    known = await choose(answer("red.0", 0.6), answer("blue.0", 1.0), unsure=unsure)

    assert [one and one["skill_name"] for one in (unknown, known)] == ["blue", "red"]


async def test_an_answer_is_given_where_that_keeps_within_the_wanted_error() -> None:
    known = risk_curve([(0.9, True)] * 100 + [(0.3, False)] * 100)
    rule = AbstentionRule(error=0.1)
    selector = RankedSelector(VersionedMethod(Believing(), "k-2", risks=known), CARDS, unsure=rule)

    sure = await selector(request(hypotheses=[answer("red.0", 0.9)]))
    unsure = await selector(request(hypotheses=[answer("red.0", 0.3)]))

    assert sure["text"] == "says red.0"
    assert unsure == {"abstain": True}
    assert selector.may_abstain
