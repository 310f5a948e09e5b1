"""RasaConnector: a bot behind Rasa's REST channel as a skill, or its model as an annotator.

Source: Rasa 3, `POST /webhooks/rest/webhook` (`rasa/core/channels/rest.py`) and `POST /model/parse`
of its HTTP API.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Annotated, Any, ClassVar, Final

import msgspec

from prolocutor.bounds import about
from prolocutor.connectors.parts.event_stream import EventStream
from prolocutor.connectors.parts.http_client import HttpClient
from prolocutor.connectors.parts.network_calls import call_headers, each_alone
from prolocutor.connectors.parts.url import http_url
from prolocutor.contracts.connector import (
    AgentOptions,
    BearerKey,
    Confidence,
    DeltaSink,
    Replies,
    Request,
)
from prolocutor.contracts.probe import FoundService, UrlProbe
from prolocutor.dialog.messages import checked_messages
from prolocutor.dialog.plain import MAX_BYTES, JsonObject, Plain, check, encode, parse
from prolocutor.errors import BadReply

_MEDIA: Final = {"image": "picture", "video": "video", "audio": "audio"}

WEBHOOK: Final = "/webhooks/rest/webhook"
PARSE: Final = "/model/parse"
DEFAULT_CONFIDENCE: Final = 0.5
MAX_MESSAGES: Final = 100

_NOT_READ: Final = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)

_STATUS: Final = frozenset({"model_file", "model_id", "fingerprint", "num_active_training_jobs"})


class RasaButton(msgspec.Struct):
    """A button: its title, and the payload sent when it is pressed."""

    title: str = ""
    payload: Any = None
    type: str | None = None
    url: str | None = None


class RasaMessage(msgspec.Struct):
    """A message of a bot."""

    text: str | None = None
    image: str | None = None
    buttons: list[RasaButton] | None = None
    quick_replies: list[RasaButton] | None = None
    attachment: Any = None
    custom: Any = None


read_message: Final = msgspec.json.Decoder(RasaMessage).decode
read_messages: Final = msgspec.json.Decoder(list[RasaMessage]).decode


def make_hypothesis(said: list[RasaMessage], confidence: float) -> JsonObject | None:
    """Return a hypothesis with all messages, None without messages.

    Its text has all texts, line by line. The bot's `custom` data, and attachments that cannot be
    shown, are the reply's attribute `rasa`.
    """
    texts = [one.text for one in said if one.text]
    messages: list[JsonObject] = []
    custom: list[Any] = []
    attachments: list[Any] = []
    for one in said:
        if one.text:
            messages.append({"type": "text", "text": one.text})
        if one.image:
            messages.append({"type": "picture", "url": one.image})
        messages += map(_button, (*(one.buttons or ()), *(one.quick_replies or ())))
        if one.attachment:
            shown = _attachment(one.attachment)
            messages += shown
            attachments += [] if shown else [one.attachment]
        if one.custom is not None:
            messages += _own_messages(one.custom)
            custom.append(one.custom)
    if not messages and (custom or attachments):
        first = [*custom, *attachments][0]
        messages.append({"type": "text", "text": _words(first)})
        texts.append(_words(first))
    if not messages:
        return None
    hypothesis: JsonObject = {"text": "\n".join(texts), "confidence": confidence}
    if len(messages) > 1 or messages[0]["type"] != "text":
        hypothesis["messages"] = messages
        if not texts:
            del hypothesis["text"]
    told = {"custom": custom, "attachments": attachments}
    if rest := {key: value for key, value in told.items() if value}:
        hypothesis["attributes"] = {"rasa": rest}
    return hypothesis


def _button(button: RasaButton) -> JsonObject:
    """Return a button that sends its payload back unchanged, or a link for a web address."""
    address = button.url or (button.payload if button.type == "web_url" else None)
    if isinstance(address, str) and button.type == "web_url":
        return {"type": "link", "title": button.title or address, "url": address}
    payload = button.title if button.payload is None else button.payload
    return {"type": "button", "title": button.title or str(payload), "json": {"payload": payload}}


def _attachment(attachment: Any) -> list[JsonObject]:
    """Return the message for an attachment: a URL, or `{type, payload: {src | url, title}}`."""
    if isinstance(attachment, str):
        name = attachment.rstrip("/").rpartition("/")[2] or attachment
        is_address = attachment.startswith(("http://", "https://"))
        return [{"type": "link", "title": name, "url": attachment}] if is_address else []
    payload = attachment.get("payload") if isinstance(attachment, dict) else None
    if not isinstance(payload, dict):
        return []
    url = payload.get("src") or payload.get("url")
    if not isinstance(url, str):
        return []
    title = payload.get("title")
    titled = {"alt": title} if isinstance(title, str) and title else {}
    kind = _MEDIA.get(str(attachment.get("type")))
    if kind is None:
        return [{"type": "link", "title": title if titled else url, "url": url}]
    return [{"type": kind, "url": url, **titled}]


def _own_messages(custom: Any) -> list[JsonObject]:
    """Return a bot's rich messages in Prolocutor's own form."""
    with suppress(BadReply):
        return checked_messages([custom] if isinstance(custom, dict) else list(custom or ()))
    return []


def _words(custom: Any) -> str:
    """Return the readable part of data without a text."""
    if isinstance(custom, dict):
        for key in ("text", "message", "title", "fallback"):
            if isinstance(custom.get(key), str) and custom[key]:
                return str(custom[key])
    return custom if isinstance(custom, str) else encode(custom).decode()


class RasaConnector:
    """The way to `http://host:5005/webhooks/rest/webhook` (the path of an address without a path).

    The sender is the dialog's id, so the bot's own memory is per dialog; the attributes of the
    human utterance are the `metadata`. All messages of the bot are one hypothesis of `confidence`;
    an empty list declines. The payload of a button is sent unchanged when the button is pressed, or
    its title typed.

    At an address that ends in `/model/parse` the connector sends the text for parsing and returns
    the intent and entities unchanged, as an annotation.
    """

    def __init__(self, options: RasaBot, *, name: str) -> None:
        self.name = name
        given = http_url(options.url)
        if given.path in ("", "/"):
            given = given.replace_path(WEBHOOK)
        if options.token:
            given = given.replace_parameters(token=options.token)
        headers = {"Content-Type": "application/json"}
        if options.key:
            headers["Authorization"] = f"Bearer {options.key}"
        self._parses = given.path.rstrip("/").endswith(PARSE)
        self._confidence = options.confidence
        self._channel = options.channel
        self._stream = given.parameters.get("stream") == "true" or options.stream
        self._plain = HttpClient(given, headers=headers)
        self._streamed = HttpClient(given.replace_parameters(stream="true"), headers=headers)

    async def send(self, requests: Sequence[Request]) -> Replies:
        """Ask the bot, or its model, once for each request."""
        return await each_alone(self._ask, requests)

    async def aclose(self) -> None:
        """Close the connections."""
        await self._plain.aclose()
        await self._streamed.aclose()

    async def _ask(self, request: Request) -> Plain:
        if self._parses:
            body = encode(_to_parse(request))
            reply = await self._plain.post(body, call_headers((request,)), max_bytes=MAX_BYTES)
            return parse(reply.body)
        message = _message(request)
        if self._channel is not None:
            message["input_channel"] = self._channel
        messages = await self._fetch_messages(request, encode(message))
        hypothesis = make_hypothesis(messages, self._confidence)
        return check([] if hypothesis is None else [hypothesis])

    async def _fetch_messages(self, request: Request, body: bytes) -> list[RasaMessage]:
        deltas = request.deltas
        streams = self._stream or (self._stream is None and deltas is not None)
        client = self._streamed if streams else self._plain
        coming = _ComingMessages(deltas, self._confidence)
        events = EventStream(coming.take, json_lines=True)
        headers = call_headers((request,))
        reply = await client.post(body, headers, max_bytes=MAX_BYTES, stream=events)
        if reply.is_streamed:
            events.end()
            return coming.messages
        try:
            return read_messages(reply.body)
        except _NOT_READ as error:
            if (lines := _lines(reply.body)) is not None:
                return lines
            raise BadReply(f"a bot of Rasa answers with a list of messages: {error}") from None


class _ComingMessages:
    """Collects messages of a stream; hands their texts on, line by line."""

    def __init__(self, deltas: DeltaSink | None, confidence: float) -> None:
        self.messages: list[RasaMessage] = []
        self._deltas = deltas
        self._confidence = confidence
        self._has_spoken = False

    def take(self, data: bytes) -> bool:
        """Take a message; there may always be another."""
        try:
            message = read_message(data)
        except _NOT_READ as error:
            raise BadReply(f"a bot of Rasa streams messages: {error}") from None
        self.messages.append(message)
        if len(self.messages) > MAX_MESSAGES:
            raise BadReply(f"more than {MAX_MESSAGES} messages")
        if message.text and self._deltas is not None:
            before = "\n" if self._has_spoken else ""
            self._deltas.add(before + message.text, self._confidence)
            self._has_spoken = True
        return False


def _lines(body: bytes) -> list[RasaMessage] | None:
    """Return the messages of a whole stream; None if a line is not a message."""
    try:
        return [read_message(line) for line in body.splitlines() if line.strip()]
    except _NOT_READ:
        return None


def _message(request: Request) -> dict[str, Any]:
    """Return the request: the dialog's last text, or a formatter's form of the dialog."""
    state = request.value()
    if isinstance(state, str):
        return {"sender": request.turn_id, "message": state}
    if isinstance(state, dict) and isinstance(state.get("message"), str):
        return {"sender": request.turn_id, **state}
    try:
        sender, said = state["dialog_id"], state["utterances"][-1]
        text, metadata = said["text"], said.get("attributes") or {}
    except (KeyError, TypeError, IndexError, AttributeError) as error:
        raise BadReply(f"a bot needs the agent state, or a message ({error!r})") from None
    answer = state.get("answer")
    if isinstance(answer, dict) and answer.get("kind") == "button":
        text = _sent(answer.get("value"))
    message = {"sender": sender, "message": text}
    return {**message, "metadata": metadata} if metadata else message


def _sent(payload: Any) -> str:
    return payload if isinstance(payload, str) else encode(payload).decode()


def _to_parse(request: Request) -> dict[str, Any]:
    """Return the request for parsing."""
    state = request.value()
    if isinstance(state, dict) and "utterances" in state:
        try:
            state = state["utterances"][-1]["text"]
        except (KeyError, TypeError, IndexError) as error:
            raise BadReply(f"a model needs the agent state, or a text ({error!r})") from None
    if isinstance(state, dict) and isinstance(state.get("text"), str):
        return state
    if not isinstance(state, str):
        raise BadReply("a model needs the agent state, or a text")
    return {"text": state, "message_id": request.turn_id}


class RasaBot(AgentOptions, frozen=True, kw_only=True):
    """A bot of Rasa, or its model."""

    makes: ClassVar[Callable[..., Any]] = RasaConnector

    url: Annotated[str, about("Its address.", what="a URL")]
    token: Annotated[
        str | None,
        about("The token in the query, as in `?token=...`.", secret=True, what="a token"),
    ] = None
    key: BearerKey = None
    confidence: Confidence = DEFAULT_CONFIDENCE
    stream: Annotated[
        bool | None,
        about(
            "Whether messages are fetched as they come; by default if they can be shown "
            "as they come."
        ),
    ] = None
    channel: Annotated[str | None, about("The `input_channel` that the bot sees.")] = None

    @classmethod
    async def recognize(cls, probe: UrlProbe) -> FoundService | None:
        """Look for its status, its version or the health of its REST channel, and say hello."""
        base = probe.base(WEBHOOK, PARSE)
        parses, talks = probe.path.endswith(PARSE), probe.path.endswith(WEBHOOK)
        if not await _is_rasa(base, probe) and not (talks and await _says_hello(probe)):
            return None
        return FoundService(
            what="a Rasa bot",
            call=probe.url if parses else base + WEBHOOK,
            certainty=1.0 if parses or talks else 0.6,
            notes=["it is a model: put it under annotators"] if parses else [],
        )


async def _is_rasa(base: str, probe: UrlProbe) -> bool:
    status = (await probe.get(f"{base}/status")).json()
    if isinstance(status, dict) and _STATUS & status.keys():
        return True
    version = (await probe.get(f"{base}/version")).json()
    if isinstance(version, dict) and "minimum_compatible_version" in version:
        return True
    health = (await probe.get(f"{base}/webhooks/rest/")).json()
    return health == {"status": "ok"} or b"from Rasa" in (await probe.get(base)).body


async def _says_hello(probe: UrlProbe) -> bool:
    said = (await probe.post(probe.url, {"sender": "probe", "message": "hello"})).json()
    messages = said if isinstance(said, list) else []
    return any(isinstance(message, dict) and "recipient_id" in message for message in messages)
