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
