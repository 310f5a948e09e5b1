"""Skills as devices: what they declare, what they are asked, what they may keep."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from prolocutor.contracts.programs import ProgramSource, ProgramStart
from prolocutor.contracts.store import AgendaEntry
from prolocutor.dialog import plain
from prolocutor.errors import ConfigError
from prolocutor.plan.pipeline import Service
from prolocutor.plugins.almond.programs.device_classes import KIND, DeviceClasses
from prolocutor.plugins.almond.programs.executor import Executor
from prolocutor.plugins.almond.programs.running_apps import PROGRAMS
from prolocutor.stores.sqlite.sqlite_store import SqliteStore
from tests.model_store import ModelStore
from tests.plugins.almond.unit.programs.gadgets import (
    Gadgets,
    Keys,
    begun,
    program,
    running,
    say,
    service,
    texts,
)
from tests.unit.assistant.talks import assistant, echo


async def test_every_skill_can_be_asked() -> None:
    async with assistant(echo()) as it:
        told = await program(it, '@org.prolocutor.echo.ask(utterance="hi");')
        asked = await program(it, "now => @org.prolocutor.echo.ask();")
        answer = await say(it, "well")
    assert texts(told) == ["re: hi"]
    assert texts(asked) == ["What do you want to ask echo?"]
    assert asked.ask == "raw_string"
    assert texts(answer) == ["re: well"]


async def test_a_skill_is_asked_through_its_formatters() -> None:
    def cut(state: dict[str, Any]) -> Any:
        return {"text": state["utterances"][-1]["text"]}

    def upper(request: dict[str, Any]) -> Any:
        assert set(request) == {"text"}
        return request["text"].upper()

    def shape(reply: Any) -> Any:
        return [{"text": reply, "confidence": 1.0}]

    skill = Service("loud", upper, inline=True, formatter=cut, response_formatter=shape)
    async with assistant(skill) as it:
        assert texts(await program(it, '@org.prolocutor.loud.ask(utterance="hi");')) == ["HI"]


async def test_a_function_is_called_with_a_small_agent_state() -> None:
    gadgets = Gadgets()
    async with running(gadgets) as it:
        await program(it, '@com.youtube.search_videos(query="lol");')
    request = gadgets.requests[-1]
    assert request["function"] == {
        "name": "search_videos",
        "class": "com.youtube",
        "parameters": {"query": "lol"},
    }
    assert request["human"]["user_external_id"] == "ann"
    assert request["human_utterances"] == request["utterances"]
    assert request["service"] == "gadgets"
    assert len(request["turn_id"]) == 32


async def test_a_device_comes_with_its_settings() -> None:
    gadgets = Gadgets()
    async with running(gadgets) as it:
        body = plain.encode({"kind": "com.xkcd", "url": "https://e.org"})
        await it.store.put_record("ann", KIND, "com.xkcd-6", body)
        await program(it, '@com.xkcd(id="com.xkcd-6"^^tt:device_id).get_comic();')
        known = gadgets.requests[-1]["function"]["device"]
    assert known == {"kind": "com.xkcd", "url": "https://e.org", "id": "com.xkcd-6", "name": None}


async def test_attributes_of_a_function_are_stored() -> None:
    gadgets = Gadgets()
    line = {"key": "k", "in": 3600, "messages": [{"type": "text", "text": "Ring!"}]}
    gadgets.tables["say"] = {
        "results": [],
        "human_attributes": {"said": 1},
        "schedule": [line],
    }
    source = '@org.thingpedia.builtin.thingengine.builtin.say(message="test");'
    async with running(gadgets) as it:
        await program(it, source)
        await program(it, source)
        [entry] = await it.store.entries("ann", "gadgets")
    assert gadgets.requests[-1]["human"]["attributes"] == {"said": 1}
    assert entry.key == "k"


LATER = {
    "results": [{"text": "a", "author": "b"}],
    "schedule": [{"key": "k", "in": 60, "messages": [{"type": "text", "text": "Ring!"}]}],
    "unschedule": ["old"],
}


@pytest.mark.parametrize("how", ["created", "unasked"])
async def test_a_functions_agenda_entries_are_stored_without_a_turn(how: str) -> None:
    gadgets = Gadgets()
    old = AgendaEntry(user="ann", skill="gadgets", key="old", due=1e10, body=b"{}")
    async with running(gadgets) as it:
        if how == "unasked":
            await program(it, "monitor(@com.twitter.home_timeline());")
        gadgets.tables["home_timeline"] = LATER
        await it.store.schedule(old)
        if how == "unasked":
            [watching] = await it.store.entries("ann", PROGRAMS)
            await it.store.schedule(replace(watching, due=1.0))
            await it.notify("ann", "That is all.")
        else:
            await it.agenda.start_program("ann", "@com.twitter.home_timeline();")
        own = await it.store.entries("ann", "gadgets")
        programs = await it.programs.apps("ann")
    assert [one.key for one in own] == ["k"]
    assert len(programs) == (how == "unasked")


async def test_programs_that_are_created_at_once_are_no_more_than_may_run(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("prolocutor.plugins.almond.programs.executor.MAX_PROGRAMS", 2)
    async with running(Gadgets(), store=SqliteStore(tmp_path / "dialogs.db")) as it:
        source = "monitor(@com.twitter.home_timeline());"
        await asyncio.gather(*(it.agenda.start_program("ann", source) for _ in range(5)))
        programs = await it.programs.apps("ann")
    assert len(programs) == 2


WATCH = (
    "monitor(@com.twitter.home_timeline()) => "
    '@com.twitter.post_picture(caption=text, picture_url="u"^^tt:picture);'
)


async def test_a_second_run_calls_with_the_same_keys_and_starts_the_same_programs() -> None:
    caller = Keys()
    executor = Executor([service(Gadgets())], caller, ModelStore(), deadline=60.0)
    start = ProgramStart(opened=await begun(), source=ProgramSource(text=WATCH))
    first, second = await executor.run(start), await executor.run(start)
    assert caller.keys == 2 * ["t/gadgets/1", "t/gadgets/2"]
    assert [entry.key for entry in first.entries] == [entry.key for entry in second.entries]
    assert first.entries[0].key.startswith("uuid-")


async def test_who_is_not_to_be_asked_twice_is_not() -> None:
    caller = Keys()
    skill = service(Gadgets(), rerun=False)
    executor = Executor([skill], caller, ModelStore(), deadline=60.0)
    again = await begun()
    again.attempt = 2
    source = ProgramSource(text="@com.twitter.home_timeline();")
    run = await executor.run(ProgramStart(opened=again, source=source))
    assert "may not be called twice" in run.words.messages[-1]["text"]
    assert caller.keys == []


@pytest.mark.parametrize(
    ("manifest", "what"),
    [
        ("class @a {", "gadgets.card.manifest: line 1, column 11: "),
        ("@a.b(); {", "gadgets.card.manifest: line 1"),
        ("nowhere.tt", "the manifest nowhere.tt cannot be read: No such file or directory"),
        (5, "a manifest is a file or its source"),
    ],
)
def test_a_manifest_that_cannot_be_taken_is_told(manifest: Any, what: str) -> None:
    with pytest.raises(ConfigError) as caught:
        DeviceClasses([service(Gadgets(), manifest)])
    assert what in str(caught.value)


def test_a_class_is_of_one_skill() -> None:
    one, other = (
        Service(name, Gadgets(), card={"manifest": "class @com.same { query q(); }"})
        for name in ("one", "other")
    )
    with pytest.raises(ConfigError, match=r"@com.same stands in the manifests of one and other"):
        DeviceClasses([one, other])
    devices = DeviceClasses([one, other], alone=False)
    assert len([each for each in devices.manifests if each.name == "com.same"]) == 1


def test_a_manifest_may_be_a_file(tmp_path: Path) -> None:
    file = tmp_path / "manifest.tt"
    file.write_text("class @com.mine { query q(out text : String); }")
    devices = DeviceClasses([service(Gadgets(), str(file))])
    assert {each.name for each in devices.manifests} == {"com.mine", "org.prolocutor.gadgets"}


async def test_an_unreadable_manifest_is_told_and_breaks_no_turn() -> None:
    async with assistant(service(Gadgets(), "nowhere.tt")) as it:
        turn = await program(it, "@a.b();")
        said = await say(it, "hi")
    assert "nowhere.tt cannot be read" in turn.reply.text
    assert said.reply.text == "re: hi"
