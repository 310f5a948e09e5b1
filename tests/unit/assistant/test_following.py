"""Observers that follow turns while they run, beside those who listen to one turn."""

from typing import Any

from prolocutor.contracts.observer import Following, TurnBegun, TurnRecord
from prolocutor.dialog.turn_events import ServiceAsked, ServiceSettled
from prolocutor.plan.pipeline import Pipeline
from tests.unit.assistant.talks import assistant
from tests.unit.pipeline.talk import hypothesis, says


class Follower:
    """Keeps what it is passed; raises where it is told to."""

    def __init__(self, raises: bool = False) -> None:
        self.seen: list[tuple[Any, ...]] = []
        self._raises = raises

    def turn_begun(self, begun: TurnBegun) -> None:
        self._note("begun", begun.user, begun.channel, begun.text)

    def service_asked(self, turn_id: str, service: str, stage: str) -> None:
        self._note("asked", service, stage)

    def service_settled(
        self, turn_id: str, service: str, stage: str, outcome: str, seconds: float
    ) -> None:
        assert seconds >= 0
        self._note("settled", service, outcome)

    def dialog_waits(self, dialog_id: str) -> None:
        self._note("waits")

    def turn_ended(self, record: TurnRecord) -> None:
        self._note("ended", record.response)

    def breaker_changed(self, service: str, state: str) -> None:
        self._note("breaker", service, state)

    def _note(self, *what: Any) -> None:
        self.seen.append(what)
        if self._raises:
            raise ValueError("no")


WHOLE = [
    ("begun", "ann", "python", "hi"),
    ("asked", "note", "annotators"),
    ("settled", "note", "done"),
    ("asked", "chat", "skills"),
    ("settled", "chat", "done"),
    ("ended", "hello"),
]


async def test_followers_and_a_listener_see_the_same_turn_and_one_that_raises_harms_none() -> None:
    always, rude, now = Follower(), Follower(raises=True), Follower()
    assert isinstance(now, Following)
    chat = says("chat", hypothesis("hello"), hypothesis("bye"))
    pipeline = Pipeline(annotators=[says("note", 1)], skills=[chat])
    async with assistant(pipeline=pipeline, observers=[rude, always]) as it:
        with it.observers.following(now):
            events = [event async for event in it.stream("hi", user="ann")]
        await it.turn("hi", user="ann")

    assert now.seen == always.seen[: len(WHOLE)] == rude.seen[: len(WHOLE)] == WHOLE
    assert len(always.seen) == 2 * len(WHOLE)
    assert [one.service for one in events if isinstance(one, ServiceAsked)] == ["note", "chat"]
    assert len([one for one in events if isinstance(one, ServiceSettled)]) == 2
