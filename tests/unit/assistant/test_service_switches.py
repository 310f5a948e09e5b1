"""Services that operators switch off stay off: in later turns and after a restart."""

from pathlib import Path

from prolocutor.assistant.assistant import Assistant
from prolocutor.assistant.services import RECORDS
from prolocutor.plan.pipeline import Pipeline, Stage
from tests.unit.assistant.talks import echo
from tests.unit.pipeline.talk import skill


def pipeline() -> Pipeline:
    return Pipeline(skills=[skill("a", "A", 0.9), skill("b", "B", 0.1)])


async def said(it: Assistant) -> str:
    return (await it.reply("hi", user="ann")).text


async def test_a_switch_survives_a_restart_and_a_service_that_was_away(tmp_path: Path) -> None:
    store = f"sqlite:///{tmp_path / 'switches.db'}"
    async with Assistant(pipeline(), store=store) as it:
        step = it.engine.find_step("a")
        switched: list[str | None] = []
        it.switches.listeners.append(lambda one: switched.append(one.off))
        before = await said(it)
        await it.switches.switch(step, on=False, by="eve")
        await it.switches.switch(step, on=False, by="bob")  # it is off already
        replies = [before, await said(it)]
        shown = [(one.name, one.off) for one in it.services()]
    async with Assistant(Pipeline(skills=[echo()]), store=store) as it:
        assert [one.off for one in it.services()] == [None]
        await it.store.put_record("", RECORDS, "skills.b", b"nonsense")
    async with Assistant(pipeline(), store=store) as it:
        offs = [one.off for one in it.services()]
        for name in ("a", "b"):
            await it.switches.switch(it.engine.find_step(name, Stage.SKILL), on=True, by="bob")
        replies.append(await said(it))
        left = await it.store.records("", RECORDS)

    assert replies == ["A", "B", "A"]
    assert shown == [("a", "switched off by eve"), ("b", None)]
    assert switched == ["switched off by eve"]
    assert offs == ["switched off by eve", "switched off by an operator"]
    assert left == {}
