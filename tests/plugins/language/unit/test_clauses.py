import pytest

from prolocutor.plugins.language.together.clauses import ask_each, split_clauses
from tests.demo.agent_requests import agents_with_phrasings, phrasings


@pytest.mark.parametrize(
    ("text", "clauses"),
    [
        (
            "what's 15% of 80 and what time is it in Tokyo?",
            ["what's 15% of 80", "what time is it in Tokyo?"],
        ),
        ("Hi there, what's the time?", ["what's the time?"]),
        ("convert 6 feet to cm and 180 lb to kg", ["convert 6 feet to cm", "180 lb to kg"]),
        ("flip a coin, then tell me a joke", ["flip a coin", "tell me a joke"]),
        ("what is 6 feet in metres then cos my aunt is there", ["what is 6 feet in metres"]),
        ("need the time in Rome and flip a coin", ["need the time in Rome", "flip a coin"]),
        (
            "area of Chad, flag of Chad, money of Chad",
            ["area of Chad", "flag of Chad", "money of Chad"],
        ),
        ("pop figs on the list and start a timer", ["pop figs on the list", "start a timer"]),
        ("What is 2+2? And please define happy.", ["What is 2+2?", "please define happy."]),
        ("roll a die; set a timer for 5 minutes", ["roll a die", "set a timer for 5 minutes"]),
        (
            "tell me a joke and flip a coin and also what is 3 plus 4",
            ["tell me a joke", "flip a coin", "what is 3 plus 4"],
        ),
        ("what's 5 plus 5, 6 plus 6 and 7 + 7", ["what's 5 plus 5", "6 plus 6", "7 + 7"]),
        (
            "convert 10 km to miles, 20 kg to pounds and 30 C to F",
            ["convert 10 km to miles", "20 kg to pounds", "30 C to F"],
        ),
        (
            "what is the currency of Japan and Mexico?",
            ["what is the currency of Japan", "what is the currency of Mexico"],
        ),
        (
            "Wie heißt die Hauptstadt von Peru? Und was ist 3 mal 4?",
            ["Wie heißt die Hauptstadt von Peru?", "was ist 3 mal 4?"],
        ),
        (
            "quelle heure est-il à Tokyo et à Londres",
            ["quelle heure est-il à Tokyo", "quelle heure est-il à Londres"],
        ),
        (
            "put bread and milk on the list please, and set an alarm for 7",
            ["put bread and milk on the list", "set an alarm for 7"],
        ),
        (
            "dime la hora y cuéntame un chiste",
            ["dime la hora", "cuéntame un chiste"],
        ),
    ],
)
def test_several_requests_in_one_are_cut_apart(text: str, clauses: list[str]) -> None:
    assert split_clauses(text) == clauses


@pytest.mark.parametrize(
    "text",
    [
        "",
        "what is 15% of 80?",
        "what is 5 and 7 added together?",
        "add bread and butter to my list",
        "remind me to call mum and dad",
        "what is the difference between affect and effect?",
        "who is older, Tom and his brother?",
        "what is the distance between Rome and Paris?",
        "add milk to my list and my sister is fine",
        "Erinnere mich an Brot und mein Auto",
        "ajoute du lait et du pain à ma liste",
        "¿cuál es la diferencia entre ser y estar?",
        "Hello! Lovely day today",
        "what is 1? " * 6,
        "tell me a joke and " * 40 + "flip a coin",
        "tell me a joke" + " " * 480 + "x",
    ],
)
def test_one_request_stays_whole(text: str) -> None:
    assert split_clauses(text) == []


def test_hardly_any_single_request_is_taken_for_several() -> None:
    said = [one.text for agent in agents_with_phrasings() for one in phrasings(agent)]

    cut = [text for text in said if len(split_clauses(text)) > 1]

    assert len(cut) <= len(said) / 100


def test_each_request_has_the_words_of_its_clause_and_all_else() -> None:
    last = {"text": "flip a coin and tell me a joke", "utt_id": "u"}
    before = {"text": "hi", "utt_id": "t"}
    state = {
        "human": {"id": "h"},
        "human_utterances": [before, last],
        "utterances": [before, last],
    }

    whole, first, second = ask_each(state)

    assert whole == state
    assert first["human_utterances"] == [before, {"text": "flip a coin", "utt_id": "u"}]
    assert second["utterances"][-1] is second["human_utterances"][-1]
    assert second["utterances"][-1]["text"] == "tell me a joke"
    assert second["human"] == {"id": "h"}
    assert last["text"] == "flip a coin and tell me a joke"


def test_a_single_request_is_made_once() -> None:
    utterance = {"text": "flip a coin"}

    assert len(ask_each({"human_utterances": [utterance], "utterances": [utterance]})) == 1


def test_of_a_follow_up_the_words_are_asked_first_then_what_they_mean() -> None:
    last = {"text": "time in Rome? And flip a coin", "orig_text": "and Rome? And flip a coin"}

    asked = ask_each({"utterances": [last], "human_utterances": [last]})

    assert [one["human_utterances"][-1]["text"] for one in asked] == [
        "and Rome? And flip a coin",
        "time in Rome? And flip a coin",
        "time in Rome?",
        "flip a coin",
    ]


@pytest.mark.parametrize(
    ("text", "clauses"),
    [
        (
            "capital, currency and language of Brazil",
            ["capital of Brazil", "currency of Brazil", "language of Brazil"],
        ),
        ("remind me to buy a copy, a pen and a picture of Berlin", []),
    ],
)
def test_several_properties_share_the_thing_that_the_last_names(
    text: str, clauses: list[str]
) -> None:
    assert split_clauses(text) == clauses


@pytest.mark.parametrize(
    ("text", "clauses"),
    [
        ("add soap to my list y dime qué hora es", ["add soap to my list", "dime qué hora es"]),
        ("combien font 2 fois 3 und wie spät ist es", ["combien font 2 fois 3", "wie spät ist es"]),
        ("add queso y pan to my list", []),
    ],
)
def test_requests_in_two_languages_are_parted(text: str, clauses: list[str]) -> None:
    assert split_clauses(text) == clauses
