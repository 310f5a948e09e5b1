"""OpenAiChatConnector: any server of OpenAI's chat completions, or responses, as a skill.

Source: OpenAI's API, `POST {base}/chat/completions` and `POST {base}/responses`, and known variants
of its servers. The words of a stream are handed on at once; the reply is the whole text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, ClassVar, Final
from urllib.parse import parse_qsl, urlsplit

import msgspec
from msgspec import Meta

from prolocutor.bounds import about
from prolocutor.connectors.parts.event_stream import EventStream
from prolocutor.connectors.parts.network_calls import call_headers, each_alone
from prolocutor.contracts.connector import AgentOptions, BearerKey, Replies, Request
from prolocutor.contracts.probe import FoundService, UrlProbe
from prolocutor.dialog.inputs import ModelWishes, ToolRound
from prolocutor.dialog.plain import MAX_BYTES, Plain, check, encode
from prolocutor.errors import BadReply, ConfigError, ServiceUnreachable
from prolocutor.plugins.openai.chat_replies import (
    ModelReply,
    StreamedCompletion,
    StreamedResponse,
    StrippedWords,
    read_completion,
    read_response,
)
from prolocutor.plugins.openai.endpoint import OpenAiEndpoint

PATH: Final = "/chat/completions"
DEFAULT_CONFIDENCE: Final = 0.5

RESPONSES: Final = "/responses"
CALLING: Final = "\N{HORIZONTAL ELLIPSIS}"
"""The dialog's text where a model calls a client's tool without words."""

MILLION: Final = 1_000_000

PROVIDERS: Final = {
    "openai": "https://api.openai.com/v1",
    "anthropic": "https://api.anthropic.com/v1",
    "deepseek": "https://api.deepseek.com/v1",
    "gemini": "https://generativelanguage.googleapis.com/v1beta/openai",
    "google": "https://generativelanguage.googleapis.com/v1beta/openai",
    "groq": "https://api.groq.com/openai/v1",
    "lmstudio": "http://127.0.0.1:1234/v1",
    "mistral": "https://api.mistral.ai/v1",
    "ollama": "http://127.0.0.1:11434/v1",
    "openrouter": "https://openrouter.ai/api/v1",
    "together": "https://api.together.xyz/v1",
    "vllm": "http://127.0.0.1:8000/v1",
}
"""Where the models of a provider answer as OpenAI's do."""

_NAMED: Final = re.compile(r"(?P<provider>[A-Za-z]\w*)[:/](?!//)(?P<model>[\w./:-]+)")
_BARE: Final = re.compile(r"(gpt-|o[1-9]\b|chatgpt|claude|llama|gemini|mistral|qwen)[\w.:-]*")

_FUNCTIONS: Final = frozenset({"functions", "function_call", "tool_choice", "parallel_tool_calls"})


class OpenAiChatConnector:
    """The way to a model behind `{url}/chat/completions`, or a URL ending in `/responses`.

    It gets the dialog's window as messages of user and assistant, after `system`; with a formatter,
    the formatter's result: a text, a list of messages, or a whole body. The wishes of a turn's
    client for models (a JSON Schema, tools of its own) are passed on. The key may stand in the URL
    too, as `https://:KEY@host/v1`, and `model`, `system`, `confidence` and `stream` in its query. A
    refusal, an empty text or a call of a tool other than the client's is not a hypothesis; other
    functions are never offered, as they could not be run.
    """

    format: Final = "markdown"

    def __init__(self, options: ChatModel, *, name: str) -> None:
        self.name = name
        self._responds = options.url.partition("?")[0].rstrip("/").endswith(RESPONSES)
        path = RESPONSES if self._responds else PATH
        endpoint = OpenAiEndpoint(options.url, path, model=options.model, key=options.key)
        query = endpoint.query
        self._system = options.system or query.get("system")
        self._confidence = _number(options.confidence, query.get("confidence"))
        written = query.get("stream")
        self._stream = (
            written == "true" if options.stream is None and written is not None else options.stream
        )
        self._body = {"model": endpoint.model, **(options.parameters or {})}
        if self._responds:
            self._body["store"] = False
        self._front = [{"role": "system", "content": self._system}] if self._system else []
        self._price = _price(options.price) if options.price is not None else None
        self._client = endpoint.client

    async def send(self, requests: Sequence[Request]) -> Replies:
        """Ask the model once for each request."""
        return await each_alone(self._ask, requests)

    async def complete(self, request: Request) -> str:
        """Return the text of the model's reply; "" without text."""
        return (await self._reply(request)).text

    async def aclose(self) -> None:
        """Close the connections."""
        await self._client.aclose()

    async def _reply(self, request: Request) -> ModelReply:
        deltas, wishes = request.deltas, _read_wishes(request)
        asked = {**self._body, **_message_part(request.value(), self._system, wishes)}
        if self._stream or (self._stream is None and deltas is not None):
            asked["stream"] = True
        counts = self._price is not None
        if counts and asked.get("stream") and not self._responds:
            asked["stream_options"] = {"include_usage": True}
        words = deltas and StrippedWords(deltas)
        streamed: StreamedCompletion | StreamedResponse = (
            StreamedResponse(words, self._confidence)
            if self._responds
            else StreamedCompletion(words, self._confidence, counts=counts)
        )
        events = EventStream(streamed.take)
        asked = _drop_functions(asked)
        if wishes is not None:
            wanted = wishes.keys()
            own_tools = asked.get("tools", []) if "tools" in wanted else []
            asked |= {**wanted, "tools": [*own_tools, *wishes.tools]} if own_tools else wanted
        body = encode(_response_body(asked) if self._responds else asked)
        reply = await self._client.post(
            body, call_headers((request,)), max_bytes=MAX_BYTES, stream=events
        )
        if not reply.is_streamed:
            found = (read_response if self._responds else read_completion)(reply.body)
        elif not streamed.is_whole and not events.end() and not streamed.is_whole:
            raise ServiceUnreachable("the stream broke off in the middle of the reply")
        else:
            found = streamed.reply()
        if found.calls and wishes is not None and wishes.tools:
            shown = asked["messages"][len(self._front) :]
            round_ = ToolRound(calls=[*found.calls], messages=shown, text=found.text)
            wishes.rounds[self.name] = round_
        elif found.calls and not found.text:
            raise BadReply("it wants to call a tool, of which there is none")
        return found

    async def _ask(self, request: Request) -> Plain:
        reply = await self._reply(request)
        wishes = _read_wishes(request)
        if not reply.text and not (wishes is not None and self.name in wishes.rounds):
            return check([])
        hypothesis: dict[str, Any] = {"text": reply.text or CALLING, "confidence": self._confidence}
        if reply.usage is not None:
            read, written = reply.usage.read, reply.usage.written
            hypothesis["usage"] = {"input_tokens": read, "output_tokens": written}
            if (each := self._price) is not None:
                hypothesis["cost"] = (read * each[0] + written * each[1]) / MILLION
        return check([hypothesis])


def _number(given: float | None, written: str | None) -> float:
    try:
        return float(given if given is not None else written or DEFAULT_CONFIDENCE)
    except (TypeError, ValueError):
        raise ConfigError(f"expected a number as confidence, found {written!r}") from None


def _read_wishes(request: Request) -> ModelWishes | None:
    """Return the client's wishes for models; requests outside of turns have none."""
    return getattr(request, "wishes", None)


def _message_part(value: Any, system: str | None, wishes: ModelWishes | None) -> dict[str, Any]:
    """Return the body's part with the messages, of a formatter, of the client, or of the dialog."""
    if isinstance(value, dict) and isinstance(value.get("messages"), list):
        return value
    if isinstance(value, list):
        messages = value
    elif isinstance(value, str):
        messages = [{"role": "user", "content": value}]
    elif wishes is not None and wishes.messages is not None:
        messages = wishes.messages
    else:
        messages = _window(value)
    front = [{"role": "system", "content": system}] if system else []
    return {"messages": [*front, *messages]}


def _window(state: Any) -> list[dict[str, str]]:
    try:
        said = [
            {
                "role": "assistant" if "active_skill" in utterance else "user",
                "content": utterance["text"],
            }
            for utterance in state["utterances"]
        ]
        return [one for one in said[:-1] if one["content"]] + said[-1:]
    except (KeyError, TypeError) as error:
        raise BadReply(f"a model needs the agent state, or messages ({error!r})") from None


def _drop_functions(body: dict[str, Any]) -> dict[str, Any]:
    """Return a body without functions to call; tools run by the server stay."""
    kept = {key: value for key, value in body.items() if key not in _FUNCTIONS}
    if isinstance(kept.get("tools"), list):
        tools = [
            tool
            for tool in kept.pop("tools")
            if isinstance(tool, dict) and tool.get("type") not in ("function", "custom", None)
        ]
        kept |= {"tools": tools} if tools else {}
    return kept


def _response_body(body: dict[str, Any]) -> dict[str, Any]:
    """Return the body of a request for a response; messages are its input."""
    kept = {**body}
    messages = kept.pop("messages", None)
    limit = kept.pop("max_tokens", None)
    if messages is not None:
        kept["input"] = [item for message in messages for item in _response_items(message)]
    if (form := kept.pop("response_format", None)) is not None:
        schema = form.get("json_schema") or {}
        kept["text"] = {"format": {**schema, "type": form.get("type")}}
    if "tools" in kept:
        kept["tools"] = [_flat(tool) for tool in kept["tools"]]
    if isinstance(choice := kept.get("tool_choice"), dict):
        kept["tool_choice"] = _flat(choice)
    if limit is not None:
        kept.setdefault("max_output_tokens", limit)
    return kept


def _flat(tool: dict[str, Any]) -> dict[str, Any]:
    """Return a function in the form of responses: without an object of its own."""
    function = tool.get("function")
    return {"type": "function", **function} if isinstance(function, dict) else tool


def _response_items(message: Any) -> list[Any]:
    """Return a message as items of a response's input."""
    if not isinstance(message, dict):
        return [message]
    if message.get("role") == "tool":
        told = {"call_id": message.get("tool_call_id"), "output": message.get("content") or ""}
        return [{"type": "function_call_output", **told}]
    calls = message.get("tool_calls") or ()
    items = [{"role": message["role"], "content": message["content"]}] if calls else [message]
    if calls and not message.get("content"):
        items = []
    return items + [
        {"type": "function_call", "call_id": call.get("id"), **(call.get("function") or {})}
        for call in calls
    ]


def _price(given: Mapping[str, float]) -> tuple[float, float]:
    """Return the price of a million tokens, of a request and of a reply."""
    try:
        known = {"input": 0.0, "output": 0.0, **given}
        if len(known) == 2 and all(float(each) >= 0 for each in known.values()):
            return float(known["input"]), float(known["output"])
    except (TypeError, ValueError):
        pass
    raise ConfigError(f"expected a price as {{input: 2.5, output: 10}}, found {given!r}")


class ChatModel(AgentOptions, frozen=True, kw_only=True):
    """A model behind a server of OpenAI's chat completions or responses."""

    makes: ClassVar[Callable[..., Any]] = OpenAiChatConnector

    url: Annotated[
        str, about("The address of the API, such as http://127.0.0.1:11434/v1.", what="a URL")
    ]
    model: Annotated[
        str | None,
        about(
            "The name of the model; it may stand in the query of the address.",
            what="the name of a model",
        ),
    ] = None
    key: BearerKey = None
    system: Annotated[str | None, about("The system prompt of the model.")] = None
    confidence: Annotated[
        float | None, about("The confidence of its hypotheses; by default 0.5.")
    ] = None
    stream: Annotated[
        bool | None,
        about("Whether the reply is read as it comes; by default if it can be shown as it comes."),
    ] = None
    parameters: Annotated[
        dict[str, Any] | None, about("Further keys of every request, such as `{temperature: 0}`.")
    ] = None
    price: Annotated[
        dict[str, Annotated[float, Meta(ge=0)]] | None,
        about(
            "The price of a million tokens, such as `{input: 2.5, output: 10}`. "
            "Hypotheses then have `usage` and `cost`; the sum of their costs is the "
            "`cost` of a turn in records, logs and metrics."
        ),
    ] = None

    def __post_init__(self) -> None:
        """Refuse an address without a model."""
        query = dict(parse_qsl(urlsplit(self.url).query))
        if not (self.model or query.get("model")):
            raise ConfigError("a chat endpoint needs a model: call: {url: ..., model: ...}")

    @classmethod
    def guess(cls, call: object) -> str | None:
        """Return the connector and call of a model given by its name, or with its provider."""
        if not isinstance(call, str):
            return None
        if (match := _NAMED.fullmatch(call)) is not None:
            provider, model = match["provider"].lower(), match["model"]
        elif _BARE.fullmatch(call):
            provider, model = "openai" if call.startswith(("gpt", "o", "chat")) else "ollama", call
        else:
            return None
        url = PROVIDERS.get(provider)
        return f"openai_chat, call: {{url: {url!r}, model: {model!r}}}" if url else None

    @classmethod
    async def recognize(cls, probe: UrlProbe) -> FoundService | None:
        """Look for a list of models, at the address or below it."""
        base = probe.base(PATH, RESPONSES, "/models")
        for place in [base] if base.endswith("/v1") else [f"{base}/v1", base]:
            page = (await probe.get(f"{place}/models")).read(_ModelList)
            if page is None or not page.data:
                continue
            first, *others = [one.id for one in page.data]
            return FoundService(
                what=f"a server of models, as OpenAI's ({first})",
                name=first.rpartition("/")[2],
                call={
                    "url": place + RESPONSES if probe.path.endswith(RESPONSES) else place,
                    "model": first,
                },
                timeout=30,
                certainty=0.7,
                notes=[f"other models are {', '.join(others[:9])}"] if others else [],
            )
        return None


class _ListedModel(msgspec.Struct):
    id: str


class _ModelList(msgspec.Struct):
    data: list[_ListedModel]
