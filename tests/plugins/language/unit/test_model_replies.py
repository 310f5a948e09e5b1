"""What a model's reply means as the question of a follow-up."""

import json

import pytest

from prolocutor.errors import BadReply
from prolocutor.plugins.language.follow_up.annotator import LONGEST_QUESTION
from prolocutor.plugins.language.follow_up.model import read


def test_a_question_may_have_the_greatest_length() -> None:
    longest = "a" * LONGEST_QUESTION

    found = read([{"text": json.dumps({"question": longest})}])

    assert found["text"] == longest


def test_a_longer_question_is_refused() -> None:
    too_long = "a" * (LONGEST_QUESTION + 1)

    with pytest.raises(BadReply, match="401 characters"):
        read([{"text": json.dumps({"question": too_long})}])


@pytest.mark.parametrize("whole", ["when is yoga on Monday", "When is yoga?"])
def test_a_question_of_words_of_the_last_one_alone_is_refused(whole: str) -> None:
    with pytest.raises(BadReply, match="no more than the last"):
        read([{"text": json.dumps({"question": whole, "of": "when is yoga on Monday?"})}])


def test_a_question_of_the_same_words_in_another_order_is_read() -> None:
    turned = {"question": "trains from York to Leeds", "of": "trains from Leeds to York"}

    found = read([{"text": json.dumps(turned)}])

    assert found["text"] == "trains from York to Leeds"
