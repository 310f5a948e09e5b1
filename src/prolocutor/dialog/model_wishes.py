"""ModelWishes: the wishes of a turn's client for chat models, beside an answer in words."""

from __future__ import annotations

from typing import Any

import msgspec

from prolocutor.dialog.plain import JsonObject


class ToolRound(msgspec.Struct, kw_only=True):
    """A model's calls of the client's tools, and the messages that led to the calls."""

    calls: list[JsonObject]
    messages: list[JsonObject] = []
    text: str = ""


class ModelWishes(msgspec.Struct, kw_only=True):
    """The wishes of a turn's client for chat models, in the form of OpenAI's chat completions.

    Connectors of chat models find it at their request; other services do not get them, and they are
    not stored. `messages` are sent to a model in place of the dialog; None: the dialog's. `rounds`
    are the models' calls of tools, by skill.
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
