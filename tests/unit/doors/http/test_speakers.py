"""Who speaks through the DeepPavlov door."""

import re
from typing import Any

import pytest

from prolocutor.contracts.http import Visitor
from prolocutor.doors.http.messages import SayRequest, rater, speaker
from prolocutor.errors import BadInput, Forbidden
from prolocutor.web.door_context import may_see
from prolocutor.web.operations import JsonReader

OPERATOR, ANN, NOBODY = (
    Visitor("operator"),
    Visitor("person", "ann", frozenset({"ann", "almond:ann"})),
    Visitor("anonymous"),
)
NEW = "anonymous-" + "0" * 32


@pytest.mark.parametrize(
    ("visitor", "given", "user"),
    [
        (OPERATOR, "bob", "bob"),
        (OPERATOR, 7, "7"),
        (OPERATOR, NEW, NEW),
        (ANN, "ann", "ann"),
        (ANN, None, "ann"),
        (ANN, "", "ann"),
        (NOBODY, NEW, NEW),
    ],
)
def test_words_are_of_whom_the_visitor_may_be(visitor: Visitor, given: Any, user: str) -> None:
    assert speaker(visitor, given) == user


@pytest.mark.parametrize(
    ("visitor", "given", "error"),
    [
        (OPERATOR, None, BadInput),
        (OPERATOR, "", BadInput),
        (ANN, "bob", Forbidden),
        (NOBODY, "ann", Forbidden),
        (NOBODY, NEW + "0", Forbidden),
        (NOBODY, NEW + "\n", Forbidden),
    ],
)
def test_words_of_somebody_else_are_refused(
    visitor: Visitor, given: Any, error: type[BadInput]
) -> None:
    with pytest.raises(error) as refused:
        speaker(visitor, given)

    assert type(refused.value) is error
    assert refused.value.field == "user_id"


@pytest.mark.parametrize("given", ["true", '["ann"]', "{}"])
def test_a_user_id_of_another_kind_is_refused(given: str) -> None:
    with pytest.raises(BadInput, match=r"^user_id should be a text or a number$") as refused:
        JsonReader(SayRequest).read(f'{{"user_id": {given}}}')

    assert refused.value.field == "user_id"


def test_an_anonymous_visitor_is_new_each_time() -> None:
    names = {speaker(NOBODY, None) for _ in range(10)}

    assert len(names) == 10
    assert all(re.fullmatch("anonymous-[0-9a-f]{32}", name) for name in names)


def test_an_operator_need_not_say_who_rates() -> None:
    assert [rater(OPERATOR, given) for given in (None, "bob")] == [None, "bob"]
    assert rater(ANN, None) == "ann"


@pytest.mark.parametrize(
    ("visitor", "user", "may"),
    [
        (OPERATOR, "ann", True),
        (OPERATOR, None, True),
        (ANN, "ann", True),
        (ANN, "almond:ann", True),
        (ANN, "page:ann", False),
        (ANN, "bob", False),
        (ANN, None, False),
        (NOBODY, NEW, False),
        (NOBODY, None, False),
    ],
)
def test_persons_see_what_is_theirs(visitor: Visitor, user: str | None, may: bool) -> None:
    assert may_see(visitor, user) == may
