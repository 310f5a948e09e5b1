"""Titles of conversations."""

import pytest

from prolocutor.web.titles import title_of

PICTURE = f"http://127.0.0.1:4242/uploads/{32 * 'a'}"


@pytest.mark.parametrize(
    ("said", "title"),
    [
        ([], ""),
        (["hi"], "hi"),
        (["hi", None, "the weather in Oslo tomorrow"], "Weather in Oslo tomorrow"),
        ([None, 5, "hello"], "hello"),
        ([f"{PICTURE}.csv"], "A table"),
        ([f"{PICTURE}.txt"], "A text"),
        ([f"{PICTURE}.png"], "A picture"),
    ],
)
def test_a_title_is_of_the_first_text_that_says_enough(said: list[object], title: str) -> None:
    assert title_of(said) == title
