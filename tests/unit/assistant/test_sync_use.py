"""An assistant for those who are not async: it runs in a thread of its own."""

import asyncio
import threading
from pathlib import Path
from typing import Any

import pytest

from prolocutor import Assistant, Pipeline, Service, TurnInput
from prolocutor.errors import Conflict, StoreError
from tests.unit.assistant.talks import echo


def assistant(*skills: Service, store: str = "memory:") -> Assistant:
    return Assistant(Pipeline(skills=skills), store=store)


def test_a_reply_is_returned_without_any_event_loop() -> None:
    with assistant(echo()) as it:
        said = it.reply_sync("hi", user="ann", request_id="1")
        again = it.reply_sync(TurnInput("hi", "ann", request_id="1"))
        with pytest.raises(Conflict):
            it.reply_sync("you", "ann", request_id="1")

    assert said.text == "re: hi"
    assert again.utt_id == said.utt_id
    assert not it.ready
    assert "assistant" not in [one.name for one in threading.enumerate()]


def test_several_threads_are_answered_at_once() -> None:
    meeting = threading.Barrier(2)

    def meet(_: dict[str, Any]) -> dict[str, Any]:
        meeting.wait(5)
        return {"text": "both are here", "confidence": 1.0}

    said = []
    with assistant(Service("meet", meet)) as it:
        calls = [
            threading.Thread(target=lambda user=user: said.append(it.reply_sync("hi", user).text))
            for user in ("ann", "bob")
        ]
        for one in calls:
            one.start()
        for one in calls:
            one.join()

    assert said == ["both are here"] * 2


def test_one_that_is_not_open_says_how_it_is_opened() -> None:
    with pytest.raises(RuntimeError, match="with Assistant"):
        assistant(echo()).reply_sync("hi", "ann")


def test_code_inside_the_loop_cannot_wait_for_the_loop() -> None:
    wrong: list[str] = []

    async def asks_itself(_: dict[str, Any]) -> dict[str, Any]:
        try:
            it.reply_sync("hi", "bob")
        except RuntimeError as error:
            wrong.append(str(error))
        return {"text": "no", "confidence": 1.0}

    with assistant(Service("self", asks_itself)) as it:
        it.reply_sync("hi", "ann")

    assert "cannot wait for itself" in wrong[0]


async def test_it_works_beside_an_event_loop_that_runs() -> None:
    with assistant(echo()) as it:
        said = await asyncio.to_thread(it.reply_sync, "hi", "ann")

    assert said.text == "re: hi"


def test_a_store_that_does_not_open_leaves_no_thread(tmp_path: Path) -> None:
    with (
        pytest.raises(StoreError, match="cannot be opened"),
        assistant(echo(), store=f"sqlite:///{tmp_path}"),
    ):
        pass

    assert "assistant" not in [one.name for one in threading.enumerate()]
