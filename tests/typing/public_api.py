"""What users write, as the type checker sees it; nothing here is run."""

from collections.abc import AsyncIterator, Sequence
from typing import Any, assert_type

import prolocutor
from prolocutor import (
    AskAnswer,
    Assistant,
    Bot,
    BotUtterance,
    Breaker,
    Button,
    Card,
    Choice,
    Delta,
    Dialog,
    FeedMessage,
    Human,
    HumanUtterance,
    Hypothesis,
    Link,
    Picture,
    Pipeline,
    ProlocutorError,
    ReplyGiven,
    RichMessage,
    ScheduledMessage,
    Selection,
    SelectorReply,
    Service,
    ServiceStatus,
    Text,
    TurnEvent,
    TurnInput,
    TurnRequest,
    TurnResult,
    enough,
    knowledge,
    service,
    skill,
)
from prolocutor.contracts.connector import Caller, Connector
from prolocutor.contracts.observer import Observer, ServiceRecord, TurnRecord
from prolocutor.contracts.store import Store
from prolocutor.pipeline.guard import Batcher
from prolocutor.stores.sqlite.sqlite_store import MemoryStore


def plain(request: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"text": request["utterances"][-1]["text"], "confidence": 0.5}]


async def awaited(request: dict[str, Any]) -> dict[str, Any]:
    return {"text": "hi", "confidence": 0.5}


def more(hypotheses: list[dict[str, Any]], seconds_left: float) -> Any:
    return enough if hypotheses else ["plain"]


def selects(request: dict[str, Any]) -> Selection:
    return Selection(["awaited"], more)


pipeline = Pipeline(
    annotators=[Service("ner", "http://localhost:8000/ner", timeout=0.5)],
    skill_selector=Service("selects", selects, inline=True),
    skills=[
        Service("plain", plain, after=["ner"], requires=["annotators"], window=None),
        Service("awaited", awaited, retries=2, breaker=Breaker(failures=3, cooldown=1.0)),
        Service("dotted", "package.module:function", process=True),
    ],
    response_selector=[Service("one", plain), Service("other", plain)],
    postprocessors=(Service("post", plain, formatter="chitchat_formatter_in"),),
    last_chance=Service("last", plain, response_formatter=lambda reply: reply),
)


def parrot(turn: TurnRequest) -> Hypothesis:
    assert_type(turn.text, str)
    assert_type(turn.utterances, list[HumanUtterance | BotUtterance])
    assert_type(turn.human, Human)
    assert_type(turn.answer, AskAnswer | None)
    assert_type(turn.hypotheses, list[Hypothesis])
    return Hypothesis(turn.text, 0.9, human_attributes={"said": turn["utterances"][-1]["text"]})


@skill(name="talks", timeout=1.0, card=Card(description="Talks.", examples=["hi"]))
async def talks(turn: TurnRequest) -> list[Hypothesis]:
    return [
        Hypothesis("Which?", 0.5, ask="choice", messages=[Choice("a"), {"type": "text"}]),
        Hypothesis("", 1, can_continue=True, messages=[Text("hi"), Link("a", "https://a.b/")]),
        Hypothesis("later", 1, schedule=[ScheduledMessage(key="k", in_=60, messages=[Text("a")])]),
    ]


@skill(name="poet")
async def poet(turn: TurnRequest) -> AsyncIterator[str | Hypothesis]:
    yield Hypothesis("", 0.9)
    yield turn.text


@skill
def speaks(turn: TurnRequest) -> Hypothesis:
    turn.say("hi")
    return Hypothesis("hi", 0.9)


@service(inline=True)
def chooses(turn: TurnRequest) -> SelectorReply:
    return SelectorReply.choose(max(turn.hypotheses, key=lambda one: one.confidence))


assert_type(
    parrot(TurnRequest.of("hi", before=["a", "b"])).messages,
    Sequence[RichMessage | dict[str, Any]] | None,
)
typed = Pipeline(
    skills=[parrot, talks, poet, speaks, Service("plain", plain)], response_selector=chooses
)


async def from_file() -> None:
    async with Assistant.from_file("assistant.yaml", store="memory:") as assistant:
        assert_type(assistant, Assistant)
        await assistant.notify("ann", [Text("hi"), "you"], ask="yesno", skill="timer")


class Watches:
    def turn_ended(self, record: TurnRecord) -> None:
        assert_type(record.services, list[ServiceRecord])

    def breaker_changed(self, service: str, state: str) -> None: ...


async def talk() -> str:
    async with Assistant(
        pipeline, store="memory:", deadline=2.0, durability="relaxed", observers=[Watches()]
    ) as assistant:
        assert_type(assistant, Assistant)
        reply = await assistant.reply("hi", user="ann", attributes={"a": 1}, request_id="r")
        assert_type(reply, BotUtterance)
        assert_type(reply.confidence, float)
        assert_type(assistant.services(), list[ServiceStatus])
        assert_type(reply.user, Bot)
        result = await assistant.turn("hi", user="ann", dialog="other")
        assert_type(result, TurnResult)
        assert_type(result.record, TurnRecord | None)
        assert_type(result.hypotheses, list[Hypothesis])
        assert_type((await assistant.turn(TurnInput("hi", "ann"))).turn_id, str)
        async for event in assistant.stream("hi", user="ann", request_id="s"):
            assert_type(event, TurnEvent)
            if isinstance(event, Delta):
                assert_type(event.text, str)
            elif isinstance(event, ReplyGiven):
                assert_type(event.utterance, BotUtterance)
        async for message in assistant.feed("ann", after=3):
            assert_type(message, FeedMessage)
        assert_type(await assistant.archive.close("ann"), str | None)
        dialog = await assistant.store.dialog("1")
        assert_type(dialog, Dialog | None)
        if dialog is not None:
            assert_type(dialog.human, Human)
            assert_type(dialog.utterances, list[HumanUtterance | BotUtterance])
        caller: Caller = assistant.engine
        await caller.call("plain", {}, timeout=1.0)
        return reply.text


assert_type(prolocutor.run(talk()), str)
assert_type(prolocutor.__version__, str)

try:
    knowledge.put("news", "sport", ["won"], seconds=600)
except ProlocutorError as error:
    assert_type(error.code, str)

hypothesis = Hypothesis(skill_name="plain", text="hi", confidence=0.5)
Hypothesis("hi")  # type: ignore[call-arg]
Hypothesis("hi", 0.5, ask="colour")
Hypothesis("hi", 0.5, messages=[Picture()])  # type: ignore[call-arg]
Button("Buy", 5)  # type: ignore[arg-type]
assert_type(hypothesis.human_attributes, dict[str, Any] | None)

store: Store = MemoryStore()
observer: Observer = Watches()


def batches(connector: Connector) -> Connector:
    return Batcher(connector, 32)


Service("plain")  # type: ignore[call-arg]
Service("plain", plain, wire="telegraph")  # type: ignore[arg-type]
Assistant(pipeline, durability="none")  # type: ignore[arg-type]
Pipeline(skills=["plain"])  # type: ignore[list-item]


@skill(timeout="1 s")  # type: ignore[call-overload, untyped-decorator]
def late(turn: TurnRequest) -> Hypothesis:
    return Hypothesis(turn.texts, 1)  # type: ignore[attr-defined]


@skill()  # type: ignore[type-var]
def counts(turn: TurnRequest) -> int:
    return len(turn.text)
