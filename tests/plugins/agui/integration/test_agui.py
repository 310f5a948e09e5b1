"""What AG-UI clients see: a run is a turn, an ask an interrupt, void words are taken back."""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import msgspec
import pytest

from prolocutor.assistant.assistant import Assistant
from prolocutor.plan.pipeline import Pipeline, Service
from prolocutor.plugins.agui.channel import AgUi
from prolocutor.testing.channel_kit import running
from prolocutor.web.authentication import AccessPolicy
from prolocutor.web.listener import Listener
from tests.sdk_environment import sdk_script

BUTTON = {"type": "button", "title": "Go", "json": {"payload": 7}}
LINK = {"type": "link", "title": "more", "url": "https://example.org"}
RED_OR_BLUE = [{"type": "choice", "title": title} for title in ("red", "blue")]


def echo(request: dict[str, Any]) -> Any:
    """Return what was said, a question, or what a client sent along."""
    answer, said = request.get("answer"), request["human_utterances"][-1]
    text = said["text"]
    if answer is not None:
        return {"text": f"{answer['kind']} {answer.get('value')}", "confidence": 1.0}
    if text == "show":
        messages = [{"type": "text", "text": "see"}, LINK, BUTTON]
        return {"text": "see", "confidence": 1.0, "messages": messages}
    if text == "sent":
        return {"text": str(sorted(said["attributes"]["agui"])), "confidence": 1.0}
    if text.startswith("ask "):
        choices = RED_OR_BLUE if text == "ask choice" else []
        asked = {"text": "which?", "confidence": 1.0, "ask": text[4:]}
        return {**asked, "messages": [{"type": "text", "text": "which?"}, *choices]}
    return {"text": f"echo {text}", "confidence": 0.8}


def teller(request: dict[str, Any]) -> Iterator[Any]:
    """Say some words and then, if so asked, fail."""
    yield "once "
    yield "upon a time"
    if "fail" in request["human_utterances"][-1]["text"]:
        raise ValueError("the story is lost")
    yield {"confidence": 0.9}


@asynccontextmanager
async def served(auth: AccessPolicy | None = None) -> AsyncIterator[tuple[str, Any]]:
    skills = [Service("echo", echo, card={"description": "Says it."}), Service("teller", teller)]
    async with Assistant(Pipeline(skills=skills), store="memory:", fallback="Sorry.") as assistant:
        app = Listener(assistant, [AgUi(assistant)], auth=auth)
        async with running(app) as url, aiohttp.ClientSession(url) as http:
            yield f"{url}/agui", http


PICTURE = {"type": "image", "source": {"type": "url", "value": "https://example.org/a.png"}}
HISTORY: list[dict[str, Any]] = [
    {"id": "a", "role": "activity", "activityType": "plan", "content": {"steps": []}},
    {"id": "b", "role": "assistant", "toolCalls": [
        {"id": "c", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    ]},
    {"id": "d", "role": "tool", "toolCallId": "c", "content": "seen"},
    {"id": "e", "role": "user", "content": [
        {"type": "text", "text": "tell"}, {"type": "text", "text": "and fail"},
        PICTURE,
    ]},
]  # fmt: skip
"""Messages of every sort that a client may resend."""


def run(run_id: str, text: str | None = None, **more: Any) -> dict[str, Any]:
    messages = [] if text is None else [{"id": run_id, "role": "user", "content": text}]
    return {"threadId": "t", "runId": run_id, "messages": messages, **more}


def resume(run_id: str, payload: Any = None, status: str = "resolved") -> dict[str, Any]:
    entry = {"interruptId": "last", "status": status, "payload": payload}
    return run(run_id, "something said before", resume=[entry])


async def test_every_event_is_one_of_the_sdks_and_tells_the_turn() -> None:
    alone = {"forwardedProps": {"skill": "echo"}}
    pressed = {"forwardedProps": {"button": {"payload": 7, "skill": "echo"}}}
    state = {"state": {"mine": 1}, "context": [{"description": "d", "value": "v"}]}
    inputs = [
        run("1", "hello", **state),
        run("2", "ask choice", **alone),
        resume("3", "blue"),
        run("4", "ask yesno", **alone),
        resume("5", "yes"),
        run("6", "ask number", **alone),
        resume("7", {"answer": 3.0}),
        run("8", "ask date", **alone),
        resume("9", status="cancelled"),
        run("10", "show", **alone),
        run("11", "", **pressed),
        run("12", "tell", forwardedProps={"skill": "teller"}),
        run("13", "tell and fail", forwardedProps={"skill": "teller"}),
        run("14", "sent", **state, **alone),
        run("1", "hello", **state),
        run("15"),
        {**run("16"), "messages": HISTORY, "forwardedProps": {"skill": "teller"}},
        run("17", "ask location", **alone),
        resume("18", {"latitude": 48.5, "longitude": 11}),
        run("19", "ask choice", **alone),
        resume("20", {"idx": 1}),
        resume("20", {"idx": 1}),
        run("21", "ask picture", **alone),
        {**run("22"), "messages": [{"id": "22", "role": "user", "content": [PICTURE]}]},
    ]
    async with served() as (url, _), sdk_script("agui_client") as client:
        told = await client.call("runs", url=url, inputs=inputs)

    first, again, nothing, failed = told[0], told[14], told[15], told[16]
    types = [event["type"] for event in first["events"]]
    assert types[:3] == ["RUN_STARTED", "STATE_SNAPSHOT", "STEP_STARTED"]
    assert types[-4:-1] == ["TEXT_MESSAGE_START", "TEXT_MESSAGE_CONTENT", "TEXT_MESSAGE_END"]
    assert first["events"][1]["snapshot"]["mine"] == 1
    started = [event for event in first["events"] if event["type"] == "SUBAGENT_STARTED"]
    assert {event["name"]: event.get("description") for event in started} == {
        "echo": "Says it.",
        "teller": None,
    }
    assert [event["type"] for event in nothing["events"]] == ["RUN_STARTED", "RUN_FINISHED"]
    assert [event["type"] for event in again["events"]][:2] == ["RUN_STARTED", "TEXT_MESSAGE_START"]
    assert again["messages"] == first["messages"]
    interrupt = told[1]["events"][-1]["outcome"]["interrupts"][0]
    assert interrupt["responseSchema"] == {"type": "string", "enum": ["red", "blue"]}
    assert told[2]["messages"] == ["choice {'idx': 1, 'title': 'blue'}"]
    answered = [told[n]["messages"][-1] for n in (4, 6, 8)]
    assert answered == ["yesno True", "number 3", "cancelled None"]
    customs = [event for event in told[9]["events"] if event["type"] == "CUSTOM"]
    assert [event["name"] for event in customs] == ["link", "button"]
    assert told[10]["messages"] == ["button 7"]
    assert told[11]["messages"] == ["once upon a time"]
    assert told[12]["messages"] == [told[12]["events"][-1]["result"]["text"]]
    assert "MESSAGES_SNAPSHOT" in [event["type"] for event in told[12]["events"]]
    snapshot = next(event for event in failed["events"] if event["type"] == "MESSAGES_SNAPSHOT")
    assert snapshot["messages"][:4] == HISTORY
    assert told[13]["messages"] == ["['context', 'forwardedProps', 'state']"]
    place = "{'latitude': 48.5, 'longitude': 11, 'display': '48.5, 11'}"
    assert told[18]["messages"] == [f"location {place}"]
    chosen = ["choice {'idx': 1, 'title': 'blue'}"]
    assert [told[20]["messages"], told[21]["messages"]] == [chosen, chosen]
    assert told[23]["messages"] == ["picture https://example.org/a.png"]


@pytest.mark.parametrize(
    ("body", "status", "field"),
    [
        ({"threadId": "t", "runId": "r"}, 400, "messages"),
        ({"threadId": "", "runId": "r", "messages": []}, 400, "threadId"),
        (run("r", "hi", resume=[{"interruptId": "i", "status": "what"}]), 400, None),
        (run("r", "hi", forwardedProps={"skill": "nobody"}), 404, "skill"),
        (run("r", "hi", forwardedProps={"button": 3}), 400, "forwardedProps"),
        (run("r", "x" * 100_001), 400, "text"),
        (resume("r", "yes"), 404, "resume"),
    ],
)
async def test_what_is_wrong_is_said_before_a_stream_begins(
    body: dict[str, Any], status: int, field: str | None
) -> None:
    async with served() as (_, http), http.post("/agui", json=body) as response:
        told = await response.json()

    assert response.status == status
    if field is not None:
        assert told["field"] == field


async def test_an_interrupt_is_answered_once_and_in_its_own_thread() -> None:
    async with served() as (_url, http):

        async def sent(body: dict[str, Any]) -> tuple[int, str]:
            async with http.post("/agui", json=body) as response:
                return response.status, await response.text()

        _, asked = await sent(run("1", "ask number", forwardedProps={"skill": "echo"}))
        id_ = msgspec.json.decode(asked.split("data: ")[-1])["outcome"]["interrupts"][0]["id"]
        entry = {"interruptId": id_, "status": "resolved", "payload": 3}
        foreign = await sent({**run("2", resume=[entry]), "threadId": "other"})
        first = await sent(run("3", resume=[entry]))
        again = await sent(run("3", resume=[entry]))
        stale = await sent(run("4", resume=[entry]))

    assert [foreign[0], first[0], again[0], stale[0]] == [404, 200, 200, 404]
    assert "number 3" in first[1]
    assert "number 3" in again[1]


async def test_an_anonymous_visitor_needs_a_thread_that_cannot_be_guessed() -> None:
    auth = AccessPolicy(anonymous=True, loopback=False)
    async with served(auth) as (_, http):
        statuses = []
        for thread in ("t", "4f9a0d4e-64c6-4bd3-b3c5-0a2f7f1c9c55"):
            body = {**run("r", "hi"), "threadId": thread}
            async with http.post("/agui", json=body) as response:
                statuses.append(response.status)

    assert statuses == [403, 200]
