"""A function that takes and returns the public types is a service like any other."""

import asyncio
from collections.abc import Callable
from typing import Annotated, Any

import pytest

from prolocutor.connectors.process import ProcessConnector
from prolocutor.connectors.python import PythonConnector
from prolocutor.contracts.connector import Connector
from prolocutor.dialog.dialog import Hypothesis
from prolocutor.dialog.plain import Plain
from prolocutor.dialog.turn_request import TurnRequest
from prolocutor.testing.connector_kit import closing
from prolocutor.testing.fake_service import FakeRequest

STATE = dict(TurnRequest.of("hello"))
SAID = {"text": "hello", "confidence": 0.5}


def parrot(turn: TurnRequest) -> Hypothesis:
    return Hypothesis(turn.text, 0.5)


async def awaited(turn: TurnRequest) -> Hypothesis:
    await asyncio.sleep(0)
    return Hypothesis(turn.text, 0.5)


def batched(turns: list[TurnRequest]) -> list[list[Hypothesis]]:
    return [[Hypothesis(turn.text, 0.5)] for turn in turns]


async def _ask(connector: Connector, *values: Any) -> list[Any]:
    async with closing(connector):
        replies = await connector.send([FakeRequest(value) for value in values])
    return [reply.value if isinstance(reply, Plain) else reply for reply in replies]


@pytest.mark.parametrize(
    "make",
    [
        lambda: PythonConnector(parrot, name="s"),
        lambda: PythonConnector(parrot, name="s", inline=True),
        lambda: PythonConnector(awaited, name="s"),
        lambda: ProcessConnector(f"{__name__}:parrot", name="s"),
    ],
    ids=["plain", "inline", "awaited", "process"],
)
async def test_a_turn_request_goes_in_and_a_hypothesis_comes_out(
    make: Callable[[], Connector],
) -> None:
    assert await _ask(make(), STATE) == [SAID]


async def test_a_turn_request_may_be_declared_as_optional_or_annotated() -> None:
    def optional(turn: TurnRequest | None) -> Hypothesis | None:
        return None if turn is None else Hypothesis(turn.text, 0.5)

    def annotated(turn: Annotated[TurnRequest, "of this turn"]) -> Hypothesis:
        return Hypothesis(turn.text, 0.5)

    def either(turn: TurnRequest | dict[str, Any]) -> str:
        return type(turn).__name__

    assert await _ask(PythonConnector(optional, name="s"), STATE) == [SAID]
    assert await _ask(PythonConnector(annotated, name="s"), STATE) == [SAID]
    assert await _ask(PythonConnector(either, name="s"), STATE) == ["dict"]


async def test_a_batch_is_typed_too() -> None:
    connector = PythonConnector(batched, name="s", batched=True)

    assert await _ask(connector, STATE, STATE) == [[SAID], [SAID]]
