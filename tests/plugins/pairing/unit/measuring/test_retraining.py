"""A new model beside the one in use: what it learns, and how the two are compared."""

import asyncio
from pathlib import Path

import msgspec
import pytest

from prolocutor import Assistant, Pipeline
from prolocutor.contracts.model_use import TrainingLabel, TrainingOrder, TrainingReport
from prolocutor.contracts.pairing import Card, LabelledQuestion, TrainingData, UserQuestion
from prolocutor.errors import BadInput
from prolocutor.plugins.pairing.abstention import stored_risk_curve
from prolocutor.plugins.pairing.measuring.retraining import NEW_LABELS, read_ratings, retrain
from prolocutor.plugins.pairing.model_files import load_model, save_model, training_card
from prolocutor.plugins.pairing.question_agent.learned import LearnedRouter, fit
from tests.plugins.pairing.unit.encoders.made import write_encoder, write_tokenizer
from tests.unit.assistant.talks import echo

CARDS = [
    Card(name="tea", description="Tea: kinds of tea, how to brew it"),
    Card(name="eggs", description="Eggs: boiled, fried, scrambled"),
]
KNOWN = {
    "how long does green tea take": "tea",
    "which kettle is quiet": "tea",
    "is oolong strong": "tea",
    "my eggs are too soft": "eggs",
    "when is an omelette done": "eggs",
    "do hens lay in winter": "eggs",
}
NEW = {
    "where do I buy a whisk": "eggs",
    "may I reuse the leaves": "tea",
    "why is the shell green": "eggs",
    "what is in a london fog": "tea",
}


def question(text: str, *agents: str) -> LabelledQuestion:
    shares = dict.fromkeys(agents, 1.0) or {"tea": 0.0, "eggs": 0.0}
    return LabelledQuestion(question=UserQuestion(text=text), agents=shares, gold=frozenset(agents))


def labels(said: dict[str, str]) -> list[TrainingLabel]:
    return [
        TrainingLabel(id=f"id of {text}", question=question(text, who))
        for text, who in said.items()
    ]


@pytest.fixture
def live(tmp_path: Path) -> Path:
    """The folder of a model that has learned `KNOWN`."""
    known = [question(text, agent) for text, agent in KNOWN.items()]
    router = fit(TrainingData(cards=CARDS, labelled=known))
    save_model(tmp_path / "live", router.to_model(training_card(len(known))))
    return tmp_path / "live"


def trained(live: Path, **more: object) -> tuple[TrainingReport, LearnedRouter]:
    order = TrainingOrder(
        role="router", method="learned", out=str(live.with_name("new")), live=str(live), cards=CARDS
    )
    order = msgspec.structs.replace(order, **more)
    report = asyncio.run(retrain(order, [], lambda share, what: None))
    return report, LearnedRouter.of_model(load_model(order.out), CARDS)


def best(router: LearnedRouter, text: str) -> str:
    return router.route(UserQuestion(text=text))[0].agent


def test_it_knows_what_the_one_before_knew_and_the_new_labels(live: Path) -> None:
    before = (live / "model.json").read_bytes()
    report, router = trained(live, labels=labels(NEW))

    assert {text: best(router, text) for text in KNOWN | NEW} == KNOWN | NEW
    assert report.learned == 10
    assert report.fresh == 4
    assert report.before == load_model(live).id
    assert (live / "model.json").read_bytes() == before


def test_figures_and_changes_are_over_unseen_questions(live: Path) -> None:
    report, _ = trained(live, labels=labels(NEW | {"my eggs are too runny": "tea"}))
    rows = {one.name: one for one in report.rows}

    unseen = rows["precision@1"]
    assert report.note == ""
    assert unseen.interval is not None
    assert unseen.interval[0] <= unseen.difference <= unseen.interval[1]
    assert rows[NEW_LABELS].after == 1.0
    assert rows[NEW_LABELS].interval is None
    assert report.won - report.lost == pytest.approx(report.learned * unseen.difference)
    assert "my eggs are too runny" not in {one.text for one in report.flips if one.won}


def test_the_next_training_learns_each_label_once_and_forgets_those_that_were_taken_back(
    live: Path,
) -> None:
    trained(live, labels=labels(NEW))
    first = live.with_name("new").rename(live.with_name("second"))
    kept = labels({"may I reuse the leaves": "tea"})
    report, router = trained(first, labels=kept)

    assert report.learned == 7
    assert report.fresh == 0
    assert sorted(one.text for one in router.lessons) == sorted([*KNOWN, "may I reuse the leaves"])


def test_a_label_takes_the_place_of_what_was_known_of_the_same_words(live: Path) -> None:
    _, router = trained(live, labels=labels({"is oolong strong": "eggs"}))

    assert best(router, "is oolong strong") == "eggs"
    assert len(router.lessons) == len(KNOWN)


def test_where_nobody_is_right_every_agent_becomes_less_likely(live: Path) -> None:
    text = "who won the match"
    before = LearnedRouter.of_model(load_model(live), CARDS).route(UserQuestion(text=text))
    nobody = [TrainingLabel(id="1", question=question(text))]
    _, router = trained(live, labels=nobody)
    after = router.route(UserQuestion(text=text))

    assert max(one.probability for one in after) < max(one.probability for one in before)


def test_thumbs_are_learned_with_their_weights(live: Path) -> None:
    thumb = msgspec.structs.replace(question("is there milk in it", "tea"), weight=0.5)
    _, router = trained(live, rated=[thumb], labels=labels({"how tall is it": "eggs"}))

    assert [one.weight for one in router.lessons[-2:]] == [0.5, 1.0]


def test_without_a_model_in_use_it_is_compared_with_the_cards(tmp_path: Path) -> None:
    report, router = trained(tmp_path / "nothing", labels=labels(KNOWN))

    assert report.before == ""
    assert report.learned == 6
    assert best(router, "do hens lay in winter") == "eggs"


def test_too_few_questions_are_learned_and_not_compared_on_unseen_ones(tmp_path: Path) -> None:
    few = dict(list(KNOWN.items())[2:4])
    report, router = trained(tmp_path / "nothing", labels=labels(few))

    assert best(router, "is oolong strong") == "tea"
    assert [row.name for row in report.rows] == [NEW_LABELS]
    assert report.note == ("not measured by folds: too few different questions with a right agent")


def test_a_model_with_an_encoder_is_trained_anew_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("onnxruntime", reason="onnxruntime (the extra encoder)")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    write_encoder(tmp_path / "small")
    write_tokenizer(tmp_path / "small")
    encoder = str(tmp_path / "small")
    trained(tmp_path / "nothing", labels=labels(KNOWN), encoder=encoder)
    first = tmp_path.joinpath("new").rename(tmp_path / "live")
    report, _ = trained(first, labels=labels(KNOWN | NEW), encoder=encoder)

    assert report.before == load_model(first).id
    assert report.fresh == len(NEW)
    assert load_model(tmp_path / "new").settings["encoder"] == "small"
    with pytest.raises(BadInput, match=r"was trained with the encoder small \("):
        trained(first, labels=labels(NEW))


def test_thumbs_of_a_store_are_read_beside_its_owner(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'dialogs.db'}"

    async def rated() -> list[LabelledQuestion]:
        async with Assistant(Pipeline(skills=[echo()]), store=url) as it:
            for text, rating in (("one", 1), ("two", -1), ("three", None)):
                reply = await it.reply(text, user=text)
                if rating is not None:
                    await it.archive.rate(reply.utt_id, rating, text)
            return await read_ratings(url)

    up, down = sorted(asyncio.run(rated()), key=lambda one: -one.weight)

    assert up.question.text == "one"
    assert up.gold == {"echo"}
    assert up.weight == 0.5
    assert down.question.text == "two"
    assert down.agents == {"echo": 0.0}
    assert down.weight == 0.25


def test_a_ranker_knows_how_often_it_is_wrong_by_how_sure_it_is(tmp_path: Path) -> None:
    said = {"tea": "a pot of green tea", "eggs": "two boiled eggs with salt"}
    rated = [
        msgspec.structs.replace(
            question(f"{text} {number}", agent),
            answers=dict.fromkeys(said, "I do not know") | {agent: f"{text} {number} it is"},
        )
        for agent, text in said.items()
        for number in range(16)
    ]
    order = TrainingOrder(
        role="ranker", method="learned", out=str(tmp_path / "new"), cards=CARDS, rated=rated
    )

    asyncio.run(retrain(order, [], lambda share, what: None))

    curve = stored_risk_curve(load_model(order.out))
    assert curve is not None
    assert curve.questions == len(rated)


def test_too_little_is_refused_before_anything_is_written(live: Path) -> None:
    nobody = [TrainingLabel(id="1", question=question("who won the match"))]
    with pytest.raises(BadInput, match="no question has a right agent"):
        trained(live.with_name("nothing"), labels=nobody)

    assert not live.with_name("new").exists()


def test_data_whose_labels_are_answers_and_no_agents_are_refused(live: Path) -> None:
    data = live.with_name("cases.jsonl")
    data.write_text('{"text": "how long does green tea take?", "labels": ["3 minutes."]}\n')

    with pytest.raises(BadInput, match=r"name no agent of this assistant: '3 minutes\.'"):
        trained(live, data=[f"jsonl:{data}"])
