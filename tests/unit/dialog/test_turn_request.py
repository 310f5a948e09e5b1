"""A service that declares a TurnRequest is shown the agent state by typed attributes and by key."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import pytest

from prolocutor.dialog import plain
from prolocutor.dialog.dialog import BotUtterance, HumanUtterance
from prolocutor.dialog.turn_request import AskAnswer, TurnRequest, taking_dicts

if TYPE_CHECKING:
    from decimal import Decimal

TURN = TurnRequest.of(
    "and now?",
    user="ann",
    annotations={"ner": ["now"]},
    answer=AskAnswer(kind="number", value=5, raw="five"),
    before=["hello", "Hi."],
)


def test_the_attributes_are_those_of_the_agent_state() -> None:
    assert TURN.text == "and now?"
    assert TURN.annotations == {"ner": ["now"]}
    assert TURN.human.user_external_id == "ann"
    assert [type(utterance) for utterance in TURN.utterances] == [
        HumanUtterance,
        BotUtterance,
        HumanUtterance,
    ]
    assert [utterance.text for utterance in TURN.dialog.utterances] == ["hello", "Hi.", "and now?"]
    assert TURN.utterance == TURN.utterances[-1]
    assert TURN.reply is None


def test_the_keys_are_those_of_the_agent_state() -> None:
    assert TURN["utterances"][-1]["text"] == "and now?"
    assert [utterance["text"] for utterance in TURN["bot_utterances"]] == ["Hi."]
    assert TURN.get("missing") is None
    assert {"dialog_id", "human", "bot", "turn_id", "service", "answer"} <= {*TURN}


def test_an_answer_is_read_by_attribute_and_by_key() -> None:
    assert TURN.answer is not None
    assert TURN.answer.kind == "number"
    assert TURN.answer["value"] == 5
    assert TURN.answer.cancelled is False
    assert TurnRequest.of("hi").answer is None


def test_a_request_that_is_no_agent_state_is_refused() -> None:
    with pytest.raises(TypeError, match="the request is a list"):
        TurnRequest([])


def declared(turn: TurnRequest) -> str:
    return turn.text


def several(turns: list[TurnRequest]) -> list[str]:
    return [turn.text for turn in turns]


def sequence(turns: Sequence[TurnRequest]) -> list[str]:
    return [turn.text for turn in turns]


def unknown_beside(turn: TurnRequest, other: Decimal | None = None) -> str:
    return turn.text


class Skill:
    def __call__(self, turn: TurnRequest) -> str:
        return turn.text

    def method(self, turn: TurnRequest) -> str:
        return turn.text


@pytest.mark.parametrize("target", [declared, unknown_beside, Skill(), Skill().method])
def test_a_declared_argument_is_given(target: Any) -> None:
    assert taking_dicts(target)(dict(TURN)) == "and now?"


@pytest.mark.parametrize("target", [several, sequence])
def test_a_batch_is_given_as_declared(target: Any) -> None:
    assert taking_dicts(target)([dict(TURN), dict(TURN)]) == ["and now?"] * 2


def undeclared(request):  # type: ignore[no-untyped-def]
    return request


def a_dict(request: dict[str, Any]) -> Any:
    return request


@pytest.mark.parametrize("target", [undeclared, a_dict, len, print, lambda: None])
def test_a_function_without_declarations_is_called_itself(target: Any) -> None:
    assert taking_dicts(target) is target


def test_a_request_can_be_sent_on_as_json() -> None:
    assert plain.check(dict(TURN)).value == dict(TURN)
