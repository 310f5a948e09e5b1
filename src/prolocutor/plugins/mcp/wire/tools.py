"""Tools and the results of their calls; unknown keys are ignored."""

from __future__ import annotations

import msgspec

from prolocutor.dialog.plain import JsonObject


class ToolInfo(msgspec.Struct, frozen=True, rename="camel"):
    """A tool of a server: its name, its description, and the JSON Schema of its arguments."""

    name: str
    title: str | None = None
    description: str | None = None
    input_schema: JsonObject = {}


class ToolPage(msgspec.Struct, frozen=True, rename="camel"):
    """A page of a server's tools; `next_cursor` leads to the next page."""

    tools: list[ToolInfo]
    next_cursor: str | None = None


class EmbeddedResource(msgspec.Struct, frozen=True, rename="camel"):
    """The content of a resource, as text or in base64."""

    uri: str = ""
    text: str | None = None
    mime_type: str | None = None


class ContentBlock(msgspec.Struct, frozen=True, rename="camel"):
    """A part of a tool's result: `text`, `image`, `audio`, `resource_link` or `resource`."""

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
        """Whether the part is for people, not for models alone."""
        notes = self.annotations
        return notes is None or not notes.audience or "user" in notes.audience


class ContentNotes(msgspec.Struct, frozen=True):
    """The audience of a part: "user", "assistant"."""

    audience: list[str] | None = None


class ToolResult(msgspec.Struct, frozen=True, rename="camel"):
    """The result of a call.

    `result_type` is "input_required" if the server first asks the questions in `input_requests`;
    the call is then repeated with the answers and `request_state`.
    """

    content: list[ContentBlock] = []
    structured_content: msgspec.Raw = msgspec.Raw(b"null")
    is_error: bool | None = False
    result_type: str | None = None
    input_requests: dict[str, InputRequest] | None = None
    request_state: str | None = None


class InputRequest(msgspec.Struct, frozen=True):
    """A server's request to its client: a method of the client, and its parameters."""

    method: str
    params: JsonObject = {}


class ElicitParams(msgspec.Struct, frozen=True, rename="camel"):
    """A server's question to the user: by a form, or at an address."""

    message: str = ""
    mode: str = "form"
    requested_schema: JsonObject = {}
    url: str | None = None
