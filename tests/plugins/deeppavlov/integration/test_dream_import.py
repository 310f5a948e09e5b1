"""Dialogs that DeepPavlov Agent stored become dialogs of a store, with all their ids."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from prolocutor import Assistant, Pipeline, Service
from prolocutor.dialog import agent_state
from prolocutor.errors import ConfigError
from prolocutor.plugins.deeppavlov.import_dream import ImportOutcome, import_dialogs
from prolocutor.plugins.deeppavlov.mongo_documents import open_source, plain_value
from prolocutor.stores.store_catalog import open_transfer

ANN, BOT, OTHER_BOT = "5f" * 12, "6a" * 12, "6b" * 12
FIRST, SECOND = "7c" * 12, "7d" * 12
DATE = {"$date": "2020-05-05T10:00:00.123Z"}
TIME = "2020-05-05 10:00:00.123000"


def oid(digits: str) -> dict[str, str]:
    return {"$oid": digits}


def profile(**attributes: Any) -> dict[str, Any]:
    shown = {"external_id": "ann", "persona": {}, "profile": {"name": "Ann"}}
    return {**shown, "attributes": attributes}


def human(dialog: str, place: int, **attributes: Any) -> dict[str, Any]:
    said = {"utt_id": f"{dialog}{place:08}", "text": f"words {place}", "attributes": {"a": 1}}
    said |= {"annotations": {"ner": []}, "hypotheses": [{"skill_name": "eliza", "text": "Hm"}]}
    said |= {"user": {"id": "temporary", **profile(**attributes)}, "date_time": DATE}
    return {**said, "_id": oid(f"{place:024}"), "_dialog_id": oid(dialog), "_in_dialog_id": place}


def bot(dialog: str, place: int, **more: Any) -> dict[str, Any]:
    said = {"utt_id": f"{dialog}{place:08}", "text": "Hm", "orig_text": None, "confidence": 0.5}
    said |= {"active_skill": "eliza", "annotations": {}, "date_time": DATE, "attributes": more}
    said |= {"user": {"id": BOT, "persona": {}, "attributes": {"mood": place}}}
    return {**said, "_id": oid(f"{place:024}"), "_dialog_id": oid(dialog), "_in_dialog_id": place}


def dump() -> dict[str, list[dict[str, Any]]]:
    rating = {"rating": 5, "user_external_id": "ann", "datetime": DATE}
    shared = {"_human_id": oid(ANN), "channel_type": "telegram", "date_start": DATE}
    return {
        "user": [{"_id": oid(ANN), **profile(seen=3)}],
        "bot": [{"_id": oid(one), "attributes": {"mood": 9}} for one in (BOT, OTHER_BOT)],
        "dialog": [
            {"_id": oid(FIRST), "dialog_id": "ab" * 16, "_bot_id": oid(BOT), "_active": False}
            | {**shared, "attributes": {"pipeline": ["skills.eliza"], "ratings": [rating]}},
            {"_id": oid(SECOND), "dialog_id": "cd" * 16, "_bot_id": oid(OTHER_BOT)}
            | {**shared, "_active": True, "attributes": {}},
        ],
        "human_utterance": [
            human(FIRST, 2, seen=1),
            human(FIRST, 0),
            human(SECOND, 0, seen=2),
            human("99" * 12, 0),
        ],
        "bot_utterance": [bot(FIRST, 1, ratings=[{**rating, "rating": "good"}]), bot(FIRST, 3)],
    }


def written(folder: Path, documents: dict[str, list[dict[str, Any]]] | None = None) -> Path:
    folder.mkdir(exist_ok=True)
    for name, found in (documents or dump()).items():
        (folder / f"{name}.json").write_text("".join(json.dumps(one) + "\n" for one in found))
    return folder


async def imported(source: Any, file: Path) -> ImportOutcome:
    target = open_transfer(f"sqlite:///{file}")
    await target.open()
    try:
        return await import_dialogs(source, target, lambda done, of: None)
    finally:
        await target.aclose()


async def dialogs(file: Path, *says: str) -> list[dict[str, Any]]:
    """Return Ann's dialogs as services see them, once she has said this."""
    eliza = Service("eliza", lambda request: [{"text": "Go on", "confidence": 1}])
    async with Assistant(Pipeline(skills=[eliza]), store=f"sqlite:///{file}") as assistant:
        for text in says:
            await assistant.turn(text, user="ann")
        found = [one async for one in assistant.store.export(user="ann")]
    return [agent_state.dialog_to_state(one) for one in found]


async def test_persons_dialogs_utterances_and_ratings_keep_their_ids(tmp_path: Path) -> None:
    outcome = await imported(open_source(str(written(tmp_path / "dump"))), tmp_path / "kept.db")
    first, second = await dialogs(tmp_path / "kept.db")

    assert outcome.persons == 1
    assert outcome.dialogs == 2
    assert outcome.utterances == 5
    assert outcome.ratings == 2
    assert outcome.left_out == 1
    assert [first["dialog_id"], second["dialog_id"]] == ["ab" * 16, "cd" * 16]
    assert first["human"]["id"] == ANN
    assert first["bot"]["id"] == BOT
    assert first["channel_type"] == "telegram"
    assert first["date_start"] == TIME
    assert [utterance["text"] for utterance in first["utterances"]] == [
        "words 0",
        "Hm",
        "words 2",
        "Hm",
    ]
    assert first["utterances"][0]["utt_id"] == f"{FIRST}00000000"
    [offer] = first["utterances"][0]["hypotheses"]
    assert offer["skill_name"] == "eliza"
    assert offer["text"] == "Hm"
    assert offer["confidence"] == 0
    assert first["attributes"]["pipeline"] == ["skills.eliza"]
    assert first["attributes"]["ratings"] == [
        {"rating": 5, "user_external_id": "ann", "datetime": TIME}
    ]
    assert first["bot_utterances"][0]["attributes"]["ratings"][0]["rating"] == "good"


async def test_utterances_show_the_profiles_of_their_time(tmp_path: Path) -> None:
    await imported(open_source(str(written(tmp_path / "dump"))), tmp_path / "kept.db")
    first, second = await dialogs(tmp_path / "kept.db")

    heard = [*first["human_utterances"], *second["human_utterances"]]
    assert [one["user"]["attributes"] for one in heard] == [{}, {"seen": 1}, {"seen": 2}]
    assert heard[0]["user"]["id"] == ANN
    assert heard[0]["user"]["profile"]["name"] == "Ann"
    assert [utterance["user"]["attributes"]["mood"] for utterance in first["bot_utterances"]] == [
        1,
        3,
    ]
    assert first["human"]["attributes"] == {"seen": 3}
    assert first["bot"]["attributes"]["mood"] == 9


async def test_the_active_dialog_goes_on(tmp_path: Path) -> None:
    await imported(open_source(str(written(tmp_path / "dump"))), tmp_path / "kept.db")

    _, second = await dialogs(tmp_path / "kept.db", "and now?")

    assert second["dialog_id"] == "cd" * 16
    assert [utterance["text"] for utterance in second["utterances"]] == [
        "words 0",
        "and now?",
        "Go on",
    ]


async def test_an_interrupted_import_goes_on_and_leaves_persons_as_they_are(tmp_path: Path) -> None:
    documents = dump()
    bob = {**documents["user"][0], "_id": oid("8e" * 12), "external_id": 7}
    source = open_source(str(written(tmp_path / "dump", {**documents, "user": [bob]})))
    await imported(source, tmp_path / "kept.db")
    whole = {**documents, "user": [bob, *documents["user"]]}
    source = open_source(str(written(tmp_path / "dump", whole)))

    second = await imported(source, tmp_path / "kept.db")
    third = await imported(source, tmp_path / "kept.db")

    assert [(one.persons, one.kept) for one in (second, third)] == [(1, 1), (0, 2)]
    assert len(await dialogs(tmp_path / "kept.db")) == 2


@pytest.mark.parametrize(
    ("written", "plain"),
    [
        ({"$oid": ANN}, ANN),
        ({"$date": "2020-05-05T12:00:00.123+02:00"}, TIME),
        ({"$date": 1588672800123}, TIME),
        ({"$date": {"$numberLong": "1588672800123"}}, TIME),
        ({"$numberInt": "7"}, 7),
        ({"$numberLong": "7"}, 7),
        ({"$numberDouble": "0.5"}, 0.5),
        ({"$numberDouble": "NaN"}, None),
        ({"$binary": {"base64": "AA==", "subType": "00"}}, "AA=="),
        ({"$binary": "AA==", "$type": "00"}, "AA=="),
        ({"a": [{"$undefined": True}, {"b": 1}]}, {"a": [None, {"b": 1}]}),
    ],
)
def test_all_forms_of_extended_json_are_read(written: Any, plain: Any) -> None:
    assert plain_value(written) == plain


@pytest.mark.parametrize(
    ("line", "what"),
    [("[{}]", "dialog.json:2: .*--jsonArray"), ("{", "dialog.json:2: is not a document")],
)
async def test_a_line_that_is_no_document_is_named(tmp_path: Path, line: str, what: str) -> None:
    folder = written(tmp_path / "dump")
    (folder / "dialog.json").write_text("\n" + line)

    with pytest.raises(ConfigError, match=what):
        await imported(open_source(str(folder)), tmp_path / "kept.db")


def test_a_collection_that_was_not_exported_is_named(tmp_path: Path) -> None:
    folder = written(tmp_path / "dump")
    (folder / "bot.json").unlink()

    with pytest.raises(ConfigError, match=r"no bot\.json: mongoexport"):
        open_source(str(folder))


class Found:
    """What a driver's `find()` returns."""

    def __init__(self, documents: list[dict[str, Any]]) -> None:
        self._documents = documents

    def sort(self, key: str, direction: int) -> Iterator[dict[str, Any]]:
        return iter(self._documents)


async def test_a_running_database_is_read_by_its_driver(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tables = {
        name: SimpleNamespace(find=lambda one=one: Found(one)) for name, one in dump().items()
    }
    driver, json_util = ModuleType("pymongo"), ModuleType("bson.json_util")
    client = SimpleNamespace(get_default_database=lambda: tables)
    driver.MongoClient = lambda url: client  # type: ignore[attr-defined]
    json_util.dumps = json.dumps  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "pymongo", driver)
    monkeypatch.setitem(sys.modules, "bson", ModuleType("bson"))
    monkeypatch.setitem(sys.modules, "bson.json_util", json_util)

    outcome = await imported(open_source("mongodb://db:27017/dream-dev"), tmp_path / "kept.db")

    assert outcome.dialogs == 2
    assert outcome.utterances == 5


def test_without_the_driver_it_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pymongo", None)
    with pytest.raises(ConfigError, match="pip install pymongo"):
        open_source("mongodb://db:27017/dream-dev")
