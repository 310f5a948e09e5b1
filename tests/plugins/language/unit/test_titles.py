"""A title is the subject of a request, in each language, without courtesy around it."""

import pytest

from prolocutor.plugins.language.titles import title_of


@pytest.mark.parametrize(
    ("said", "title"),
    [
        ("Could you please tell me the price of amber?", "Price of amber"),
        ("what's 12% of 300 and who wrote Emma?", "12% of 300"),
        ("Hi there! What's the weather like in Bergen today?", "Weather in Bergen today"),
        ("what time is it in Lima?", "Time in Lima"),
        ("give me two recipes for a cold soup, thanks", "Two recipes for a cold soup"),
        ("Thanks! And what's the height of Ben Nevis?", "Height of Ben Nevis"),
        ("Kannst du mir bitte sagen, was der Preis von Silber ist?", "Preis von Silber"),
        ("Pouvez-vous me dire quel est le prix de l'or, s'il vous plaît ?", "Prix de l'or"),
        ("¿Podrías decirme cuál es el precio del cobre?", "Precio del cobre"),
    ],
)
def test_words_that_only_ask_are_left_out(said: str, title: str) -> None:
    assert title_of(said) == title


@pytest.mark.parametrize(
    "said",
    [
        "Who painted Guernica",
        "Which lake is deeper, Ness or Lomond",
        "Where is my parcel",
        "How do I fold a map",
        "Remind me to water the plants",
        "Tell me a story",
        "My kettle leaks since Monday",
        "Wie spät ist es in Lima",
        "Quel temps fait-il à Lyon",
    ],
)
def test_a_request_whose_verb_says_something_stays_whole(said: str) -> None:
    assert title_of(f"{said}?") == said


@pytest.mark.parametrize("said", ["mailto:ann@example.org is wrong", "cat: a cat's cradle"])
def test_signs_between_words_stay(said: str) -> None:
    assert title_of(said).lower() == said


def test_courtesy_has_no_title() -> None:
    assert title_of("hello there!") == ""


def test_a_text_of_any_length_has_a_title() -> None:
    assert title_of("the price of tea " * 10_000).startswith("Price of tea")
