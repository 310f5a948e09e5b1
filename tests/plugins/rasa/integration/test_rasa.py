"""A bot behind Rasa's REST channel as a skill, its model as an annotator."""

from __future__ import annotations

from typing import Any

import pytest

from prolocutor.assistant.assistant import Assistant
from prolocutor.dialog.plain import Plain
from prolocutor.errors import BadReply, ServiceRefused, ServiceUnreachable
from prolocutor.plan.pipeline import Pipeline, Service
from prolocutor.plugins.rasa.connector import RasaBot, RasaConnector
from prolocutor.testing.connector_kit import ask, closing
from tests.integration.connectors.raw_server import raw_server
from tests.rasa_peer import rasa_peer


def state(text: str, **more: Any) -> dict[str, Any]:
    return {"dialog_id": "d", "utterances": [{"text": text, "attributes": {}}], **more}


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("what?", {"text": "1: what?"}),
        (
            "hello",
            {
                "text": "Hey!\nHow are you?",
                "messages": [
                    {"type": "text", "text": "Hey!"},
                    {"type": "text", "text": "How are you?"},
                ],
            },
        ),
        (
            "film",
            {
                "messages": [
                    {"type": "video", "url": "https://h/v.mp4", "alt": "Film"},
                    {"type": "link", "title": "paper.pdf", "url": "https://example.org/paper.pdf"},
                ]
            },
        ),
        (
            "data",
            {
                "text": '{"temperature":21}',
                "attributes": {"rasa": {"custom": [{"temperature": 21}]}},
            },
        ),
        ("silence", None),
    ],
)
async def test_all_that_a_bot_says_is_one_hypothesis(
    text: str, said: dict[str, Any] | None, stream: bool
) -> None:
    async with (
        rasa_peer() as peer,
        closing(RasaConnector(RasaBot(url=peer.url, stream=stream), name="bot")) as bot,
    ):
        reply = await ask(bot, state(text))

    assert isinstance(reply, Plain)
    assert reply.value == ([] if said is None else [{"confidence": 0.5, **said}])
    assert peer.asked[0]["sender"] == "d"
    assert peer.streams == int(stream)


async def test_a_button_is_pressed_or_typed_and_its_payload_comes_back_as_it_is() -> None:
    async with rasa_peer() as peer:
        bot = Service("bot", RasaConnector(RasaBot(url=peer.url), name="bot"))
        async with Assistant(Pipeline(skills=[bot]), store="memory:") as assistant:
            offered = await assistant.reply("pizza", "ann", attributes={"shop": 7})
            button = offered.attributes["messages"][2]
            pressed = await assistant.reply("", "ann", parsed=button["json"])
            await assistant.reply("pizza", "bob")
            typed = await assistant.reply("margherita", "bob")

    kinds = [message["type"] for message in offered.attributes["messages"]]
    assert kinds == ["text", "picture", "button", "link"]
    assert [pressed.text, typed.text] == ["A margherita it is."] * 2
    assert peer.asked[0]["metadata"] == {"shop": 7}
    assert [one["message"] for one in peer.asked[1::2]] == ['/order{"kind": "margherita"}'] * 2
    assert len({one["sender"] for one in peer.asked}) == 2


async def test_a_title_that_is_typed_goes_to_the_skill_that_showed_the_button() -> None:
    async with rasa_peer() as peer:
        bot = Service("bot", RasaConnector(RasaBot(url=peer.url), name="bot"))
        other = Service("other", lambda _: {"text": "other", "confidence": 1.0})

        def choose(request: dict[str, Any]) -> list[str]:
            return ["bot"] if request["human_utterances"][-1]["text"] == "pizza" else ["other"]

        chooser = Service("chooser", choose)
        pipeline = Pipeline(skill_selector=chooser, skills=[bot, other])
        async with Assistant(pipeline, store="memory:") as assistant:
            await assistant.reply("pizza", "ann")
            typed = await assistant.reply(" [MARGHERITA] ", "ann")
            later = await assistant.reply("Margherita", "ann")

    assert [typed.text, later.text] == ["A margherita it is.", "other"]


async def test_a_bot_may_send_our_own_messages() -> None:
    async with (
        rasa_peer() as peer,
        closing(RasaConnector(RasaBot(url=peer.url), name="bot")) as bot,
    ):
        reply = await ask(bot, state("own"))

    assert isinstance(reply, Plain)
    assert reply.value[0]["messages"][0]["type"] == "link"


async def test_a_model_annotates() -> None:
    async with rasa_peer() as peer:
        model = Service(
            "intent", RasaConnector(RasaBot(url=f"{peer.url}/model/parse"), name="intent")
        )
        heard: list[Any] = []

        async def skill(request: dict[str, Any]) -> dict[str, Any]:
            heard.append(request["human_utterances"][-1]["annotations"]["intent"])
            return {"text": "ok", "confidence": 1.0}

        pipeline = Pipeline(annotators=[model], skills=[Service("skill", skill)])
        async with Assistant(pipeline, store="memory:") as assistant:
            await assistant.reply("hi", "ann")

    assert heard[0]["intent"]["name"] == "greet"
    assert heard[0]["text"] == "hi"


async def test_a_token_is_sent_and_a_wrong_one_is_a_failure() -> None:
    async with rasa_peer(token="t") as peer:
        async with closing(RasaConnector(RasaBot(url=peer.url, token="t"), name="bot")) as bot:
            assert isinstance(await ask(bot, state("hi")), Plain)
        async with closing(RasaConnector(RasaBot(url=peer.url), name="bot")) as bot:
            assert isinstance(await ask(bot, state("hi")), ServiceRefused)


@pytest.mark.parametrize(
    "body", [b"<html>", b"7", b'[{"text": 7}]', b'[{"buttons": [7]}]', b"[[]]", b'{"text": 1}']
)
@pytest.mark.parametrize("kind", [b"application/json", b"text/event-stream"])
async def test_nonsense_is_a_failure_or_nothing(body: bytes, kind: bytes) -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Type: %b\r\nContent-Length: %d\r\n\r\n"
    async with (
        raw_server(head % (kind, len(body)) + body) as server,
        closing(RasaConnector(RasaBot(url=server.url), name="bot")) as bot,
    ):
        reply = await ask(bot, state("hi"))

    assert isinstance(reply, BadReply) or (isinstance(reply, Plain) and reply.value == [])


@pytest.mark.parametrize("wrong", [None, 7, {}, {"utterances": []}])
async def test_what_is_no_dialog_is_a_failure_and_so_is_a_dead_bot(wrong: Any) -> None:
    async with closing(RasaConnector(RasaBot(url="http://127.0.0.1:1"), name="bot")) as bot:
        assert isinstance(await ask(bot, wrong), BadReply)
        assert isinstance(await ask(bot, state("hi")), ServiceUnreachable)
