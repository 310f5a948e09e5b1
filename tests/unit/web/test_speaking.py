"""Which person a visitor speaks for."""

import pytest

from prolocutor.contracts.http import Visitor
from prolocutor.errors import Forbidden
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
