"""ModelWishes: what the client of a turn wants of chat models, beside an answer in words."""

from __future__ import annotations

from typing import Any

import msgspec

from prolocutor.dialog.plain import JsonObject


class ToolRound(msgspec.Struct, kw_only=True):
    """The calls of the client's tools that a model wants, and the messages that led to them."""

    calls: list[JsonObject]
    messages: list[JsonObject] = []
    text: str = ""


class ModelWishes(msgspec.Struct, kw_only=True):
    """What the client of a turn wants of chat models, in the form of OpenAI's chat completions.

    Connectors of chat models find it at their request; no other service is shown any of it, and
    nothing of it is stored. `messages` are those that a model is sent in place of the dialog, None
    for the dialog's. `rounds` are the calls of tools that models ask for, by skill.
    """

    messages: list[JsonObject] | None = None
    tools: list[JsonObject] = []
    tool_choice: Any = None
    parallel_tool_calls: bool | None = None
    response_format: JsonObject | None = None
    rounds: dict[str, ToolRound] = {}

    def keys(self) -> JsonObject:
        """Return the keys that they are in a request for a chat completion."""
        found: JsonObject = {}
        if self.response_format is not None:
            found["response_format"] = self.response_format
        if self.tools:
            found["tools"] = self.tools
            if self.tool_choice is not None:
                found["tool_choice"] = self.tool_choice
            if self.parallel_tool_calls is not None:
                found["parallel_tool_calls"] = self.parallel_tool_calls
        return found
