"""The latent index: it finds by what questions are about, is kept in folders, and learns online."""

from itertools import product
from pathlib import Path

import msgspec
import pytest

from prolocutor.contracts.pairing import LabelledQuestion, TrainingData, UserQuestion
from prolocutor.errors import ConfigError
from prolocutor.plugins.pairing.model_files import Array, load_model, save_model, training_card
from tests.plugins.pairing.unit.question_agent.made import CARDS

pytest.importorskip("sklearn", reason="scikit-learn (the extra learn)")

from prolocutor.plugins.pairing.question_agent import linear_training
from prolocutor.plugins.pairing.question_agent.ensemble import EnsembleRouter
from prolocutor.plugins.pairing.question_agent.latent_index import LatentIndex
from prolocutor.plugins.pairing.question_agent.similarity_index import NEIGHBOURS

_MADE = {
    "weather": (
        ("will there be", "do you expect", "is there any chance of", "tell me about"),
        ("rain", "snow", "fog", "sun", "hail"),
        ("in Boston", "in Rome", "today", "on Monday", "this evening"),
    ),
    "music": (
        ("play", "put on", "i want to hear", "start"),
        ("jazz", "a song", "the radio", "an album", "rock"),
        ("by Adele", "quietly", "in the kitchen", "again", "from the sixties"),
    ),
    "bank": (
        ("transfer", "send", "pay", "wire"),
        ("ten dollars", "fifty euros", "my rent", "the bill", "some money"),
        ("to Bob", "to Ann", "from savings", "right now", "by card"),
    ),
}
LABELLED = [
    LabelledQuestion(question=UserQuestion(text=" ".join(words)), agents={agent: 1.0})
    for agent, parts in _MADE.items()
    for words in product(*parts)
]
TRAINING = TrainingData(cards=CARDS, labelled=LABELLED)
TEXTS = [one.question.text for one in LABELLED]


@pytest.fixture(scope="module")
def index() -> LatentIndex:
    made = linear_training.fit_latent_index(linear_training.fit(TRAINING), TEXTS)
    assert made is not None
    return made


@pytest.fixture(scope="module")
def trained() -> EnsembleRouter:
    return linear_training.learned_ensemble(TRAINING)


def test_the_nearest_lesson_is_the_text_itself(index: LatentIndex) -> None:
    number, weight = index.nearest(TEXTS[123])[0]

    assert number == 123
    assert weight == pytest.approx(10.0, abs=1e-3)


def test_neighbours_are_few_and_the_heaviest_come_first(index: LatentIndex) -> None:
    weights = [weight for _, weight in index.nearest("is there any chance of a song today")]

    assert 0 < len(weights) <= NEIGHBOURS
    assert weights == sorted(weights, reverse=True)
    assert min(weights) > 0


@pytest.mark.parametrize("text", ["", "...", "東京", "x" * 5000])
def test_a_text_of_unknown_terms_is_near_nothing_or_little(index: LatentIndex, text: str) -> None:
    assert all(weight <= 10.001 for _, weight in index.nearest(text))
    if not text.strip("."):
        assert index.nearest(text) == []


def test_few_texts_have_no_directions() -> None:
    router = linear_training.fit(TRAINING)

    assert linear_training.fit_latent_index(router, TEXTS[:299]) is None


def test_a_label_online_outweighs_what_is_merely_like_it() -> None:
    router = linear_training.learned_ensemble(TRAINING)
    router.learn("blorb the frobnitz", ["bank"])

    found = router.route(UserQuestion(text="blorb the frobnitz"))

    assert found[0].agent == "bank"
    assert "blorb the frobnitz" in found[0].reason


def test_a_saved_model_chooses_as_before(trained: EnsembleRouter, tmp_path: Path) -> None:
    save_model(tmp_path / "m", trained.to_model(training_card(len(LABELLED))))

    again = EnsembleRouter.of_model(load_model(tmp_path / "m"), CARDS)

    for text in ("play the radio in Rome", "send rain to Ann", "nothing of the kind"):
        assert again.probabilities(text) == pytest.approx(trained.probabilities(text))


def test_a_model_without_directions_finds_by_words(trained: EnsembleRouter) -> None:
    model = trained.to_model(training_card(len(LABELLED)))
    arrays = {name: one for name, one in model.arrays.items() if not name.startswith("latent")}

    again = EnsembleRouter.of_model(msgspec.structs.replace(model, arrays=arrays), CARDS)

    assert again.route(UserQuestion(text="play jazz"))[0].agent == "music"


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("latent_lessons", Array("<f4", (2, 3), bytes(24))),
        ("latent_lessons", Array("<f4", (301, 100), bytes(4 * 30100))),
        ("latent_rows", Array("<i4", (1,), bytes(4))),
        ("latent_directions", Array("<f4", (0, 100), b"")),
        ("latent_rows", None),
    ],
)
def test_directions_that_do_not_fit_are_refused(
    trained: EnsembleRouter, name: str, wrong: Array | None
) -> None:
    model = trained.to_model(training_card(len(LABELLED)))
    arrays = {key: one for key, one in model.arrays.items() if key != name or wrong}
    if wrong is not None:
        arrays[name] = wrong

    with pytest.raises(ConfigError, match="do not fit"):
        EnsembleRouter.of_model(msgspec.structs.replace(model, arrays=arrays), CARDS)
