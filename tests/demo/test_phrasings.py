"""What people say to the demo's agents in words that no agent knows by itself."""

import asyncio
from pathlib import Path

import pytest

import prolocutor_demo
from prolocutor.assistant.assistant import Assistant
from prolocutor.config.loading import load
from prolocutor.contracts.connector import AgentProfile
from prolocutor.plan.pipeline import Stage
from prolocutor.plugins.language.follow_up.phrasings import learning
from prolocutor.plugins.language.follow_up.phrasings.reading import PhrasingReader
from prolocutor_demo.reading.kinds import kinds_of
from prolocutor_demo.reading.vocabulary import vocabulary

FILE = Path(prolocutor_demo.__file__).parent / "assistant" / "assistant.yaml"

SAID = [
    ("my pen friend lives in Nairobi what time would she have now", "In Nairobi it is"),
    ("please would someone rub everything off the todo list", "nothing on your todo list"),
    ("how long must i still wait for the 24th of December to come round", "24 December"),
    ("whats it come to if nine of us pay 14 each", "126"),
    ("ich müsste mal wissen, wie viel Uhr die Leute in Lima gerade haben", "In Lima ist es"),
    ("combien d'habitants est-ce qu'il peut bien y avoir au Kenya", "millions"),
]


@pytest.fixture(scope="module")
def replies() -> dict[str, str]:
    """The demo's replies to all that is said here, each from a person of its own."""

    async def ask() -> dict[str, str]:
        async with Assistant.from_file(FILE, store="memory:") as assistant:
            return {
                text: (await assistant.reply(text, user=str(n))).text
                for n, (text, _) in enumerate([*SAID, *((one, "") for one in STRANGE)])
            }

    return asyncio.run(ask())


STRANGE = ["who painted the night watch", "turn the heating in the hall up a bit"]


@pytest.mark.parametrize(("text", "words"), SAID)
def test_new_words_get_the_answer_of_an_agent(
    replies: dict[str, str], text: str, words: str
) -> None:
    assert words in replies[text]


@pytest.mark.parametrize("text", STRANGE)
def test_what_no_agent_can_do_is_declined(replies: dict[str, str], text: str) -> None:
    assert "I can" in replies[text]


@pytest.mark.parametrize("code", ["en", "de", "fr", "es"])
def test_what_was_learned_is_of_these_phrasings(
    code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    skills = load(FILE).pipeline.services_at(Stage.SKILL)
    cards = [(one.name, one.card_members) for one in skills if "phrasings" in one.card_members]
    profiles = [AgentProfile(name=name, card=card, vocabulary=vocabulary) for name, card in cards]
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(learning, "learn_weights", lambda *_: {})

    assert PhrasingReader(profiles).model(code).weights, "run `make phrasings`"
    assert not [*tmp_path.iterdir()]


@pytest.mark.parametrize(
    ("words", "code", "kinds"),
    [
        ("peru", "en", {"country", "place"}),
        ("lisbon", "en", {"place"}),
        ("pounds", "en", {"unit", "currency"}),
        ("easter", "en", {"date"}),
        ("swahili", "en", {"language"}),
        ("nice", "en", set()),
        ("norwegen", "de", {"country", "place"}),
        ("livres", "fr", {"unit"}),
    ],
)
def test_names_are_of_kinds(words: str, code: str, kinds: set[str]) -> None:
    assert kinds_of(words, code) >= kinds
    assert bool(kinds) == bool(kinds_of(words, code))
