"""Services that operators switch off stay off: in later turns, after a restart, at all replicas."""

from pathlib import Path

from prolocutor.assistant.assistant import Assistant
from prolocutor.assistant.services import RECORDS
from prolocutor.plan.pipeline import Pipeline, Stage
from tests.plugins.postgresql.unit.test_replicas import fleet, until
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


async def test_other_replicas_follow() -> None:
    async with fleet(2, skills=[skill("a", "A", 0.9), skill("b", "B", 0.1)]) as it:
        one, other = it.assistants
        await one.switches.switch(one.engine.find_step("a"), on=False, by="eve")
        await until(lambda: other.services()[0].off == "switched off by eve")
        replies = [await said(one), await said(other)]
        await other.switches.switch(other.engine.find_step("a"), on=True, by="bob")
        await until(lambda: one.services()[0].off is None)

    assert replies == ["B", "B"]
