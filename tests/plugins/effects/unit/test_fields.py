"""Rules that approve by themselves, and what a preview says."""

import pytest

from prolocutor.errors import BadReply, ConfigError
from prolocutor.plugins.effects.fields import (
    ApprovalRule,
    EffectPreview,
    field_lines,
    field_question,
    given_value,
    one_line,
    read_preview,
)

PAYMENT = {"amount": 15, "currency": "EUR", "to": "Bob", "express": False}


@pytest.mark.parametrize(
    ("rule", "holds"),
    [
        ("amount < 20", True),
        ("amount < 15", False),
        ("10 <= amount <= 15", True),
        ("amount < 20 and currency == 'EUR'", True),
        ("amount > 20 or to == 'Bob'", True),
        ("currency in ['CHF', 'EUR']", True),
        ("currency not in ['CHF', 'EUR']", False),
        ("not express", True),
        ("amount > -1", True),
        ("missing < 20", False),
        ("not missing", False),
        ("to < 20", False),
        ("amount", False),
        ("express < 20", False),
        ("express == 0", False),
        ("express == false", True),
    ],
)
def test_a_rule_is_true_of_fields_or_it_is_not(rule, holds) -> None:
    assert ApprovalRule(rule).holds(PAYMENT) is holds


@pytest.mark.parametrize(
    "rule",
    ["", "amount <", "amount + 1 < 2", "amount.real < 2", "f(amount)", "20", "[x for x in y]",
     "amount < 20; 1", "__import__('os')", "(lambda: 1)()", "amount < 9**9**9", "not 'a'"],
)  # fmt: skip
def test_anything_but_a_comparison_is_refused(rule) -> None:
    with pytest.raises(ConfigError, match="expected a comparison of fields"):
        ApprovalRule(rule)


@pytest.mark.parametrize(
    ("said", "preview"),
    [
        (None, None),
        ([], None),
        ({"amount": 15}, EffectPreview({"amount": 15})),
        ({"fields": {"amount": 15}, "title": "Pay"}, EffectPreview({"amount": 15}, "Pay")),
        ([{"fields": {}}], EffectPreview()),
        (
            [{"text": '{"fields": {"amount": 15}}', "confidence": 0.5}],
            EffectPreview({"amount": 15}),
        ),
        ([{"text": "null", "confidence": 0.5}], None),
        (
            {
                "text": "",
                "confidence": 0.5,
                "attributes": {"data_parts": [{"data": {"fields": {"amount": 15}}}]},
            },
            EffectPreview({"amount": 15}),
        ),
    ],
)
def test_a_preview_is_fields_or_nothing(said, preview) -> None:
    assert read_preview(said) == preview


@pytest.mark.parametrize("said", ["pay", 1, {"fields": {}, "title": 3}])
def test_a_preview_of_another_form_is_the_agents_fault(said) -> None:
    with pytest.raises(BadReply):
        read_preview(said)


@pytest.mark.parametrize(
    ("kind", "value", "asked"),
    [
        ({"type": "number"}, "", ("number", [])),
        ({"type": "boolean"}, None, ("yesno", [])),
        ({"enum": ["EUR", "CHF"]}, "EUR", ("choice", ["EUR", "CHF"])),
        ({"type": "string"}, 5, ("raw_string", [])),
        (None, 5, ("number", [])),
        (None, True, ("yesno", [])),
        (None, "Bob", ("raw_string", [])),
    ],
)
def test_a_new_value_is_asked_for_as_what_it_is(kind, value, asked) -> None:
    assert field_question("it", value, {} if kind is None else {"it": kind}) == asked


def test_an_answer_gives_the_value_that_the_agent_knows() -> None:
    assert given_value("it", {"it": {"enum": [1, 2]}}, {"idx": 1, "title": "2"}) == 2
    assert given_value("it", {"it": {"type": "integer"}}, 3.0) == 3
    assert given_value("it", {}, "Bob") == "Bob"


def test_fields_are_shown_by_their_titles() -> None:
    kinds = {"to": {"title": "Recipient"}}

    assert field_lines({"to": "Bob", "express": False, "at": [1]}, kinds) == [
        "Recipient: Bob", "express: no", "at: [1]"
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("Bob\namount: 0.01", "to: Bob\n    amount: 0.01"),
        ("Bob\u2028amount: 0.01", "to: Bob\n    amount: 0.01"),
        ("Bob\u202e10.0", "to: Bob\ufffd10.0"),
        ("Bob\x1b[2J", "to: Bob\ufffd[2J"),
        ("\u0645\u06cc\u200c\u062e", "to: \u0645\u06cc\u200c\u062e"),
    ],
)
def test_a_value_looks_like_no_other_field(value, shown) -> None:
    assert field_lines({"to": value}, {}) == [shown]


def test_the_name_of_a_field_is_one_line() -> None:
    assert field_lines({"to": 1}, {"to": {"title": "to: Bob\nfee"}}) == ["to: Bob fee: 1"]
    assert one_line("Pay\n\u2066nothing") == "Pay \ufffdnothing"
