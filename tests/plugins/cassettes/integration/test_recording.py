"""What is recorded: words that stream, failures, secrets, each conversation in a file."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from prolocutor.assistant.assistant import Assistant
from prolocutor.dialog.plain import check
from prolocutor.dialog.turn_events import Delta
from prolocutor.errors import BadInput
from prolocutor.plan.pipeline import Pipeline, Service
from prolocutor.plugins.cassettes.cassette import read_cassette
from prolocutor.plugins.cassettes.replaying import CassettePlayer, memory_store
from prolocutor.testing import CassetteRecorder
from prolocutor.testing.fake_service import FakeService

HYPOTHESIS = {"text": "Fine, thanks.", "confidence": 0.9}


async def speak(request: dict[str, Any]) -> Any:
    """Say a few words one after the other."""
    for word in ("One ", "two ", "three."):
        yield word
        await asyncio.sleep(0)


async def recorded(path: Path, said: list[str], *skills: Service, **options: Any) -> None:
    recorder = CassetteRecorder(path, **options)
    pipeline = Pipeline(skills=[*skills])
    async with Assistant(pipeline, store="memory:", recorder=recorder) as assistant:
        for words in said:
            await assistant.reply(words, "ann")


async def test_words_that_stream_are_recorded_and_stream_again(tmp_path: Path) -> None:
    pipeline, path = Pipeline(skills=[Service("speaker", speak)]), tmp_path / "a.cassette"

    async def heard(assistant: Assistant) -> list[str]:
        async with assistant:
            events = [event async for event in assistant.stream("hello", "ann")]
        return [event.text for event in events if isinstance(event, Delta)]

    first = await heard(Assistant(pipeline, store="memory:", recorder=CassetteRecorder(path)))
    (call,) = read_cassette(path).turns[0].calls
    player = CassettePlayer(read_cassette(path))
    silent = Pipeline(skills=[Service("speaker", FakeService(ValueError("never asked")))])
    store = memory_store(player.clock)
    again = await heard(Assistant(silent, store=store, recorder=player))

    assert "".join(first) == "".join(again) == "One two three."
    assert [text for _, text in call.chunks] == ["One ", "two ", "three."]


class MarkdownAgent:
    """A connector whose agent writes Markdown."""

    format = "markdown"

    async def send(self, requests: Any) -> Any:
        return [check([{"text": "**Fine**", "confidence": 0.9}]) for _ in requests]

    async def aclose(self) -> None:
        """Close nothing."""


async def test_markdown_of_an_agent_is_shown_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "a.cassette"
    await recorded(path, ["hello"], Service("model", MarkdownAgent()))
    player = CassettePlayer(read_cassette(path))
    pipeline = Pipeline(skills=[Service("model", FakeService())])
    async with Assistant(pipeline, store="memory:", recorder=player) as assistant:
        markdown = assistant.engine.prepared.markdown

    assert markdown == {"model"}


async def test_failures_and_late_replies_fail_again_without_waiting(tmp_path: Path) -> None:
    path = tmp_path / "a.cassette"
    failing = Service("failing", FakeService(ValueError("broken")))
    slow = Service("slow", lambda request: asyncio.Event().wait(), timeout=0.05)
    await recorded(path, ["hello"], failing, slow, Service("fine", FakeService([HYPOTHESIS])))
    turn = read_cassette(path).turns[0]

    assert turn.reply.failed == {"skills.failing": "raised", "skills.slow": "late"}
    assert [call.dropped for call in turn.calls] == [False, True, False]
    assert turn.reply.reply == "Fine, thanks."


async def test_no_secret_reaches_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WEATHER_TOKEN", "hush-hush-42")
    asks = {"text": "Your password?", "confidence": 1.0, "ask": "password"}
    told = {"text": "It is hush-hush-42, and yours opensesame.", "confidence": 1.0}
    noted = {**told, "human_attributes": {"api_key": "another-one"}}
    skill = Service("vault", FakeService([asks], [noted], [HYPOTHESIS]))
    await recorded(tmp_path / "a.cassette", ["log me in", "opensesame", "thanks"], skill)

    written = (tmp_path / "a.cassette").read_text()

    for secret in ("opensesame", "hush-hush-42", "another-one"):
        assert secret not in written
    assert read_cassette(tmp_path / "a.cassette").turns[1].says == "<secret>"


async def test_each_conversation_has_a_file_of_its_own(tmp_path: Path) -> None:
    recorder = CassetteRecorder(tmp_path / "talk.cassette")
    skill = Service("fine", FakeService([HYPOTHESIS]))
    pipeline = Pipeline(skills=[skill])
    async with Assistant(pipeline, store="memory:", recorder=recorder) as assistant:
        for user in ("ann", "bob", "ann"):
            await assistant.reply("hello", user)

    assert [path.name for path in recorder.written] == ["talk.cassette", "talk-2.cassette"]
    assert [len(read_cassette(path).turns) for path in recorder.written] == [2, 1]


async def test_a_dialog_that_had_begun_before_is_left_out(tmp_path: Path) -> None:
    store = f"sqlite:///{tmp_path}/dialogs.db"
    pipeline = Pipeline(skills=[Service("fine", FakeService([HYPOTHESIS]))])
    async with Assistant(pipeline, store=store) as assistant:
        await assistant.reply("hello", "ann")
    recorder = CassetteRecorder(tmp_path / "talk.cassette")
    async with Assistant(pipeline, store=store, recorder=recorder) as assistant:
        await assistant.reply("hello again", "ann")

    assert recorder.written == []
    assert recorder.left_out == {"ann"}


async def test_a_dialog_of_a_person_who_is_remembered_is_left_out(tmp_path: Path) -> None:
    recorder = CassetteRecorder(tmp_path / "talk.cassette")
    remembering = {**HYPOTHESIS, "human_attributes": {"tea": "green"}}
    pipeline = Pipeline(skills=[Service("fine", FakeService([remembering]))])
    async with Assistant(pipeline, store="memory:", recorder=recorder) as assistant:
        await assistant.reply("hello", "ann", "main")
        await assistant.reply("hello", "ann", "other")

    assert [path.name for path in recorder.written] == ["talk.cassette"]
    assert recorder.left_out == {"ann"}


def test_a_file_that_exists_is_not_written_over(tmp_path: Path) -> None:
    (tmp_path / "a.cassette").write_text("mine")

    with pytest.raises(BadInput, match="exists"):
        CassetteRecorder(tmp_path / "a.cassette")
