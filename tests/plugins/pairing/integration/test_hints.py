"""Hints in ordinary turns: learned where the file says so, kept, and gone with what they are of."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from prolocutor.assistant.assistant import Assistant
from prolocutor.cli.owner import DirectChanges
from prolocutor.config.building import assistant_from
from prolocutor.config.file_check import check
from prolocutor.config.loading import load
from prolocutor.plugins.pairing.lessons import Lessons
from prolocutor.plugins.pairing.question_agent.router_label import RouterLabel
from prolocutor.stores.store_catalog import open_store

QUESTION = "where is the old key?"
BOT = "tests.plugins.pairing.integration.hint_bots:reply"
TOP = "skill_selector: {router: learned, model: router, budget: top:1%s}\n"
UNSURE = "response_selector: {ranker: unsupervised, unsure: {below: 1, then: clarify}}\n"


@asynccontextmanager
async def assistant(
    folder: Path, hints: str = ", hints: true", more: str = ""
) -> AsyncIterator[Assistant]:
    """Run an assistant of three agents that keeps its dialogs in a file."""
    skills = "".join(
        f"  {name}: {{call: '{BOT}', card: {{description: Knows {name}.}}}}\n"
        for name in ("red", "green", "blue")
    )
    file = folder / "assistant.yaml"
    file.write_text(f"store: 'sqlite:///{folder}/d.db'\nskills:\n{skills}{TOP % hints}{more}")
    async with assistant_from(load(file, environ={})) as made:
        yield made


def learner(made: Assistant) -> Lessons:
    (found,) = [one.learner for one in made.models if one.learner is not None]
    return found


def hinted(made: Assistant) -> list[tuple[str, str]]:
    """Return the hints of the router in use: kind and agent."""
    marks = [one.hint for one in learner(made).hints()]
    return [(mark.kind, mark.agent) for mark in marks if mark is not None]


def learned(made: Assistant) -> list[RouterLabel]:
    (router,) = [one.source.latest.method for one in made.models]
    return list(router.lessons)


async def rejected(made: Assistant, user: str = "ann", dialog: str = "main") -> str:
    """Ask, reject the answer, and return the agent that gave it."""
    reply = await made.reply(QUESTION, user=user, dialog=dialog)
    await made.reply("no, that is wrong", user=user, dialog=dialog)
    return reply.active_skill


async def test_hints_change_the_next_choice_and_outlive_a_restart(tmp_path: Path) -> None:
    async with assistant(tmp_path) as made:
        agent = await rejected(made)
        assert hinted(made) == [("rejected", agent)]
        assert (await made.reply(QUESTION, user="bob")).active_skill != agent

    async with assistant(tmp_path) as again:
        assert hinted(again) == [("rejected", agent)]
        assert len(learned(again)) == 1
    async with assistant(tmp_path, hints="") as off:
        await rejected(off, user="cid")
        assert hinted(off) == []
        assert learned(off) == []


async def test_hints_go_with_the_conversation_the_dialogs_of_long_ago_and_the_person(
    tmp_path: Path,
) -> None:
    async with assistant(tmp_path) as made:
        await rejected(made, dialog="one")
        await made.archive.delete("ann", "one")
        assert hinted(made) == []
        await rejected(made)
        await made.archive.delete_older("2999-01-01")
        assert hinted(made) == []
        await rejected(made)
        await made.archive.delete_person("ann")
        assert hinted(made) == []
        assert learned(made) == []
        await rejected(made, user="bob")

    store = open_store(f"sqlite:///{tmp_path}/d.db")
    await store.open()
    await DirectChanges(store).delete_person("bob")
    await store.aclose()
    async with assistant(tmp_path) as again:
        assert hinted(again) == []
        assert learned(again) == []


async def test_thumbs_go_with_a_person_who_is_deleted_while_no_assistant_runs(
    tmp_path: Path,
) -> None:
    async with assistant(tmp_path, hints="") as made:
        for user in ("ann", "bob"):
            reply = await made.reply(QUESTION, user=user)
            await made.archive.rate(reply.utt_id, 1, user)

    store = open_store(f"sqlite:///{tmp_path}/d.db")
    await store.open()
    assert await DirectChanges(store).delete_person("ann")
    await store.aclose()

    async with assistant(tmp_path, hints="") as again:
        assert [one.user for one in learned(again)] == ["bob"]


@pytest.mark.parametrize("kind", ["conversation", "retention", "retention where no server runs"])
async def test_thumbs_go_with_the_replies_that_they_are_about(kind: str, tmp_path: Path) -> None:
    async with assistant(tmp_path, hints="") as made:
        for user in ("ann", "bob"):
            reply = await made.reply(QUESTION, user=user)
            await made.archive.rate(reply.utt_id, 1, user)
        if kind == "conversation":
            await made.archive.delete("ann", "main")
        elif kind == "retention":
            await made.archive.delete_older("9")
        left = [one.user for one in learned(made)]
    if kind.endswith("server runs"):
        store = open_store(f"sqlite:///{tmp_path}/d.db")
        await store.open()
        await DirectChanges(store).delete_older("9")
        await store.aclose()
        assert left == ["ann", "bob"]
    else:
        assert left == (["bob"] if kind == "conversation" else [])

    async with assistant(tmp_path, hints="") as again:
        assert [one.user for one in learned(again)] == (["bob"] if kind == "conversation" else [])


async def test_whom_a_person_chooses_when_asked_counts_as_right(tmp_path: Path) -> None:
    async with assistant(tmp_path, more=UNSURE) as made:
        asked = await made.reply(QUESTION, user="ann")
        titles = [one["title"] for one in asked.attributes["messages"] if "title" in one]
        reply = await made.reply("2", user="ann")
        assert reply.active_skill == titles[1].lower()
        assert hinted(made) == [("used", reply.active_skill)]


@pytest.mark.parametrize(
    ("selector", "what"),
    [
        ("{router: cards, hints: true}", "does not learn while it serves"),
        ("{router: learned, hints: true}", "does not learn while it serves"),
        ("{router: learned, model: m, hints: {again: 0.5}}", "a number of at most 0.25"),
        ("{router: learned, model: m, hints: {agian: 0.1}}", "did you mean 'again'?"),
        ("{router: learned, model: m, hints: }", "expected true or false"),
    ],
)
def test_hints_that_cannot_be_learned_are_refused(tmp_path: Path, selector: str, what: str) -> None:
    file = tmp_path / "assistant.yaml"
    skills = "skills: {a: 'http://h/a', b: 'http://h/b'}\n"
    file.write_text(f"{skills}skill_selector: {selector}\n")

    (fault,) = check(file, environ={}).faults
    assert what in f"{fault.what} {fault.suggestion}"
    assert "hints" in str(fault.key)
