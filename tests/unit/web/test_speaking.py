"""Which person a visitor speaks for."""

import pytest

from prolocutor.contracts.http import Visitor
from prolocutor.errors import BadInput, Forbidden
from prolocutor.web.door_context import DoorPersons

OPERATOR = Visitor("operator")
ANN = Visitor("person", "ann")
ANONYMOUS = Visitor("anonymous")
PERSONS = DoorPersons("door:", field="user_id")


@pytest.mark.parametrize(
    ("visitor", "given", "expected"),
    [
        (OPERATOR, None, "door:local"),
        (OPERATOR, "", "door:local"),
        (OPERATOR, "bob", "door:bob"),
        (ANN, None, "door:ann"),
        (ANN, "", "door:ann"),
        (ANN, "ann", "door:ann"),
        (ANONYMOUS, None, None),
        (ANONYMOUS, "", None),
    ],
)
def test_a_visitor_speaks_for(visitor: Visitor, given: str | None, expected: str | None) -> None:
    assert PERSONS.find(visitor, given) == expected


def test_a_door_may_know_nobody_for_an_operator_who_names_none() -> None:
    assert DoorPersons("door:", unnamed=None).find(OPERATOR) is None


@pytest.mark.parametrize("visitor", [ANN, ANONYMOUS, Visitor("person")])
def test_only_an_operator_speaks_for_another(visitor: Visitor) -> None:
    with pytest.raises(Forbidden) as raised:
        PERSONS.find(visitor, "bob")

    assert raised.value.field == "user_id"


KEYED = Visitor("operator", key="shop")


@pytest.mark.parametrize(
    ("visitor", "id_", "expected"),
    [
        (OPERATOR, "c", "door:thread-c"),
        (KEYED, "c", "door:shop:thread-c"),
        (OPERATOR, "shop:thread-c", "door:thread-~"),
    ],
)
def test_a_context_of_an_operator_who_names_nobody_is_a_person(
    visitor: Visitor, id_: str, expected: str
) -> None:
    speaker = DoorPersons("door:", unnamed=None).speaker(visitor)

    assert speaker.person("thread", id_).partition("~")[0] == expected.partition("~")[0]
    assert speaker.owns("thread", speaker.person("thread", id_))


def test_contexts_of_other_keys_are_not_owned() -> None:
    persons = DoorPersons("door:", unnamed=None)
    visitors = (OPERATOR, KEYED, Visitor("operator", key="thread-"))
    speakers = [persons.speaker(visitor) for visitor in visitors]

    owned = [[a.owns("thread", b.person("thread", "c")) for b in speakers] for a in speakers]

    assert owned == [[a is b for b in speakers] for a in speakers]


def test_two_names_of_one_request_are_refused() -> None:
    with pytest.raises(BadInput):
        PERSONS.speaker(OPERATOR, "ann", None, {"no": "name"}, "bob")
