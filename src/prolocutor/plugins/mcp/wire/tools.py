"""Tools and the results of calling them, as far as they are read here; unknown keys are ignored."""

from __future__ import annotations

import msgspec

from prolocutor.dialog.plain import JsonObject


class ToolInfo(msgspec.Struct, frozen=True, rename="camel"):
    """A tool of a server: its name, what it does, and the JSON Schema of its arguments."""

    name: str
    title: str | None = None
    description: str | None = None
    input_schema: JsonObject = {}


class ToolPage(msgspec.Struct, frozen=True, rename="camel"):
    """One page of a server's tools; the next is asked for by `next_cursor`."""

    tools: list[ToolInfo]
    next_cursor: str | None = None


class EmbeddedResource(msgspec.Struct, frozen=True, rename="camel"):
    """What is in a resource, as text or in base64."""

    uri: str = ""
    text: str | None = None
    mime_type: str | None = None


class ContentBlock(msgspec.Struct, frozen=True, rename="camel"):
    """One part of what a tool said: `text`, `image`, `audio`, `resource_link` or `resource`."""

    type: str
    text: str | None = None
    data: str | None = None
    mime_type: str | None = None
    uri: str | None = None
    name: str | None = None
    title: str | None = None
    resource: EmbeddedResource | None = None
    annotations: ContentNotes | None = None

    @property
    def is_for_people(self) -> bool:
        """Whether it is meant to be shown, and not for a model alone."""
        notes = self.annotations
        return notes is None or not notes.audience or "user" in notes.audience


class ContentNotes(msgspec.Struct, frozen=True):
    """Whom a part is meant for: "user", "assistant"."""

    audience: list[str] | None = None


class ToolResult(msgspec.Struct, frozen=True, rename="camel"):
    """The result of a call.

    `result_type` is "input_required" where the server asks for something first: for what is in
    `input_requests`; the call is then sent again with the answers and with `request_state`.
    """

    content: list[ContentBlock] = []
    structured_content: msgspec.Raw = msgspec.Raw(b"null")
    is_error: bool | None = False
    result_type: str | None = None
    input_requests: dict[str, InputRequest] | None = None
    request_state: str | None = None


class InputRequest(msgspec.Struct, frozen=True):
    """What a server asks its client for: a method of the client's, and its parameters."""

    method: str
    params: JsonObject = {}


class ElicitParams(msgspec.Struct, frozen=True, rename="camel"):
    """What a server wants to know of the user: by a form, or at an address."""

    message: str = ""
    mode: str = "form"
    requested_schema: JsonObject = {}
    url: str | None = None
