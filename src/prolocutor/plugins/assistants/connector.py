"""AssistantConnector: another assistant of Prolocutor as a skill, over its door for OpenAI's API.

Beside the text that door returns the skill, its confidence, the rich messages, the ask and the
attributes of the reply (`prolocutor` in a completion). It accepts answers as values (`parsed`), and
streams.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, ClassVar, Final, Literal

import msgspec

from prolocutor.bounds import about
from prolocutor.connectors.parts.asking import (
    CHAIN,
    YES_OR_NO,
    PeerQuestion,
    make_hypothesis,
    read_question,
)
from prolocutor.connectors.parts.event_stream import EventStream
from prolocutor.connectors.parts.http_client import HttpClient, refusal_text
from prolocutor.connectors.parts.network_calls import call_headers, each_alone
from prolocutor.connectors.parts.url import http_url
from prolocutor.contracts.connector import (
    AgentOptions,
    BearerKey,
    DeltaSink,
    Headers,
    Replies,
    Request,
)
from prolocutor.contracts.probe import FoundService, UrlProbe
from prolocutor.dialog.plain import MAX_BYTES, JsonObject, Plain, check, encode
from prolocutor.errors import (
    BadReply,
    ServiceRefused,
    ServiceUnreachable,
)

log = logging.getLogger(__name__)

SAY: Final = "/v1/chat/completions"
MODELS: Final = "/v1/models"
MAX_CHAIN: Final = 8
MAX_REPLY: Final = 2 * MAX_BYTES
CHAIN_HEADER: Final = "X-Prolocutor-Turns"
Speaker = Literal["dialog", "person", "token"]

_NOT_READ: Final = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)


class AssistantConnector:
    """The way to `http://host:4242`, another assistant.

    A dialog here is a dialog there. The other assistant's asks become ours, and answers go back as
    values. A repeated turn sends the same `Idempotency-Key` and gets the stored reply. A mere
    fallback counts as declining. Each call names the turns that led to it, so that an assistant
    that asks itself refuses.
    """

    def __init__(self, options: OtherAssistant, *, name: str) -> None:
        self.name = name
        given = http_url(options.url)
        base = given.path.rstrip("/").removesuffix(SAY).removesuffix("/v1")
        self._home = given.bare().replace_path(base or "/")
        self._user = options.user
        self._skill = options.skill
        self._confidence = options.confidence
        self._stream = options.stream
        self._model: str | None = None
        sent = {"Content-Type": "application/json", **(options.headers or {})}
        if options.key:
            sent["Authorization"] = f"Bearer {options.key}"
        self._client = HttpClient(given.replace_path(base + SAY), headers=sent, shared=True)
        self._models = given.replace_path(base + MODELS).target

    async def send(self, requests: Sequence[Request]) -> Replies:
        """Ask the assistant once for each request."""
        return await each_alone(self._ask, requests)

    async def describe(self) -> JsonObject:
        """Return the members of a card: the description of the assistant and its skills."""
        models = await self._find_models()
        about = [model for model in models if (model.id == self._model or "/" in model.id)]
        told = " ".join(one.description for one in about if one.description)
        return {"description": told} if told else {}

    async def aclose(self) -> None:
        """Close the connections."""
        await self._client.aclose()

    async def _ask(self, request: Request) -> Plain:
        question = read_question(request)
        chain = [*question.chain, request.turn_id]
        if len(chain) > MAX_CHAIN:
            what = f"asked by assistants through {MAX_CHAIN} others: they seem to ask one another"
            raise ServiceRefused(what, status=403)
        if self._model is None:
            await self._find_models()
        streams = request.deltas is not None if self._stream is None else self._stream
        body = encode(self._body(question, chain, streams))
        headers = {**call_headers((request,)), CHAIN_HEADER: ",".join(chain)}
        try:
            if streams:
                reply = await self._stream_reply(body, headers, request.deltas)
            else:
                answer = await self._client.post(body, headers, max_bytes=MAX_REPLY)
                reply = _whole(answer.body)
        except ServiceRefused as error:
            if error.status == 404:
                self._model = None  # it may have another name by now
            raise
        return self._hypotheses(reply)

    async def _stream_reply(
        self, body: bytes, headers: Mapping[str, str], deltas: DeltaSink | None
    ) -> _Reply:
        streamed = _StreamedReply(deltas)
        events = EventStream(streamed.take)
        answer = await self._client.post(body, headers, max_bytes=MAX_REPLY, stream=events)
        if not answer.is_streamed:
            return _whole(answer.body)
        events.end()
        return streamed.whole()

    def _body(self, question: PeerQuestion, chain: list[str], streams: bool) -> JsonObject:
        model = self._model if self._skill is None else f"{self._model}/{self._skill}"
        body: JsonObject = {
            "model": model,
            "messages": [{"role": "user", "content": question.text}],
            "attributes": {**question.attributes, CHAIN: chain},
        }
        if self._user != "token":
            body["user"] = (
                question.user if self._user == "person" and question.user else question.dialog_id
            )
        else:
            body["metadata"] = {"conversation_id": question.dialog_id}
        if question.parsed is not None:
            body["parsed"] = question.parsed
        if streams:
            body["stream"] = True
        return body

    def _hypotheses(self, reply: _Reply) -> Plain:
        details = reply.details
        if not details.skill and details.ask is None and details.by in ("", "fallback"):
            return check([])  # only its fallback
        confidence = details.confidence if self._confidence is None else self._confidence
        said, ask = details.messages, details.ask
        hypothesis = make_hypothesis(reply.text, said, ask, confidence, self._home)
        if hypothesis is None:
            return check([])
        told = {"skill": details.skill, "confidence": details.confidence, "utt_id": details.utt_id}
        more = {"by": details.by, "asked": details.asked, "reasons": details.reasons}
        told |= {key: value for key, value in more.items() if value}
        hypothesis["attributes"] = {**details.attributes, "prolocutor": told}
        return check([hypothesis])

    async def _find_models(self) -> list[_Model]:
        reply = await self._client.exchange(
            b"", {}, max_bytes=MAX_BYTES, method="GET", target=self._models
        )
        if reply.status != 200:
            what = f"no assistant with a door for openai: {refusal_text(reply)}"
            raise ServiceRefused(what, status=reply.status)
        try:
            models: list[_Model] = _read_models(reply.body).data
        except _NOT_READ as error:
            raise BadReply(f"this is not an assistant of Prolocutor: {error}") from None
        own = [model.id for model in models if model.owned_by == "prolocutor"]
        if not own:
            raise BadReply("this is not an assistant of Prolocutor; for a model use openai_chat")
        self._model = own[0]
        return models


class _Details(msgspec.Struct, kw_only=True):
    """The members of a reply beside its text (`prolocutor` in a completion)."""

    skill: str
    confidence: float
    utt_id: str = ""
    by: str = ""
    asked: list[str] = []
    reasons: list[Any] = []
    ask: str | None = None
    messages: list[Any] = []
    attributes: JsonObject = {}
    text: str | None = None


class _Content(msgspec.Struct):
    content: str = ""


class _Choice(msgspec.Struct):
    message: _Content


class _AssistantCompletion(msgspec.Struct):
    choices: list[_Choice]
    prolocutor: _Details


class _StreamedChoice(msgspec.Struct):
    delta: _Content


class _Chunk(msgspec.Struct):
    choices: list[_StreamedChoice] = []
    prolocutor: _Details | None = None
    error: Any = None


class _Model(msgspec.Struct):
    id: str
    owned_by: str = ""
    description: str = ""


class _ModelPage(msgspec.Struct):
    data: list[_Model]


class _Reply(msgspec.Struct):
    """A reply: its text and its details."""

    text: str
    details: _Details


_read_completion: Final = msgspec.json.Decoder(_AssistantCompletion).decode
_read_chunk: Final = msgspec.json.Decoder(_Chunk).decode
_read_models: Final = msgspec.json.Decoder(_ModelPage).decode


def _whole(body: bytes) -> _Reply:
    try:
        read: _AssistantCompletion = _read_completion(body)
        return _Reply(read.choices[0].message.content, read.prolocutor)
    except (*_NOT_READ, IndexError) as error:
        raise BadReply(f"this is not an assistant of Prolocutor: {error}") from None


class _StreamedReply:
    """A streamed reply.

    Text that may be the rendering of an ask or of rich messages is held back until words follow.
    """

    def __init__(self, deltas: DeltaSink | None) -> None:
        self._deltas = deltas
        self._pieces: list[str] = []
        self._shown = 0
        self._details: _Details | None = None

    def take(self, data: bytes) -> bool:
        """Read a chunk; return whether it was the last."""
        if data == b"[DONE]":
            return True
        try:
            chunk = _read_chunk(data)
        except _NOT_READ as error:
            raise BadReply(f"this is not an assistant of Prolocutor: {error}") from None
        if chunk.error is not None:
            raise ServiceUnreachable(f"it broke off with an error: {str(chunk.error)[:200]}")
        self._details = chunk.prolocutor or self._details
        for choice in chunk.choices:
            if words := choice.delta.content:
                self._pieces.append(words)
                if self._deltas is not None and not words.startswith(("\n", YES_OR_NO)):
                    self._deltas.add("".join(self._pieces[self._shown :]))
                    self._shown = len(self._pieces)
        return False

    def whole(self) -> _Reply:
        """Return the reply."""
        if self._details is None:
            raise ServiceUnreachable("the stream broke off before the end of the reply")
        text = self._details.text
        if text is not None and self._deltas is not None:
            self._deltas.restart()
        return _Reply("".join(self._pieces) if text is None else text, self._details)


class OtherAssistant(AgentOptions, frozen=True, kw_only=True):
    """Another assistant of Prolocutor."""

    describes: ClassVar[bool] = True
    makes: ClassVar[Callable[..., Any]] = AssistantConnector

    url: Annotated[str, about("Its address.", what="a URL")]
    key: BearerKey = None
    headers: Headers = None
    skill: Annotated[
        str | None, about("The only skill of that assistant to ask; by default all.")
    ] = None
    user: Annotated[
        Speaker,
        about(
            "The user at that assistant: a new user for each dialog, the person by "
            "name, or the owner of the token."
        ),
    ] = "dialog"
    confidence: Annotated[
        float | None, about("The confidence of its hypotheses; by default as that assistant says.")
    ] = None
    stream: Annotated[
        bool | None,
        about("Whether words are passed on as they come; by default if they can be shown."),
    ] = None

    @classmethod
    async def recognize(cls, probe: UrlProbe) -> FoundService | None:
        """Recognize an assistant by the owner of its models."""
        base = probe.base(SAY, MODELS, "/v1")
        page = (await probe.get(base + MODELS)).read(_ModelPage)
        own = [one.id for one in page.data if one.owned_by == "prolocutor"] if page else []
        if not own:
            return None
        name, *skills = own
        told = ", ".join(skill.removeprefix(f"{name}/") for skill in skills)
        return FoundService(
            what="an assistant of Prolocutor",
            name=name,
            call=base,
            certainty=0.9,
            notes=[f"its skills are {told}"] if told else [],
        )
