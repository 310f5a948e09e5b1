"""Passwords: the skill that asked gets them, nobody else is shown them."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from prolocutor.assistant.assistant import Assistant
from prolocutor.assistant.rounds.secrets import MASK
from prolocutor.dialog.agent_state import encode_dialog
from prolocutor.plan.pipeline import Pipeline, Service
from tests.model_store import ModelStore
from tests.unit.assistant.askers import Asker, answer, asking, asking_skills, special
from tests.unit.assistant.talks import assistant

SECRET = "hunter2"
TOKEN = answer("QUOTED_STRING_0", SECRET)


async def everything(it: Assistant) -> str:
    """Return all that is kept of ann, as one text."""
    rows = [row.message or b"" for row in await it.store.feed("ann", 0)]
    dialogs = [encode_dialog(one) async for one in it.store.export(user="ann")]
    return b"\n".join([*rows, *dialogs]).decode()


@pytest.mark.parametrize(
    "came",
    [
        {"text": SECRET},
        {"text": "", "parsed": TOKEN},
        {"text": SECRET, "parsed": TOKEN},
        {"text": "", "program": f'$answer("{SECRET}");'},
        {"text": "", "parsed": {"program": f'bookkeeping(answer("{SECRET}"));'}},
    ],
)
async def test_a_password_is_for_the_skill_that_asked_alone(came: dict[str, Any]) -> None:
    seen: list[str] = []

    def asks(request: Any) -> list[dict[str, Any]]:
        if "answer" not in request:
            return [asking("password")]
        seen.append(request["answer"]["value"])
        return [{"text": request["utterances"][-1]["text"], "confidence": 1.0}]

    async with assistant(Service("asks", asks, inline=True)) as it:
        await it.turn("hi", user="ann")
        turn = await it.turn(user="ann", **came)
        kept = await everything(it)
    assert seen == [SECRET]
    assert SECRET not in kept
    assert MASK in kept
    assert turn.reply.text == MASK


@pytest.mark.parametrize("came", [{"text": "hi"}, {"text": "hi", "parsed": special("nevermind")}])
async def test_words_other_than_a_password_are_stored_as_they_are(came: dict[str, Any]) -> None:
    asker = Asker()
    async with assistant(*asking_skills(asker)) as it:
        kind = "password" if "parsed" in came else "raw_string"
        await it.turn(f"ask {kind}", user="ann")
        await it.turn(user="ann", **came)
        await it.turn("hello", user="ann")
        kept = await everything(it)
    assert MASK not in kept
    assert '"hi"' in kept


async def test_a_password_that_is_asked_for_unasked_is_one() -> None:
    asker = Asker()
    async with assistant(*asking_skills(asker)) as it:
        await it.turn("hello", user="ann")
        await it.notify("ann", "Your password?", ask="password", skill="asker")
        await it.turn(SECRET, user="ann")
        kept = await everything(it)
    assert SECRET not in kept.replace(f'got \\"{SECRET}\\"', "")
    assert asker.told[0]["value"] == SECRET


async def test_after_a_restart_it_is_still_one(tmp_path: Path) -> None:
    asker, store = Asker(), f"sqlite:///{tmp_path}/dialogs.db"
    async with Assistant(Pipeline(skills=asking_skills(asker)), store=store) as it:
        await it.turn("ask password", user="ann")
    async with Assistant(Pipeline(skills=asking_skills(asker)), store=store) as it:
        await it.turn(SECRET, user="ann", request_id="key")
        again = await it.turn(SECRET, user="ann", request_id="key")
        kept = await everything(it)
    assert again.repeated
    assert SECRET not in kept.replace(f'got \\"{SECRET}\\"', "")
    assert asker.told[0]["value"] == SECRET


async def test_a_turn_with_a_password_that_was_cut_off_does_not_run_again() -> None:
    asker, store = Asker(), ModelStore()
    skills = asking_skills(asker)
    async with assistant(*skills, store=store) as it:
        await it.turn("ask password", user="ann")
        began = asyncio.Event()

        async def finish(_: Any) -> None:
            began.set()
            await asyncio.Event().wait()

        ends, store.close_turn = store.close_turn, finish  # type: ignore[method-assign, assignment]
        turn = asyncio.create_task(it.turn(SECRET, user="ann"))
        await began.wait()
        await it.aclose(grace=0)
        turn.cancel()
        store.close_turn = ends  # type: ignore[method-assign]
    async with assistant(*skills, store=store) as it:
        while it.turns.busy:  # noqa: ASYNC110 - nothing tells when the last one has gone
            await asyncio.sleep(0)
        assert (await it.archive.waiting("ann")) is not None
        await it.turn(SECRET, user="ann")
        kept = await everything(it)
    assert [one["value"] for one in asker.told] == [SECRET, SECRET]
    assert SECRET not in kept.replace(f'got \\"{SECRET}\\"', "")


@pytest.mark.parametrize("came", [{"text": SECRET}, {"text": "", "parsed": TOKEN}])
async def test_no_byte_of_the_file_or_its_log_holds_it(
    came: dict[str, Any], tmp_path: Path
) -> None:
    def asks(request: Any) -> dict[str, Any]:
        found = [file.name for file in tmp_path.iterdir() if SECRET.encode() in file.read_bytes()]
        seen.append(found)
        return {"text": "thanks", "confidence": 1.0} if "answer" in request else asking("password")

    seen: list[list[str]] = []
    pipeline = Pipeline(skills=[Service("asks", asks, inline=True)])
    async with Assistant(pipeline, store=f"sqlite:///{tmp_path}/dialogs.db") as it:
        await it.turn("hi", user="ann")
        await it.turn(user="ann", request_id="key", **came)
        asks({"answer": None})
    assert seen == [[], [], []]
