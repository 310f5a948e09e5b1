"""Dialogs and ratings through the DeepPavlov door."""

from collections.abc import AsyncIterator

import aiohttp
import pytest

from prolocutor.assistant.assistant import Assistant
from prolocutor.dialog.dialog import Dialog
from prolocutor.doors.http.api import DeepPavlov
from prolocutor.errors import StoreAway
from prolocutor.observe.recent_turns import ServiceTimes
from prolocutor.plan.pipeline import Pipeline, Service
from prolocutor.stores.sqlite.sqlite_store import MemoryStore
from prolocutor.testing.channel_kit import Door, run_door, running
from prolocutor.web.listener import Listener
from tests.integration.doors.fakes import deeppavlov, get, post

UNKNOWN = "0123456789abcdef" * 2


async def test_a_dialog_is_found_by_either_id() -> None:
    async with deeppavlov() as door:
        _, reply = await post(door, user_id="ann", payload="hello")
        _, dialog = await get(door, f"/api/dialogs/{reply['dialog_id']}")
        _, same = await get(door, f"/api/dialogs/{dialog['_id'].upper()}")

    assert dialog == same
    assert [u["text"] for u in dialog["utterances"]] == ["hello", "1: hello"]
    assert dialog["human"]["user_external_id"] == "ann"
    assert dialog["_active"] == "True"
    assert dialog["attributes"] == {"pipeline": ["skills.gate"]}


@pytest.mark.parametrize(("id_", "status"), [(UNKNOWN, 404), ("ab" * 12, 404), ("main", 400)])
async def test_an_id_of_no_dialog_is_told_apart_from_what_is_no_id(id_: str, status: int) -> None:
    async with deeppavlov() as door:
        found, answer = await get(door, f"/api/dialogs/{id_}")

    assert found == status
    assert answer["field"] == "dialog_id"


async def test_dialogs_that_cannot_be_read_are_an_error_and_no_half_answer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def away(self: MemoryStore, **_: object) -> AsyncIterator[Dialog]:
        raise StoreAway("the database does not answer")
        yield

    monkeypatch.setattr(MemoryStore, "export", away)
    async with deeppavlov() as door:
        status, answer = await get(door, "/api/user/ann")

    assert status == 503
    assert answer["code"] == "store_away"


async def test_dialogs_are_listed_page_by_page() -> None:
    async with deeppavlov() as door:
        made = [
            (await post(door, user_id=f"user {n}", payload="hello"))[1]["dialog_id"]
            for n in range(5)
        ]
        pages, following = [], "?limit=2"
        while following:
            _, page = await get(door, f"/api/dialogs/{following}")
            pages.append(page["dialog_ids"])
            following = page["next"]

    assert pages == [made[:2], made[2:4], made[4:]]


async def test_dialogs_are_listed_by_whether_they_are_active() -> None:
    async with deeppavlov() as door:
        _, closed = await post(door, user_id="ann", payload="hello")
        await post(door, user_id="ann", payload="/close")
        _, active = await post(door, user_id="ann", payload="hello")
        pages = [(await get(door, "/api/dialogs/", _active=n))[1] for n in ("0", "1", "true")]

    ids = [closed["dialog_id"], active["dialog_id"], active["dialog_id"]]
    assert [page["dialog_ids"] for page in pages] == [[id_] for id_ in ids]


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ({"limit": "0"}, "limit"),
        ({"limit": "1001"}, "limit"),
        ({"limit": "ten"}, "limit"),
        ({"offset": "-1"}, "offset"),
        ({"offset": "9" * 30}, "offset"),
        ({"_active": "perhaps"}, "_active"),
    ],
)
async def test_a_page_that_cannot_be_is_a_400(query: dict[str, str], field: str) -> None:
    async with deeppavlov() as door:
        status, answer = await get(door, "/api/dialogs/", **query)

    assert status == 400
    assert answer["field"] == field


@pytest.mark.parametrize("user", ["ann", "ann/of the \u00fcber team", "a?b#c"])
async def test_all_dialogs_of_a_person_come_whole(user: str) -> None:
    async with deeppavlov() as door:
        for payload in ("hello", "/close", "again"):
            await post(door, user_id=user, payload=payload)
        _, dialogs = await get(door, "/api/user/" + quoted(user))

    assert [d["utterances"][0]["text"] for d in dialogs] == ["hello", "again"]


async def test_where_utterances_show_profiles_as_they_are_now_dialogs_do_too() -> None:
    said = iter([{"film": "Solaris"}, {"film": "Stalker"}])
    chat = Service(
        "chat", lambda request: [{"text": "Yes", "confidence": 1, "human_attributes": next(said)}]
    )
    pipeline = Pipeline(skills=[chat], user_snapshot="current")
    async with Assistant(pipeline, store="memory:") as assistant:
        for text in ("hello", "and now?"):
            result = await assistant.turn(text, user="ann")
        app = Listener(assistant, [DeepPavlov(assistant)])
        async with running(app) as url, aiohttp.ClientSession(url) as http:
            async with http.get(f"/api/dialogs/{result.dialog_id}") as response:
                dialog = await response.json()
            async with http.get("/api/user/ann?wire=deeppavlov") as response:
                [same] = await response.json()

    shown = [utterance["user"]["attributes"] for utterance in dialog["human_utterances"]]
    assert shown == [{"film": "Stalker"}, {"film": "Stalker"}]
    assert [utterance["user"]["attributes"] for utterance in same["human_utterances"]] == shown
    assert dialog["human"]["persona"] == {}
    assert same["human"]["persona"] == {}


async def test_somebody_unknown_has_no_dialogs() -> None:
    async with deeppavlov() as door:
        assert await get(door, "/api/user/nobody") == (200, [])


async def test_a_dialog_shows_its_ratings() -> None:
    async with deeppavlov() as door:
        _, reply = await post(door, user_id="ann", payload="hello")
        id_ = reply["dialog_id"]
        for rating in (3, "very good"):
            answer = await post(door, "/rating/dialog", dialog_id=id_, rating=rating, user_id="bob")
        _, dialog = await get(door, f"/api/dialogs/{id_}")

    assert answer == (200, None)
    assert dialog["rating"] == "very good"
    ratings = dialog["attributes"]["ratings"]
    assert [(r["rating"], r["user_external_id"]) for r in ratings] == [
        (3, "bob"),
        ("very good", "bob"),
    ]


async def test_an_utterance_shows_its_ratings() -> None:
    async with deeppavlov() as door:
        _, reply = await post(door, user_id="ann", payload="hello")
        answer = await post(door, "/rating/utterance", utt_id=reply["utt_id"], rating=0)
        _, dialog = await get(door, f"/api/dialogs/{reply['dialog_id']}")

    assert answer == (200, None)
    (rating,) = dialog["bot_utterances"][0]["attributes"]["ratings"]
    assert rating["rating"] == 0
    assert rating["user_external_id"] is None


@pytest.mark.parametrize(
    ("path", "body", "status", "field"),
    [
        ("/rating/dialog", {"rating": 1}, 400, "dialog_id"),
        ("/rating/dialog", {"dialog_id": 7, "rating": 1}, 400, "dialog_id"),
        ("/rating/dialog", {"dialog_id": UNKNOWN}, 400, "rating"),
        ("/rating/dialog", {"dialog_id": UNKNOWN, "rating": "x" * 10_001}, 400, "rating"),
        ("/rating/dialog", {"dialog_id": UNKNOWN, "rating": 1, "user_id": []}, 400, "user_id"),
        ("/rating/dialog", {"dialog_id": UNKNOWN, "rating": 1}, 404, "dialog_id"),
        ("/rating/utterance", {"rating": 1}, 400, "utt_id"),
        ("/rating/utterance", {"utt_id": UNKNOWN, "rating": 1}, 404, "utt_id"),
    ],
)
async def test_a_rating_of_nothing_is_refused(
    path: str, body: dict, status: int, field: str
) -> None:
    async with deeppavlov() as door:
        found, answer = await post(door, path, **body)

    assert found == status
    assert answer["field"] == field


async def test_ping_is_answered_to_whoever_asks() -> None:
    async with deeppavlov() as door:
        assert await get(door, "/ping") == (200, "pong")


async def test_the_load_shows_what_runs() -> None:
    async with deeppavlov() as door:
        assert await get(door, "/debug/current_load") == (
            200,
            {"current_load": {"gate": 0, "agent": 0}, "response_time": {}},
        )


async def test_the_load_shows_how_long_services_take() -> None:
    load = ServiceTimes()
    async with run_door(lambda assistant: DeepPavlov(assistant, load=load)) as door:
        observe(door, load)
        await post(door, user_id="ann", payload="hello")
        _, answer = await get(door, "/debug/current_load")

    assert answer["response_time"].keys() == {"agent", "gate"}
    assert answer["response_time"]["agent"] >= answer["response_time"]["gate"] > 0


def observe(door: Door, load: ServiceTimes) -> None:
    door.assistant.observers.add(load)


def quoted(user: str) -> str:
    return "".join(f"%{byte:02x}" for byte in user.encode())
