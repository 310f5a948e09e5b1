"""Services in our process that do anything at all: each turn has its reply, and its record."""

import asyncio
import random
from collections.abc import Callable, Iterator
from typing import Any

from prolocutor import Assistant, Pipeline, Service
from prolocutor.contracts.observer import TurnRecord
from prolocutor.contracts.selection import Enough, Selection
from prolocutor.dialog.agent_state import encode_dialog
from prolocutor.errors import BadReply, ServiceError
from prolocutor.plan.pipeline import Breaker
from prolocutor.stores.turn_records import pack
from tests.fuzz.odd_values import odd_value
from tests.fuzz.rounds import patience, rounds
from tests.integration.engine.misbehaviours import PLACES, fine

DEADLINE = 60.0
TIMEOUT = 20.0
NEVER = Breaker(failures=10**6)
FIELDS = {
    "skills": ["text", "confidence", "human_attributes", "messages", "ask", "annotations", "cost"],
    "response_selector": ["skill_name", "text", "confidence", "hypotheses", "attributes", "faults"],
    "last_chance": ["text", "annotations", "confidence"],
}
USUAL = {"text": "odd", "confidence": 0.9, "skill_name": "odd"}


def odd(chance: random.Random) -> Any:
    """Make a value of any shape; now and then one that doubles, or that JSON cannot say."""
    value: Any = odd_value(chance)
    if chance.random() < 0.2:
        value = chance.choice([float("nan"), {1: 2}, {"a"}, b"bytes", object(), [value] * 9])
    if chance.random() < 0.2:
        for _ in range(40):
            value = chance.choice([[value, value], (value, value), {"a": value, "b": value}])
    return value


def selection(chance: random.Random) -> Selection:
    """Make a selection, which may refuse to be made."""
    then = [["odd"], None, odd(chance), "later"]

    def more(given: Any, left: float) -> Any:
        answer = chance.choice(then)
        return Enough(odd(chance)) if answer == "later" else answer

    return Selection(
        chance.choice([["odd", "fine"], ["fine"], odd(chance)]),
        more if chance.random() < 0.5 else None,
        *[odd(chance) if chance.random() < 0.2 else "why" for _ in range(2)],
        faults=[odd(chance) if chance.random() < 0.3 else "fault"],
    )


def act(place: str, chance: random.Random) -> Any:
    """Do what the service does in its place."""
    if chance.random() < 0.25:
        kinds = (ValueError, KeyError, ServiceError, OSError, SystemExit, KeyboardInterrupt)
        raise chance.choice([*kinds, BadReply])(odd(chance))
    if place == "skill_selector" and chance.random() < 0.8:
        return selection(chance)
    if place in FIELDS and chance.random() < 0.8:
        fields = chance.sample(FIELDS[place], chance.randrange(3))
        return {**USUAL, **{field: odd(chance) for field in fields}}
    return odd(chance)


def target(place: str, chance: random.Random) -> Callable[[Any], Any]:
    """Make a function of any kind that does it."""

    def plain(request: Any) -> Any:
        return act(place, chance)

    async def awaited(request: Any) -> Any:
        await asyncio.sleep(0)
        return act(place, chance)

    def words(request: Any) -> Iterator[Any]:
        yield "some words"
        yield act(place, chance)

    return chance.choice([plain, awaited, words if place == "skills" else plain])


class Records:
    """An observer that keeps what the store would."""

    def __init__(self) -> None:
        self.kept: list[bytes] = []

    def turn_ended(self, record: TurnRecord) -> None:
        self.kept.append(pack(record))

    def breaker_changed(self, service: str, state: str) -> None:
        """Do nothing."""


async def test_each_turn_has_its_reply_and_its_record_whatever_a_function_does() -> None:
    for chance in rounds(25):
        place = chance.choice(PLACES)
        it = Service(
            "odd", target(place, chance), timeout=TIMEOUT, breaker=NEVER,
            together=place == "candidate_annotators" and chance.random() < 0.5,
        )  # fmt: skip
        services: dict[str, Any] = {other: [fine(other)] for other in PLACES}
        services[place] = [it, fine(place)]
        services["last_chance"] = it if place == "last_chance" else fine("last_chance")
        records = Records()
        async with asyncio.timeout(patience()):
            async with Assistant(
                Pipeline(**services), store="memory:", deadline=DEADLINE, observers=[records]
            ) as assistant:
                for _ in range(2):
                    result = await assistant.turn("hi", user="ann")
                dialog = await assistant.store.dialog(result.dialog_id)
        assert dialog is not None
        assert len(dialog.utterances) == 4
        encode_dialog(dialog)
        assert all(records.kept), len(records.kept)
        assert len(records.kept) == 2
