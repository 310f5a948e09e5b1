"""Measuring pairing: the folds are honest, labels dealt out anew leave nothing to win."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
import pytest

from prolocutor.contracts.pairing import (
    AgentAnswer,
    Card,
    LabelledQuestion,
    Pairing,
    TrainingData,
    UserQuestion,
)
from prolocutor.errors import BadInput
from prolocutor.plugins.pairing.budget import read_budget
from prolocutor.plugins.pairing.commands.command_lines import pairing_lines
from prolocutor.plugins.pairing.measuring import fitting
from prolocutor.plugins.pairing.measuring.measurement import (
    ChoiceScoring,
    Measurement,
    MeasurementPlan,
    measure,
)
from prolocutor.plugins.pairing.measuring.method_rows import MethodRow
from prolocutor.plugins.pairing.measuring.pairing_data import PairingData
from tests.plugins.pairing.unit.measuring.made import CARDS, data


def measured(questions: Any = None, **plan: Any) -> Measurement:
    wanted = MeasurementPlan(**{"routers": ["learned"], "folds": 4, **plan})
    return asyncio.run(measure(questions or data(), wanted))


def row(found: Measurement, method: str) -> MethodRow:
    return next(one for one in found.rows if one.method == method)


class Spy:
    """A ranker that notes what it was trained on and fails if it is asked about that."""

    trained: list[set[str]] = []  # noqa: RUF012

    def __init__(self, training: TrainingData) -> None:
        self._known = {one.question.text for one in training.labelled if one.answers}
        self.priors = training.priors
        Spy.trained.append(self._known)
        self.labels = any(one.gold or one.agents for one in training.labelled)

    async def rank(
        self, question: UserQuestion, answers: Sequence[AgentAnswer], prior: Mapping[str, float]
    ) -> list[Pairing]:
        assert question.text not in self._known
        assert set(prior) == {card.name for card in CARDS}
        best = max(answers, key=lambda one: one.text != "sorry, I cannot do that")
        rest = [one for one in answers if one is not best]
        return [Pairing(best.agent, 0.9), *(Pairing(one.agent, 0.05) for one in rest)]


def in_place_of_rankers(monkeypatch: pytest.MonkeyPatch, made: Any) -> None:
    real = fitting.load_fit
    monkeypatch.setattr(
        fitting, "load_fit", lambda name, role: made if role == "ranker" else real(name, role)
    )


@pytest.fixture(params=[True, False], ids=["with labels", "without labels"])
def spy(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    Spy.trained = []
    real = fitting.method_needs

    def made(training: TrainingData) -> Spy:
        found = Spy(training)
        assert found.labels == request.param
        return found

    in_place_of_rankers(monkeypatch, made)
    monkeypatch.setattr(
        fitting,
        "method_needs",
        lambda name, which: (
            real(name, which)
            if which == "router"
            else frozenset({"labels"} if request.param else ())
        ),
    )
    return bool(request.param)


@pytest.mark.parametrize("learn", [120, 0])
def test_no_ranker_is_scored_on_what_it_was_trained_on(spy: bool, learn: int) -> None:
    found = measured(data(learn), rankers=["spy"])

    assert row(found, "spy").precision_at_1 == 1
    assert len(Spy.trained) == 4
    assert set().union(*Spy.trained) == {one.question.text for one in found.test}


def test_answers_to_learn_from_come_with_priors_of_routers_that_did_not_see_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    given: list[TrainingData] = []

    def made(training: TrainingData) -> Spy:
        given.append(training)
        return Spy(training)

    in_place_of_rankers(monkeypatch, made)
    odd = LabelledQuestion(
        question=UserQuestion(text="blorb the frobnitz"),
        agents={"bank": 1.0},
        gold=frozenset({"bank"}),
        answers={"bank": "done", "music": "no"},
    )
    questions = msgspec.structs.replace(data(), learn=[*data().learn, odd])

    measured(questions, rankers=["learned"])

    for training in given:
        found = dict(
            zip([one.question.text for one in training.labelled], training.priors, strict=True)
        )
        assert len(training.priors) == len(training.labelled)
        assert found["blorb the frobnitz"]["bank"] < 0.6
        assert found[questions.learn[0].question.text] == {}


class NumberedRouter:
    """Gives every agent its own number as a probability, and knows what it has learned."""

    def __init__(self, number: int, known: frozenset[str]) -> None:
        self.number, self.known = number, known

    def route(self, question: UserQuestion) -> list[Pairing]:
        assert question.text not in self.known
        return [Pairing(card.name, self.number / 1000) for card in CARDS]


def test_a_ranker_learns_from_priors_of_routers_that_had_not_seen_the_question(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    routers: list[NumberedRouter] = []
    given: list[TrainingData] = []

    def routing(training: TrainingData) -> NumberedRouter:
        known = frozenset(one.question.text for one in training.labelled)
        routers.append(NumberedRouter(len(routers), known))
        return routers[-1]

    def ranking(training: TrainingData) -> Spy:
        given.append(training)
        return Spy(training)

    fits = {"router": routing, "ranker": ranking}
    monkeypatch.setattr(fitting, "load_fit", lambda name, role: fits[role])

    measured(data(0), routers=["learned"], rankers=["learned"])

    assert len(given) == 4
    for training in given:
        for one, prior in zip(training.labelled, training.priors, strict=True):
            assert one.question.text not in routers[round(1000 * prior["bank"])].known


def test_budgets_count_their_calls(spy: bool) -> None:
    found = measured(rankers=["spy"], budgets=["top:1", "top:2", "sure:0.5", "all"])

    rows = {one.method: one for one in found.rows if one.stage == "budget"}
    assert rows["spy, top:1"].mean_calls == 1
    assert rows["spy, top:2"].mean_calls == 2
    assert rows["spy, all"].mean_calls == 3
    assert 2 <= rows["spy, sure:0.5"].mean_calls <= 3
    assert rows["spy, all"].precision_at_1 == 1
    assert rows["spy, all"].cost == pytest.approx(0.03)


def test_routers_are_set_beside_their_baselines() -> None:
    found = measured(routers=["learned", "cards"])

    assert [one.method for one in found.rows] == [
        "random", "best single agent", "cards, plain BM25", "learned", "cards",
        "everybody, first answer", "answers, plain BM25",
    ]  # fmt: skip
    assert row(found, "random").precision_at_1 == pytest.approx(1 / 3)
    assert row(found, "learned").precision_at_1 > 0.95
    assert row(found, "learned").than == "cards, plain BM25"
    assert row(found, "answers, plain BM25").mean_calls == 3


def test_without_answers_only_routers_are_measured() -> None:
    found = measured(data(answers=False), rankers=["unsupervised"])

    assert {one.stage for one in found.rows} == {"route"}


def test_where_nothing_is_to_learn_from_routers_learn_by_folds() -> None:
    found = measured(data(0))

    assert row(found, "learned").precision_at_1 > 0.8


def test_a_router_and_a_ranker_of_one_name_are_told_apart(spy: bool) -> None:
    found = measured(rankers=["learned"], budgets=["top:1"])

    routed, ranked = found.choices["route", "learned"], found.choices["rank", "learned"]
    assert {made.called for made in routed} == {1}
    assert {made.called for made in ranked} == {3}
    assert row(found, "learned, top:1").than == "learned"


@pytest.mark.parametrize("learn", [200, 0])
def test_labels_dealt_out_anew_leave_nothing_to_win(learn: int) -> None:
    pytest.importorskip("sklearn", reason="scikit-learn (the extra learn)")

    found = measured(data(learn, 200), routers=["learned"], permuted=True)

    assert row(found, "learned").precision_at_1 < 0.5


def test_answers_of_other_labels_leave_nothing_to_win_either() -> None:
    pytest.importorskip("lightgbm", reason="lightgbm (the extra learn)")

    found = measured(data(0, 200), rankers=["learned"], permuted=True, folds=2)

    assert row(found, "learned").precision_at_1 < 0.5


def test_the_same_seed_finds_the_same() -> None:
    first, second = measured(seed=3), measured(seed=3)

    def figures(found: Measurement) -> list[MethodRow]:
        return [msgspec.structs.replace(one, ms=0.0) for one in found.rows]

    assert figures(first) == figures(second)


@pytest.mark.parametrize("text", ["most", "top:0", "top:x", "sure:2", "loss:0.01", ""])
def test_other_budgets_are_refused(text: str) -> None:
    with pytest.raises(BadInput, match="is not a budget"):
        read_budget(text)


def test_data_without_right_agents_are_refused() -> None:
    nobody = msgspec.structs.replace(data(), test=[one for one in data().test if not one.gold])

    with pytest.raises(BadInput, match="no question has a right agent"):
        measured(nobody)


def test_a_budget_asks_until_an_answer_is_sure_enough() -> None:
    counts: list[int] = []

    class Doubting:
        def rank(
            self, question: UserQuestion, answers: Sequence[AgentAnswer], prior: object
        ) -> list[Pairing]:
            counts.append(len(answers))
            return [Pairing(one.agent, 0.1) for one in answers]

    scoring = ChoiceScoring(data())
    place = next(n for n, one in enumerate(data().test) if len(one.answers) == 3)
    choice = asyncio.run(scoring.ask_within(place, Doubting(), {}, read_budget("sure:1")))

    assert (counts, choice.called) == ([2, 3], 3)


def test_the_table_names_agents_that_the_best_router_confuses() -> None:
    rain, sun = (Card(name=name, description="Tells the weather.") for name in ("rain", "sun"))
    bank = Card(name="bank", description="Shows balances, transfers money.")
    asked = [("weather in oslo", "sun"), ("weather in lima", "sun"), ("balances", "bank")]
    test = [
        LabelledQuestion(
            question=UserQuestion(text=f"{text} {number}"),
            agents={agent: 1.0},
            gold=frozenset({agent}),
        )
        for number in range(3)
        for text, agent in asked
    ]
    questions = PairingData(name="alike", cards=[rain, sun, bank], learn=[], test=test)

    lines = pairing_lines(measured(questions, routers=["cards"], folds=2))

    assert "cards confuses rain and sun (6)" in lines
