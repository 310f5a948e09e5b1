"""The console's API of quality: work list, labels, trainings, models, shares, runs."""

import asyncio
import os
import signal
from pathlib import Path
from typing import Any

import msgspec
import pytest

from prolocutor.contracts.channel import DoorPlace
from prolocutor.errors import ConfigError
from prolocutor.plugins.console.channel import ConsoleDoor
from prolocutor.plugins.evaluation import evaluate_async
from prolocutor.plugins.evaluation.parlai.stored_dialogs import dialog_episode
from prolocutor.plugins.pairing.measuring.pairing_data import load_pairing_data
from prolocutor.plugins.pairing.model_reloading import ReloadedModel
from tests.integration.doors.shop import KNOWN, Shop, a_shop, answer_as

TWICE = ["why was I charged twice", "why was I charged twice?", "Why was I charged twice"]
ALIKE = ["my card was charged twice for one seat", "you charged me twice for the same trip"]
"""Questions of whom a router that has learned the others knows the agent."""


async def ended(shop: Shop, job: str) -> dict[str, Any]:
    """Wait for the end of a job, and return it."""
    async with asyncio.timeout(60):
        while True:
            _, seen = await shop.call("GET", f"/jobs/{job}")
            if seen["state"] not in ("waits", "runs"):
                found: dict[str, Any] = seen
                return found
            await asyncio.sleep(0)


async def work(shop: Shop, query: str = "") -> list[dict[str, Any]]:
    _, page = await shop.call("GET", f"/work{query}")
    items: list[dict[str, Any]] = page["items"]
    return items


async def test_a_role_is_idle_until_there_is_something_to_learn(tmp_path: Path) -> None:
    async with a_shop(tmp_path) as shop:
        _, before = await shop.call("GET", "/models")
        await shop.asked("how tall is the tower", "ann", -1)
        [item] = await work(shop)
        await shop.call("POST", "/labels", {"work": item["id"], "agents": []})
        _, after = await shop.call("GET", "/models")

    assert before["idle"] == before["roles"]
    assert after["idle"] == []


async def test_near_duplicates_stand_together_the_most_frequent_first(tmp_path: Path) -> None:
    async with a_shop(tmp_path) as shop:
        await shop.asked("how tall is the tower", "ann", -1)
        for number, text in enumerate(TWICE):
            await shop.asked(text, f"user {number % 2}", -1)
        await shop.asked("is the train on time", "ann", 1)
        first, second = await work(shop)
        page = await shop.call("GET", "/work?limit=1")
        rest = await shop.call("GET", f"/work?limit=1&cursor={page[1]['next']}")
        none = await work(shop, "?sign=none")
        wrong = [
            await shop.call("GET", f"/work?{query}")
            for query in ("since=nan", "since=inf", "sign=up", "cursor=!", "limit=0")
        ]

    assert first["times"] == 3
    assert first["people"] == 2
    assert first["sign"] == "down"
    assert sorted([first["text"], *first["also"]]) == sorted(TWICE)
    assert [one["agent"] for one in first["answers"]] == first["spoke"]
    assert first["answers"][0]["text"] == first["said"] == answer_as(first["spoke"][0])
    assert set(first["likely"]) == {"bank", "travel", "refunds"}
    assert second["times"] == 1
    assert second["text"] == "how tall is the tower"
    assert [one["id"] for one in (*page[1]["items"], *rest[1]["items"])] == [
        first["id"],
        second["id"],
    ]
    assert rest[1]["next"] is None
    assert page[1]["questions"] == 4
    assert page[1]["kinds"] == 2
    assert none == []
    assert [status for status, _ in wrong] == [400] * 5


async def test_a_label_counts_for_each_turn_and_can_be_taken_back(tmp_path: Path) -> None:
    async with a_shop(tmp_path) as shop:
        for number, text in enumerate(TWICE):
            await shop.asked(text, f"user {number}", -1)
        (item,) = await work(shop)
        body = {"work": item["id"], "agents": ["bank"], "answer": "Open Cards, Dispute."}
        both = await asyncio.gather(
            *(shop.call("POST", "/labels", body, f"key-of-{who}") for who in ("eve", "bob"))
        )
        label, late = (
            next(one["id"] for status, one in both if status == 201),
            both[both[0][0] == 201],
        )
        wrong = await shop.call("POST", "/labels", {"work": item["id"], "agents": ["bnak"]})
        unknown = await shop.call("POST", "/labels", {"work": "0" * 32, "agents": []})
        after, (_, lines) = await work(shop), await shop.call("GET", "/labels?answered=true")
        gone = await shop.call("DELETE", f"/labels/{label}")
        twice = await shop.call("DELETE", f"/labels/{label}")
        back = await work(shop)
    file = tmp_path / "labels.jsonl"
    file.write_text(lines)
    data = load_pairing_data(f"jsonl:{file}")

    assert after == []
    assert sorted(status for status, _ in both) == [201, 409]
    assert late[1]["error"].endswith("has said already who is right here: bank")
    assert wrong[0] == 400
    assert wrong[1]["field"] == "agents"
    assert "did you mean 'bank'" in wrong[1]["error"]
    assert [unknown[0], gone[0], twice[0]] == [404, 204, 404]
    assert [one["id"] for one in back] == [item["id"]]
    assert [(one.question.text, one.agents, one.weight) for one in data.test] == [
        (text, {"bank": 1.0}, 1.0) for text in TWICE
    ]


@pytest.mark.parametrize("then", ["clarify", "person", "refunds"])
async def test_turns_in_which_the_assistant_was_unsure_have_a_sign(
    tmp_path: Path, then: str
) -> None:
    selector = {"ranker": "unsupervised", "unsure": {"below": 1, "then": then}}
    for store in ("memory:", f"sqlite:///{tmp_path}/shop.db"):
        async with a_shop(tmp_path, store=store, more={"response_selector": selector}) as shop:
            await shop.asked("why was I charged twice", "ann")
            found = (
                await work(shop),
                await work(shop, "?sign=unsure"),
                await work(shop, "?sign=none"),
            )

        assert [[(one["text"], one["sign"]) for one in items] for items in found] == [
            [("why was I charged twice", "unsure")],
            [("why was I charged twice", "unsure")],
            [],
        ]


async def test_any_reply_can_be_labelled_and_nobody_may_be_right(tmp_path: Path) -> None:
    async with a_shop(tmp_path) as shop:
        result = await shop.assistant.turn("who won the match", user="ann")
        id_ = result.reply.utt_id
        _, before = await shop.call("GET", f"/questions/{id_}")
        await shop.labelled(id_)
        _, after = await shop.call("GET", f"/questions/{id_}")
        unknown = await shop.call("GET", f"/questions/{'0' * 32}")
        _, lines = await shop.call("GET", "/labels")
    (tmp_path / "labels.jsonl").write_text(lines)
    (learned,) = load_pairing_data(f"jsonl:{tmp_path / 'labels.jsonl'}").test

    assert before["text"] == "who won the match"
    assert before["sign"] is None
    assert before["label"] is None
    assert after["label"]["by"] == "eve"
    assert after["label"]["agents"] == []
    assert before["dialog_id"] == result.dialog_id
    assert unknown[0] == 404
    assert learned.agents == {"bank": 0.0, "travel": 0.0, "refunds": 0.0}
    assert learned.gold == frozenset()


async def test_a_deleted_person_is_in_no_item_and_no_label(tmp_path: Path) -> None:
    async with a_shop(tmp_path) as shop:
        await shop.asked(TWICE[0], "ann", -1)
        await shop.asked(TWICE[1], "bob", -1)
        await shop.asked("my secret is out", "ann", -1)
        labelled = next(one for one in await work(shop) if one["times"] == 2)
        await shop.labelled(labelled["id"], "bank")
        await shop.assistant.archive.delete_person("ann")
        await shop.labelled((await shop.assistant.turn("x", user="eve")).reply.utt_id)
        left, (_, lines) = await work(shop), await shop.call("GET", "/labels")

    assert left == []
    assert TWICE[0] + '"' not in lines
    assert TWICE[1] in lines


async def test_a_new_router_is_put_live_while_turns_run_and_gone_back_from(tmp_path: Path) -> None:
    async with a_shop(tmp_path) as shop:
        before = await shop.asked(TWICE[0], "ann", -1)
        for text in ALIKE:
            await shop.asked(text, "ann", -1)
        first = await shop.live()
        taught = await shop.asked(TWICE[0], "pat")
        right = next(name for name in KNOWN.values() if answer_as(name) not in (before, taught))
        for item in await work(shop):
            if item["text"] in (TWICE[0], *ALIKE):
                await shop.labelled(item["id"], right)
        report = (await ended(shop, await shop.job()))["result"]
        still = await shop.live()
        meanwhile = [
            asyncio.create_task(shop.asked(TWICE[0], f"user {number}")) for number in range(50)
        ]
        status, put = await shop.call("POST", f"/models/{report['model']}/live", {})
        replies = await asyncio.gather(*meanwhile)
        after = await shop.asked(TWICE[0], "zoe")
        _, shares = await shop.call("GET", "/shares?days=2")
        refused = await shop.call("DELETE", f"/models/{report['model']}")
        await shop.call("POST", f"/models/{first}/live", {}, key="key-of-bob")
        _, listed = await shop.call("GET", "/models")
        await shop.assistant.archive.delete_person("ann")
        _, without = await shop.call("GET", "/models")
        back = await shop.asked(TWICE[0], "yan")
        _, models = await shop.call("GET", "/models")
        gone = await shop.call("DELETE", f"/models/{report['model']}")
        unknown = await shop.call("POST", "/models/..%2Frouter/live", {})

    assert report["before"] == first
    assert report["fresh"] == 1 + len(ALIKE)
    assert still == first
    assert status == 200
    assert put["before"] == first
    assert put["by"] == "eve"
    assert set(replies) <= {taught, answer_as(right)}
    texts, kept = (
        {flip["text"] for one in said["items"] if one["report"] for flip in one["report"]["flips"]}
        for said in (listed, without)
    )
    assert texts & {TWICE[0], *ALIKE}
    assert kept == set()
    assert after == answer_as(right)
    assert back == before
    assert [(one["model"], one["by"]) for one in shares["live"]] == [(report["model"], "eve")]
    assert shares["down"][-1] is not None
    states = {one["id"]: (one["state"], one["by"]) for one in models["items"]}
    assert states == {first: ("live", "bob"), report["model"]: ("former", "eve")}
    assert models["roles"] == ["router"]
    assert [refused[0], gone[0], unknown[0]] == [422, 204, 404]


async def test_a_training_that_is_killed_leaves_the_model_in_use_and_one_runs_at_a_time(
    tmp_path: Path, waiting: Path
) -> None:
    async with a_shop(tmp_path) as shop:
        first = await shop.live()
        await shop.asked("is the train on time", "ann", 1)
        one, two = await shop.job(), await shop.job()
        process = await pid_at(waiting)
        _, waits = await shop.call("GET", f"/jobs/{two}")
        await shop.call("DELETE", f"/jobs/{two}")
        os.kill(process, signal.SIGKILL)
        failed = await ended(shop, one)
        reply, live = await shop.asked("is the train on time", "ann"), await shop.live()
        left = [path.name for path in (tmp_path / "models" / "router.models").iterdir()]

    assert waits["state"] == "waits"
    assert failed["state"] == "failed"
    assert "the model in use is as it was" in failed["error"]
    assert reply == answer_as("travel")
    assert live == first
    assert left == []


async def test_a_training_that_is_stopped_ends_its_process(tmp_path: Path, waiting: Path) -> None:
    async with a_shop(tmp_path) as shop:
        await shop.asked("is the train on time", "ann", 1)
        job = await shop.job()
        process = await pid_at(waiting)
        _, stopped = await shop.call("DELETE", f"/jobs/{job}")

        assert stopped["state"] == "stopped"
        with pytest.raises(ProcessLookupError):
            os.kill(process, 0)


@pytest.fixture
def waiting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Trainings never end by themselves; return the pipe that tells the process of one."""
    monkeypatch.setattr(
        ReloadedModel, "trainer", "tests.plugins.console.integration.waiting_trainer"
    )
    (tmp_path / "models").mkdir()
    os.mkfifo(tmp_path / "models" / "pid")
    return tmp_path / "models" / "pid"


async def pid_at(pipe: Path) -> int:
    return int(await asyncio.to_thread(pipe.read_text))


async def test_what_cannot_be_trained_says_why(tmp_path: Path) -> None:
    async with a_shop(tmp_path) as shop:
        ranker = await shop.call("POST", "/train", {"what": "ranker"})
        nothing = await shop.call("POST", "/train", {"what": "router"})
        await shop.asked("is the train on time", "ann", 1)
        _, models = await shop.call("GET", "/models")
        (tmp_path / "models" / "router" / "lessons.json").write_text("[]")
        damaged = await ended(shop, await shop.job())

    assert ranker[0] == 400
    assert "no ranker with a folder" in ranker[1]["error"]
    assert nothing[0] == 400
    assert "nothing for the router to learn: no label, no thumb" in nothing[1]["error"]
    assert (models["idle"], models["thumbs"]) == ([], 1)
    assert damaged["state"] == "failed"
    assert "checksum" in damaged["error"]


async def test_a_training_does_not_learn_from_the_cases_of_runs(tmp_path: Path) -> None:
    case = {"text": "is my card blocked", "labels": ["Yes, it is."]}
    (tmp_path / "cases.jsonl").write_bytes(msgspec.json.encode(case) + b"\n")
    async with a_shop(tmp_path, runs="runs", cases="jsonl:cases.jsonl") as shop:
        await shop.asked("is the train on time", "ann", 1)
        trained = await ended(shop, await shop.job())
        _, possible = await shop.call("GET", "/possible-runs")

    assert trained["state"] == "done"
    assert possible["data"] == [f"jsonl:{tmp_path / 'cases.jsonl'}"]


@pytest.mark.parametrize(
    ("options", "key"),
    [
        ({"data": "jsonl:gone.jsonl"}, "data"),
        ({"cases": ["csv:gone.csv"]}, "cases"),
        ({"assistants": {"other": "gone.yaml"}}, "assistants.other"),
    ],
)
def test_files_that_do_not_exist_are_told_before_anything_is_served(
    tmp_path: Path, options: dict[str, Any], key: str
) -> None:
    with pytest.raises(ConfigError, match="there is no") as told:
        ConsoleDoor(**options).check(DoorPlace(tmp_path, ()))
    assert told.value.key == f"doors.console.{key}"


def test_data_in_parts_are_found(tmp_path: Path) -> None:
    (tmp_path / "shop_train.jsonl").touch()
    ConsoleDoor(data="jsonl:shop.jsonl").check(DoorPlace(tmp_path, ()))


@pytest.mark.parametrize("way", ["person", "conversation", "time"])
async def test_no_word_of_a_dialog_that_is_deleted_stays_in_a_run(tmp_path: Path, way: str) -> None:
    run = tmp_path / "runs" / "first"
    async with a_shop(tmp_path, runs="runs") as shop:
        archive = shop.assistant.archive
        words = {user: f"the secret of {user}" for user in ("ann", "bob")}
        for user, text in words.items():
            await shop.assistant.reply(text, user=user)
        dialogs = [one async for one in shop.assistant.store.export()]
        messages = [one for dialog in dialogs for one in dialog_episode(dialog)]
        await evaluate_async(str.upper, messages, out=run)
        before = run.joinpath("rows.jsonl").read_text()
        if way == "person":
            await archive.delete_person("ann")
        elif way == "conversation":
            await archive.delete("ann", "main")
        else:
            await archive.delete_older("2999-01-01T00:00:00Z")
        left = "".join(one.read_text() for one in run.iterdir()).lower()
        shown = await shop.call("GET", "/runs/first")

    assert all(one in before for one in words.values())
    assert words["ann"] not in left
    assert (words["bob"] in left) == (way != "time")
    assert shown[0] == 200
    assert shown[1]["examples"] == (0 if way == "time" else 1)


async def test_runs_are_those_of_the_folder_and_no_other_path(tmp_path: Path) -> None:
    (tmp_path / "runs").mkdir()
    async with a_shop(tmp_path, runs="runs") as shop:
        empty = await shop.call("GET", "/runs")
        for name in ("..", "..%2Fmodels", "%2Fetc", "a%00b"):
            status, _ = await shop.call("GET", f"/runs/{name}")
            assert status == 404, name
    async with a_shop(tmp_path) as shop:
        without = await shop.call("GET", "/runs")
        told = await shop.call("GET", "/runs/a")

    assert empty == (200, {"items": [], "folder": True})
    assert without == (200, {"items": [], "folder": False})
    assert told[0] == 404
    assert "doors: {console: {runs: FOLDER}}" in told[1]["error"]
