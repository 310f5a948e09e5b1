import time

import pytest

from prolocutor.plugins.language.together.clauses import split_clauses


@pytest.mark.parametrize(
    ("text", "second"),
    [
        ("What time is it in Tokyo? And in London?", "What time is it in London?"),
        ("what is the capital of Peru? And Chile?", "what is the capital of Chile?"),
        ("what is the capital of Peru? What about Chile?", "what is the capital of Chile?"),
        ("100 usd in eur and in gbp", "100 usd in gbp"),
        ("population of Brazil and its capital", "the capital of Brazil"),
        (
            "is 25 December a holiday in Japan and how many days until then",
            "how many days until 25 December",
        ),
        ("what does ephemeral mean? use it in a sentence", "use ephemeral in a sentence"),
        ("how big is Chile and how many people live there?", "how many people live in Chile"),
        ("capital of Japan and what currency do they use", "what currency do people in Japan use"),
    ],
)
def test_what_a_clause_leaves_out_is_put_back(text: str, second: str) -> None:
    assert split_clauses(text)[1] == second


def test_each_clause_leans_on_the_one_before() -> None:
    assert split_clauses("what is the capital of Peru, and its population, and its currency?") == [
        "what is the capital of Peru",
        "what is the population of Peru",
        "what is the currency of Peru",
    ]


def test_two_things_asked_of_one_are_both_asked_of_it() -> None:
    assert split_clauses("what's the population and the capital of Chile") == [
        "what's the population of Chile",
        "the capital of Chile",
    ]


@pytest.mark.parametrize(
    ("text", "clauses"),
    [
        (
            "opening hours of the zoo and its address",
            ["opening hours of the zoo", "the address of the zoo"],
        ),
        ("length and source of the Nile", ["length of the Nile", "source of the Nile"]),
        ("height of Snowdon and the county", ["height of Snowdon", "the county of Snowdon"]),
        ("height of Snowdon and Tryfan", ["height of Snowdon", "height of Tryfan"]),
        ("Höhe von Zugspitze und ihre Lage", ["Höhe von Zugspitze", "Lage von Zugspitze"]),
        ("la hauteur et le nom du Ventoux", ["la hauteur du Ventoux", "le nom du Ventoux"]),
        ("la altura de Teide y su isla", ["la altura de Teide", "isla de Teide"]),
        ("salt and a pinch of pepper", []),
    ],
)
def test_properties_that_share_their_owner_are_all_asked_of_it(
    text: str, clauses: list[str]
) -> None:
    assert split_clauses(text) == clauses


@pytest.mark.parametrize(
    "text",
    [
        "What is new? And you?",
        "how are you? and your dog?",
        "remind me to call mum and dad",
        "set two timers, one for 5 minutes and one for 10 minutes",
        "which is bigger, 20% of 50 or 30% of 40",
    ],
)
def test_what_leans_on_nothing_stays_as_it_is(text: str) -> None:
    assert split_clauses(text) == []


@pytest.mark.parametrize(
    "word", ["what ", "in a ", "and ", "of it ", "what is, ", "is? And ", "1 or "]
)
def test_any_text_is_cut_at_once(word: str) -> None:
    start = time.process_time()

    split_clauses((word * 250)[:500])

    assert time.process_time() - start < 1
