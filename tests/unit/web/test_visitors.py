"""Which user a visitor speaks for."""

import pytest

from prolocutor.contracts.http import Visitor
from prolocutor.errors import Forbidden
from prolocutor.web.visitors import speaks_for

OPERATOR = Visitor("operator")
ANN = Visitor("person", "ann")
ANONYMOUS = Visitor("anonymous")


@pytest.mark.parametrize(
    ("visitor", "given", "expected"),
    [
        (OPERATOR, None, None),
        (OPERATOR, "", None),
        (OPERATOR, "bob", "bob"),
        (ANN, None, "ann"),
        (ANN, "", "ann"),
        (ANN, "ann", "ann"),
        (ANONYMOUS, None, None),
        (ANONYMOUS, "", None),
    ],
)
def test_a_visitor_speaks_for(visitor: Visitor, given: str | None, expected: str | None) -> None:
    assert speaks_for(visitor, given) == expected


@pytest.mark.parametrize("visitor", [ANN, ANONYMOUS, Visitor("person")])
def test_only_an_operator_speaks_for_another(visitor: Visitor) -> None:
    with pytest.raises(Forbidden) as raised:
        speaks_for(visitor, "bob", field="user_id")

    assert raised.value.field == "user_id"
