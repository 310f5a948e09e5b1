"""What people said is in no file beside the store once it is deleted, whichever door it came by."""

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp
import pytest

from prolocutor import Assistant, Pipeline
from prolocutor.assistant.operator_desk import LabelledTurn, OperatorLabel
from prolocutor.cli.owner import DirectChanges
from prolocutor.doors.http.api import DeepPavlov
from prolocutor.plugins.openai.door.channel import OpenAi
from prolocutor.plugins.page.channel import Page
from prolocutor.stores.sqlite.sqlite_store import SqliteStore
from prolocutor.testing.channel_kit import KEY, STRICT, running
from prolocutor.web.door_context import DoorContext
from prolocutor.web.listener import Listener
from tests.unit.assistant.talks import echo

PNG = b"\x89PNG\r\n\x1a\n"
SECRET = "zither"
NAMES = ("ann", "openai:ann", "almond:ann")


async def test_a_person_is_deleted_at_all_doors_and_from_all_files(tmp_path: Path) -> None:
    async with served(tmp_path) as (assistant, url):
        await fill(assistant, url)
        there = files_with(tmp_path)
        async with operator(url) as http:
            deleted = await status_of(http, "/api/user/ann")
            again = await status_of(http, "/api/user/ann")
        left = files_with(tmp_path)
        bob = await assistant.store.feed("openai:bob", 0)
    async with served(tmp_path):
        after_restart = files_with(tmp_path)

    assert {"dialogs.db-wal", "picture"} <= {re.sub(r".*\.png", "picture", one) for one in there}
    assert deleted == 204
    assert again == 404
    assert left == []
    assert after_restart == []
    assert bob


async def test_a_name_of_one_door_is_deleted_there_alone(tmp_path: Path) -> None:
    async with served(tmp_path) as (assistant, url):
        await fill(assistant, url)
        async with operator(url) as http:
            deleted = await status_of(http, "/api/user/openai:ann")
        left = [user for user in NAMES if await assistant.store.feed(user, 0)]

    assert deleted == 204
    assert left == ["ann", "almond:ann"]


async def test_a_person_is_deleted_from_all_files_where_no_server_runs(tmp_path: Path) -> None:
    async with served(tmp_path) as (assistant, url):
        await fill(assistant, url)
    store = SqliteStore(tmp_path / "dialogs.db")
    await store.open()
    deleted = await DirectChanges(store).delete_person("ann")
    await store.aclose()

    assert deleted
    assert files_with(tmp_path) == []


@pytest.mark.parametrize("kind", ["conversation", "retention", "retention where no server runs"])
async def test_words_of_a_deleted_conversation_are_in_no_label(kind: str, tmp_path: Path) -> None:
    async with served(tmp_path) as (assistant, url):
        await fill(assistant, url, pictures=False)
        if kind == "conversation":
            for user in NAMES:
                await assistant.archive.delete(user, "main")
        elif kind == "retention":
            await assistant.archive.delete_older("9")
        labels = await assistant.labels.all_labels()
    if kind.endswith("server runs"):
        store = SqliteStore(tmp_path / "dialogs.db")
        await store.open()
        await DirectChanges(store).delete_older("9")
        await store.aclose()
    elif kind == "conversation":
        assert [turn.user for label in labels for turn in label.turns] == ["openai:bob"]

    assert files_with(tmp_path) == []


class AddressOfThePage:
    """The door by whose names people are known at the page."""

    name = "almond"
    prefix = "almond:"
    routes = ()


async def test_the_title_of_a_deleted_conversation_is_in_no_file(tmp_path: Path) -> None:
    async with served(tmp_path) as (assistant, url):
        await assistant.reply("hello", "almond:ann", dialog="one")
        headers = {"Authorization": "Bearer the-token-of-ann"}
        async with aiohttp.ClientSession(url, headers=headers) as http:
            async with http.get("/api/conversations") as listed:
                (item,) = (await listed.json())["items"]
            path = f"/api/conversations/{item['id']}"
            async with http.patch(path, json={"title": f"my {SECRET}"}) as renamed:
                there = files_with(tmp_path)
            deleted = await status_of(http, path)
        left = files_with(tmp_path)

    assert renamed.status == 204
    assert deleted == 204
    assert there == ["dialogs.db-wal"]
    assert left == []


@asynccontextmanager
async def served(folder: Path) -> AsyncIterator[tuple[Assistant, str]]:
    store = f"sqlite:///{folder}/dialogs.db"
    async with Assistant(Pipeline(skills=[echo()]), store=store) as assistant:
        context = DoorContext(assistant, uploads=folder / "dialogs-uploads")
        doors = [DeepPavlov(assistant), OpenAi(assistant), Page(context), AddressOfThePage()]
        async with running(Listener(assistant, doors, auth=STRICT)) as url:
            yield assistant, url


async def fill(assistant: Assistant, url: str, *, pictures: bool = True) -> None:
    """Have Ann say a secret at all doors, Bob something else, and operators label it all."""
    turns = []
    for user in (*NAMES, "openai:bob"):
        said = "hello" if user == "openai:bob" else f"my {SECRET}"
        reply = await assistant.reply(said, user)
        turns.append(LabelledTurn(utt_id=reply.utt_id, user=user, text=said))
    await assistant.labels.add(
        OperatorLabel(id="1", at=1.0, by="eve", agents=["echo"], turns=turns)
    )
    await assistant.archive.rate(turns[0].utt_id, 1, "ann")
    if pictures:
        headers = {"Authorization": "Bearer the-token-of-ann", "Content-Type": "image/png"}
        async with aiohttp.ClientSession(url) as http:
            path = "/uploads"
            async with http.post(path, data=PNG + SECRET.encode(), headers=headers) as answer:
                assert answer.status == 201


def operator(url: str) -> aiohttp.ClientSession:
    return aiohttp.ClientSession(url, headers={"Authorization": f"Bearer {KEY}"})


async def status_of(http: aiohttp.ClientSession, path: str) -> int:
    async with http.delete(path) as answer:
        return answer.status


def files_with(folder: Path) -> list[str]:
    """Return the files that have the secret in whatever place."""
    files = [one for one in sorted(folder.rglob("*")) if one.is_file()]
    return [file.name for file in files if SECRET.encode() in file.read_bytes()]
