"""The requests of the door, in the form of OpenAI's API, and the input made of them.

Source: OpenAI's API reference, and the types of its Python package 3.52. Keys without a field are
ignored: agents are black boxes, which have no temperature.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import takewhile
from typing import Annotated, Any, Final, Literal, TypeAlias

import msgspec
from msgspec import UNSET, Meta

from prolocutor.dialog import plain
from prolocutor.dialog.inputs import ModelWishes
from prolocutor.errors import BadInput
from prolocutor.web.operations import IdempotencyKey

MAX_ID: Final = 200

_HEADER: Final = {"in": "header"}

Attributes: TypeAlias = Annotated[
    dict[str, Any] | None,
    Meta(description="Attributes of the human utterance, passed on as they are (an extension)."),
]
UserName: TypeAlias = Annotated[
    str | None, Meta(description="Who speaks; a token's owner may leave it out.")
]
Content: TypeAlias = str | list[dict[str, Any]] | None


class CallerHeaders(msgspec.Struct, frozen=True, kw_only=True):
    """The headers with the caller and the conversation."""

    authorization: Annotated[str | None, Meta(extra=_HEADER)] = msgspec.field(
        default=None, name="Authorization"
    )
    idempotency_key: IdempotencyKey = msgspec.field(default=None, name="Idempotency-Key")
    conversation: Annotated[
        str | None, Meta(description="The conversation's id.", extra=_HEADER)
    ] = msgspec.field(default=None, name="X-Conversation-Id")
    turns: Annotated[
        str | None, Meta(description="The turns within which this is asked.", extra=_HEADER)
    ] = msgspec.field(default=None, name="X-Prolocutor-Turns")
    web_user: Annotated[
        str | None, Meta(description="The user, as Open WebUI forwards it.", extra=_HEADER)
    ] = msgspec.field(default=None, name="X-OpenWebUI-User-Id")
    web_chat: Annotated[
        str | None, Meta(description="The conversation, as Open WebUI forwards it.", extra=_HEADER)
    ] = msgspec.field(default=None, name="X-OpenWebUI-Chat-Id")


class ChatTurnMessage(msgspec.Struct, omit_defaults=True):
    """A message of a conversation: words, calls of the client's tools, or the result of a call."""

    role: Literal["developer", "system", "user", "assistant", "tool", "function"]
    content: Content = None
    tool_calls: list[dict[str, Any]] | None = None
    tool_call_id: str | None = None
    name: str | None = None


class StreamOptions(msgspec.Struct):
    """Options of a stream."""

    include_usage: bool | None = None


class CompletionRequest(msgspec.Struct, kw_only=True):
    """A request for a chat completion."""

    model: str
    messages: list[ChatTurnMessage]
    stream: bool | None = None
    stream_options: StreamOptions | None = None
    user: UserName = None
    metadata: dict[str, Any] | None = None
    n: int | None = None
    tools: list[dict[str, Any]] | None = None
    tool_choice: Any = None
    parallel_tool_calls: bool | None = None
    response_format: Any = None
    modalities: list[str] | None = None
    attributes: Attributes = None
    parsed: Annotated[
        dict[str, Any] | None,
        Meta(
            description="What the last message means, as Almond's clients send it (an extension)."
        ),
    ] = None

    def __post_init__(self) -> None:
        """Refuse unsupported requests."""
        if self.n not in (None, 1):
            raise ValueError("n is 1: an assistant gives one reply")
        if self.modalities and self.modalities != ["text"]:
            raise ValueError("modalities are text alone here")
        _check_format(self.response_format, "response_format")
        _check_tools(self.tools, self.tool_choice)

    def wishes(self, given: ChatInput) -> ModelWishes | None:
        """Return the wishes for chat models, None for a request for words alone."""
        return _wishes(
            self.messages, given, self.tools, self.tool_choice, self.parallel_tool_calls,
            self.response_format,
        )  # fmt: skip


class ResponseRequest(msgspec.Struct, kw_only=True):
    """A request for a response."""

    model: str | None = None
    input: str | list[dict[str, Any]]
    instructions: str | list[Any] | None = None
    previous_response_id: str | None = None
    conversation: str | dict[str, Any] | None = None
    stream: bool | None = None
    user: UserName = None
    metadata: dict[str, Any] | None = None
    tools: list[dict[str, Any]] | None = None
    tool_choice: Any = None
    parallel_tool_calls: bool | None = None
    text: dict[str, Any] | None = None
    background: bool | None = None
    store: Annotated[
        bool | None,
        Meta(description="False: the response is not to be had by its id; the dialog is kept."),
    ] = None
    prompt: Any = None
    attributes: Attributes = None

    def __post_init__(self) -> None:
        """Refuse unsupported requests."""
        if self.background:
            raise ValueError("background is not possible here: wait for the response, or stream it")
        if self.prompt is not None:
            raise ValueError("prompt is not known here: there are no stored prompts")
        if self.conversation is not None and self.previous_response_id is not None:
            raise ValueError("conversation and previous_response_id exclude each other")
        _check_format(_chat_format(self.text), "text")
        _check_tools(self._functions, self.tool_choice)

    @property
    def _functions(self) -> list[dict[str, Any]] | None:
        """The tools as chat completions have them."""
        return None if self.tools is None else [_chat_tool(tool) for tool in self.tools]

    def wishes(self, given: ChatInput) -> ModelWishes | None:
        """Return the wishes for chat models, None for a request for words alone."""
        choice = self.tool_choice
        if isinstance(choice, dict):
            choice = _chat_tool(choice)
        return _wishes(
            self.messages(), given, self._functions, choice, self.parallel_tool_calls,
            _chat_format(self.text),
        )  # fmt: skip

    @property
    def conversation_id(self) -> str | None:
        """The id of the conversation."""
        if isinstance(self.conversation, dict):
            found = self.conversation.get("id")
            if not isinstance(found, str):
                raise BadInput("a conversation has an id, as a text", field="conversation")
            return found
        return self.conversation

    def messages(self) -> list[ChatTurnMessage]:
        """Return the messages of the input, with calls of tools and their results."""
        if isinstance(self.input, str):
            return [ChatTurnMessage("user", self.input)]
        items = [found for one in self.input if (found := _item_message(one)) is not None]
        try:
            return msgspec.convert(items, list[ChatTurnMessage])
        except msgspec.ValidationError as error:
            raise BadInput(f"input: {error}", field="input") from None


class Said(msgspec.Struct, frozen=True, array_like=True):
    """A text of a conversation."""

    role: Literal["user", "assistant"]
    text: str


class ChatInput(msgspec.Struct, kw_only=True):
    """The input of a request: a text, the history before it, and the utterance's attributes.

    - `extra` becomes the attribute `openai`: instructions, metadata, parts that are not text, and
      `store` where it is false.
    - `field` is the part of the request that the texts stand in.
    - `results` are the results of the client's tools, in place of a text.
    - `wishes` are for chat models alone.
    """

    field: str
    text: str
    history: list[Said]
    own_attributes: dict[str, Any]
    extra: dict[str, Any]
    parsed: dict[str, Any] | None = None
    results: Sequence[ChatTurnMessage] = ()
    wishes: ModelWishes | None = None

    @property
    def attributes(self) -> dict[str, Any]:
        """The attributes of the human utterance."""
        return {**self.own_attributes, "openai": self.extra} if self.extra else self.own_attributes

    def resent_history(self, said: str) -> list[Said]:
        """Return the history after a reply, as clients resend it."""
        last = [] if self.results else [Said("user", self.text)]
        return [*self.history, *last, *([Said("assistant", said)] if said else ())]

    @property
    def instructions(self) -> str:
        """The texts of the messages of developer and system."""
        return str(self.extra.get("instructions", ""))

    @property
    def prompt(self) -> Iterable[str]:
        """All texts of the request."""
        yield self.instructions
        for one in self.history:
            yield one.text
        yield self.text


def chat_input(
    messages: Sequence[ChatTurnMessage],
    *,
    field: str,
    instructions: object = None,
    metadata: dict[str, Any] | None = None,
    attributes: dict[str, Any] | None = None,
    parsed: dict[str, Any] | None = None,
    store: bool = True,
) -> ChatInput:
    """Return the input made of messages; `field` is the part of the request they stand in.

    Messages of developer and system, and instructions, become an attribute. Results of tools count
    only at the end, if they are awaited. Parts of the last message that are not text become an
    attribute too.
    """
    results = [*takewhile(lambda one: one.role == "tool", reversed(messages))][::-1]
    if not results and (not messages or messages[-1].role != "user"):
        what = "the last message should be the user's, or the result of a tool"
        raise BadInput(what, field=field)
    told = [instructions] if isinstance(instructions, str) else []
    history: list[Said] = []
    for message in messages[: -len(results) or -1]:
        text = message_text(message.content, field)
        if message.role in ("developer", "system"):
            told.append(text)
        elif message.role in ("user", "assistant") and text:
            history.append(Said("user" if message.role == "user" else "assistant", text))
    content = "" if results else messages[-1].content
    if content in (None, []) and parsed is None:
        raise BadInput("the last message has no content", field=field)
    text = message_text(content, field)
    listed = content if isinstance(content, list) else ()
    parts = [one for one in listed if _part_text(one) is None]
    extra: dict[str, Any] = {
        key: value
        for key, value in (
            ("instructions", "\n\n".join(told)),
            ("metadata", metadata),
            ("parts", parts),
        )
        if value
    }
    if not store:
        extra["store"] = False
    return ChatInput(
        field=field,
        text=text or _address(parts),
        history=history,
        own_attributes=attributes or {},
        extra=extra,
        parsed=parsed,
        results=results,
    )


def message_text(content: Content, field: str) -> str:
    """Return the text of a message's content."""
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    texts = [_part_text(part) for part in content]
    if any(text is not None and not isinstance(text, str) for text in texts):
        raise BadInput("the text of a part is a text", field=field)
    return "\n".join(text for text in texts if text is not None)


def _part_text(part: dict[str, Any]) -> Any:
    """Return the text of a part, None for a part of another kind."""
    kind = part.get("type")
    if kind in ("text", "input_text", "output_text"):
        return part.get("text", UNSET)
    return part.get("refusal", "") if kind == "refusal" else None


def _address(parts: list[dict[str, Any]]) -> str:
    """Return the address of a picture that came alone: it may be the requested value."""
    for part in parts:
        told = part.get("image_url")
        url = told.get("url") if isinstance(told, dict) else told
        if isinstance(url, str) and url.startswith(("http://", "https://")):
            return url
    return ""


def _check_tools(tools: list[dict[str, Any]] | None, choice: object) -> None:
    for number, tool in enumerate(tools or ()):
        function = tool.get("function")
        if tool.get("type") == "function" and not (
            isinstance(function, dict) and isinstance(function.get("name"), str)
        ):
            raise ValueError(f"tools have a function with a name each, tools[{number}] has not")
    if not tools and choice not in (None, "none", "auto"):
        raise ValueError("tool_choice is none or auto where there are no tools")


def _check_format(form: object, field: str) -> None:
    kind = form.get("type") if isinstance(form, dict) else None
    if kind not in (None, "text", "json_object", "json_schema"):
        raise ValueError(f"{field} is text, json_object or json_schema, not {kind!s:.40}")
    told = form.get("json_schema") if isinstance(form, dict) else None
    if kind == "json_schema" and not (
        isinstance(told, dict) and isinstance(told.get("schema"), dict)
    ):
        raise ValueError(f"{field} needs a schema, which is an object")


def _wishes(
    messages: Sequence[ChatTurnMessage],
    given: ChatInput,
    tools: list[dict[str, Any]] | None,
    choice: object,
    parallel: bool | None,
    form: Any,
) -> ModelWishes | None:
    """Return the wishes for chat models; with a history, they get it as the client sent it."""
    form = form if isinstance(form, dict) and form.get("type") not in (None, "text") else None
    functions = [tool for tool in tools or () if tool.get("type") == "function"]
    if not functions and not given.results and form is None:
        return None
    told = [{"content": None, **builtin} for builtin in msgspec.to_builtins(messages)]
    is_whole = bool(given.history or given.results or len(messages) > 1)
    return ModelWishes(
        messages=told if is_whole else None,
        tools=functions,
        tool_choice=choice,
        parallel_tool_calls=parallel,
        response_format=form,
    )


def _chat_tool(tool: dict[str, Any]) -> dict[str, Any]:
    """Return a function of a response's tools as chat completions have it."""
    if tool.get("type") != "function" or "function" in tool:
        return tool
    return {"type": "function", "function": {key: tool[key] for key in tool if key != "type"}}


def _chat_format(text: dict[str, Any] | None) -> Any:
    """Return the format of a response's text as chat completions have it."""
    form = (text or {}).get("format")
    if not isinstance(form, dict) or form.get("type") != "json_schema":
        return form
    told = {key: value for key, value in form.items() if key != "type" and value is not None}
    return {"type": "json_schema", "json_schema": told}


def _item_message(item: dict[str, Any]) -> dict[str, Any] | None:
    """Return an item of a response's input as a message, None for an item without meaning here."""
    match item.get("type", "message"):
        case "message":
            return item
        case "function_call":
            function = {"name": item.get("name"), "arguments": item.get("arguments")}
            call = {"id": item.get("call_id"), "type": "function", "function": function}
            return {"role": "assistant", "tool_calls": [call]}
        case "function_call_output":
            output = item.get("output")
            told = output if isinstance(output, str) else plain.encode(output).decode()
            return {"role": "tool", "tool_call_id": item.get("call_id"), "content": told}
    return None
