"""An answer that ends a question which any text answers."""

import pytest

from prolocutor.asks.answer_forms import gives_up


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ({"kind": "cancelled"}, True),
        ({"kind": "raw_string", "value": "Never  mind!"}, True),
        ({"kind": "raw_string", "value": "nevermind"}, True),
        ({"kind": "raw_string", "value": "cancel"}, False),
        ({"kind": "raw_string", "value": "never mind the gap"}, False),
        ({"kind": "password", "value": "never mind"}, False),
        ({"kind": "raw_string", "value": None}, False),
        ({}, False),
    ],
)
def test_never_mind_alone_gives_up_where_any_text_is_an_answer(
    answer: dict[str, object], expected: bool
) -> None:
    assert gives_up(answer) is expected
