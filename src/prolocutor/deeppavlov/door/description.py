"""The OpenAPI description of this door, from a table of its operations."""

from __future__ import annotations

from typing import Any, Final

from prolocutor.web.openapi import operation, ref

Json = dict[str, Any]

_TEXT: Final[Json] = {"type": "string"}
_HEX: Final[Json] = {"type": "string", "pattern": "^[0-9a-f]{32}$"}
_OBJECT: Final[Json] = {"type": "object", "additionalProperties": True}
_ANY: Final[Json] = {"description": "Any JSON but null."}

_SCHEMAS: Final[Json] = {
    "Said": {
        "type": "object",
        "description": "What a person says; every other key becomes an attribute of the utterance.",
        "properties": {
            "user_id": {"type": "string", "description": "Whose words; persons may leave it out."},
            "payload": {
                "type": "string",
                "default": "",
                "description": "The words; `/start` and `/close` end the dialog instead.",
            },
            "debug_output": {"type": "boolean", "description": "Whether to show `debug_output`."},
            "user_device_type": {"description": "Accepted and left aside."},
            "location": {"description": "Accepted and left aside."},
        },
        "additionalProperties": True,
    },
    "Reply": {
        "type": "object",
        "description": "The reply; empty after `/start` and `/close`.",
        "properties": {
            "dialog_id": _HEX,
            "utt_id": {**_HEX, "description": "The id of the bot utterance."},
            "user_id": _TEXT,
            "response": _TEXT,
            "attributes": _OBJECT,
            "active_skill": _TEXT,
            "debug_output": {
                "type": "object",
                "properties": {
                    "hypotheses": {"type": "array", "items": _OBJECT},
                    "annotations": _OBJECT,
                },
            },
        },
    },
    "Dialog": {**_OBJECT, "description": "A dialog as DeepPavlov Agent's state has it."},
    "DialogIds": {
        "type": "object",
        "required": ["dialog_ids", "next"],
        "properties": {
            "dialog_ids": {"type": "array", "items": _HEX},
            "next": {"type": ["string", "null"], "description": "The query of the next page."},
        },
    },
    "DialogRating": {
        "type": "object",
        "required": ["dialog_id", "rating"],
        "properties": {"dialog_id": _TEXT, "rating": _ANY, "user_id": _TEXT},
    },
    "UtteranceRating": {
        "type": "object",
        "required": ["utt_id", "rating"],
        "properties": {"utt_id": _TEXT, "rating": _ANY, "user_id": _TEXT},
    },
    "CurrentLoad": {
        "type": "object",
        "properties": {
            "current_load": {"type": "object", "additionalProperties": {"type": "integer"}},
            "response_time": {"type": "object", "additionalProperties": {"type": "number"}},
        },
    },
}

_USER: Final[Json] = {
    "name": "user_external_id",
    "in": "path",
    "required": True,
    "schema": _TEXT,
}
_KEY: Final[Json] = {
    "name": "Idempotency-Key",
    "in": "header",
    "description": "The same key gets the same reply for a day; with another body, 422.",
    "schema": {"type": "string", "minLength": 1, "maxLength": 255},
}


def _page(name: str, default: int, least: int, most: int | None = None) -> Json:
    schema: Json = {"type": "integer", "default": default, "minimum": least}
    if most is not None:
        schema["maximum"] = most
    return {"name": name, "in": "query", "schema": schema}


_LIST: Final = [
    _page("offset", 0, 0),
    _page("limit", 100, 1, 1000),
    {"name": "_active", "in": "query", "schema": {"enum": ["0", "1", "true", "false"]}},
]
_DIALOG: Final = {
    "name": "dialog_id",
    "in": "path",
    "required": True,
    "description": "`dialog_id` or `_id`.",
    "schema": {"type": "string", "pattern": "^[0-9a-fA-F]+$"},
}

DESCRIPTION: Final[Json] = {
    "paths": {
        "/": {
            "post": operation(
                "say",
                "Say something and get the reply",
                ref("Reply"),
                400,
                413,
                422,
                body="Said",
                parameters=[_KEY],
            )
        },
        "/ping": {"get": operation("ping", "Whether anybody is there", {"const": "pong"})},
        "/api/dialogs": {
            "get": operation(
                "list_dialogs",
                "The ids of dialogs, oldest first",
                ref("DialogIds"),
                400,
                parameters=_LIST,
            )
        },
        "/api/dialogs/": {
            "get": operation(
                "list_dialogs_too", "The same", ref("DialogIds"), 400, parameters=_LIST
            )
        },
        "/api/dialogs/{dialog_id}": {
            "get": operation(
                "show_dialog",
                "One dialog as a whole",
                ref("Dialog"),
                400,
                404,
                parameters=[_DIALOG],
            )
        },
        "/api/user/{user_external_id}": {
            "get": operation(
                "list_dialogs_of",
                "All dialogs of one person",
                {"type": "array", "items": ref("Dialog")},
                parameters=[_USER],
            ),
            "delete": operation(
                "delete_person",
                "Delete a person with all that is theirs",
                None,
                404,
                status=204,
                parameters=[_USER],
            ),
        },
        "/rating/dialog": {
            "post": operation(
                "rate_dialog", "Rate a dialog", None, 400, 404, 413, body="DialogRating"
            )
        },
        "/rating/utterance": {
            "post": operation(
                "rate_utterance", "Rate an utterance", None, 400, 404, 413, body="UtteranceRating"
            )
        },
        "/debug/current_load": {
            "get": operation(
                "current_load",
                "Calls that run now, and mean seconds over the last five minutes",
                ref("CurrentLoad"),
            )
        },
    },
    "components": {"schemas": _SCHEMAS},
}
