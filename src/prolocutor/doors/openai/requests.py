"""The requests of the door, as OpenAI's API has them, and what they come to: one input.

Source: OpenAI's API reference, and the types of its Python package 3.52. Keys without a field are
ignored: agents are black boxes, so that nobody could act by a temperature.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Annotated, Any, Final, Literal, TypeAlias

import msgspec
from msgspec import UNSET, Meta

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
    """The headers that say who asks, and in which conversation."""

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


class ChatTurnMessage(msgspec.Struct):
    """One message of a conversation."""

    role: Literal["developer", "system", "user", "assistant", "tool", "function"]
    content: Content = None


class StreamOptions(msgspec.Struct):
    """What a stream shows."""

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
    tool_choice: Any = None
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
        """Refuse what cannot be done."""
        if self.n not in (None, 1):
            raise ValueError("n is 1: an assistant gives one reply")
        if self.modalities and self.modalities != ["text"]:
            raise ValueError("modalities are text alone here")
        _check_text_alone(self.response_format, "response_format")
        _check_no_tools(self.tool_choice)


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
    tool_choice: Any = None
    text: dict[str, Any] | None = None
    background: bool | None = None
    store: Annotated[
        bool | None,
        Meta(description="False: the response is not to be had by its id; the dialog is kept."),
    ] = None
    prompt: Any = None
    attributes: Attributes = None

    def __post_init__(self) -> None:
        """Refuse what cannot be done."""
        if self.background:
            raise ValueError("background is not possible here: wait for the response, or stream it")
        if self.prompt is not None:
            raise ValueError("prompt is not known here: there are no stored prompts")
        if self.conversation is not None and self.previous_response_id is not None:
            raise ValueError("conversation and previous_response_id exclude each other")
        _check_text_alone((self.text or {}).get("format"), "text")
        _check_no_tools(self.tool_choice)

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
        """Return the items of the input that are messages."""
        if isinstance(self.input, str):
            return [ChatTurnMessage("user", self.input)]
        items = [one for one in self.input if one.get("type", "message") == "message"]
        try:
            return msgspec.convert(items, list[ChatTurnMessage])
        except msgspec.ValidationError as error:
            raise BadInput(f"input: {error}", field="input") from None


class Said(msgspec.Struct, frozen=True, array_like=True):
    """One text of a conversation."""

    role: Literal["user", "assistant"]
    text: str


class ChatInput(msgspec.Struct, kw_only=True):
    """What a request comes to: a text, what went before it, and the utterance's attributes.

    `extra` becomes the attribute `openai`: instructions, metadata, parts that are no text, and
    `store` where it is false.
    `field` is the part of the request that the texts stand in.
    """

    field: str
    text: str
    history: list[Said]
    own_attributes: dict[str, Any]
    extra: dict[str, Any]
    parsed: dict[str, Any] | None = None

    @property
    def attributes(self) -> dict[str, Any]:
        """The attributes of the human utterance."""
        return {**self.own_attributes, "openai": self.extra} if self.extra else self.own_attributes

    @property
    def instructions(self) -> str:
        """What the messages of developer and system say."""
        return str(self.extra.get("instructions", ""))

    @property
    def prompt(self) -> Iterable[str]:
        """All texts that came."""
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
    """Return the input that messages come to; `field` is the part of the request they stand in.

    Messages of developer and system, and instructions, become an attribute; those of tools are left
    out, as there are none. Parts of the last message that are no text become an attribute too.
    """
    if not messages or messages[-1].role != "user":
        raise BadInput("the last message should be the user's", field=field)
    told = [instructions] if isinstance(instructions, str) else []
    history: list[Said] = []
    for one in messages[:-1]:
        text = text_of(one.content, field)
        if one.role in ("developer", "system"):
            told.append(text)
        elif one.role in ("user", "assistant") and text:
            history.append(Said("user" if one.role == "user" else "assistant", text))
    content = messages[-1].content
    if content in (None, []) and parsed is None:
        raise BadInput("the last message has no content", field=field)
    text = text_of(content, field)
    listed = content if isinstance(content, list) else ()
    parts = [one for one in listed if _text_in(one) is None]
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
    )


def text_of(content: Content, field: str) -> str:
    """Return the text of a message's content."""
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    texts = [_text_in(part) for part in content]
    if any(text is not None and not isinstance(text, str) for text in texts):
        raise BadInput("the text of a part is a text", field=field)
    return "\n".join(text for text in texts if text is not None)


def _text_in(part: dict[str, Any]) -> Any:
    """Return the text of a part, None for one that is no text."""
    kind = part.get("type")
    if kind in ("text", "input_text", "output_text"):
        return part.get("text", UNSET)
    return part.get("refusal", "") if kind == "refusal" else None


def _address(parts: list[dict[str, Any]]) -> str:
    """Return the address of a picture that came alone: it may be what was asked for."""
    for part in parts:
        told = part.get("image_url")
        url = told.get("url") if isinstance(told, dict) else told
        if isinstance(url, str) and url.startswith(("http://", "https://")):
            return url
    return ""


def _check_no_tools(choice: object) -> None:
    if choice not in (None, "none", "auto"):
        raise ValueError("tool_choice is none or auto: an assistant calls no tools of its clients")


def _check_text_alone(form: object, field: str) -> None:
    kind = form.get("type") if isinstance(form, dict) else None
    if kind not in (None, "text"):
        raise ValueError(f"{field} is text: agents cannot be made to write {kind!s:.40}")
