"""The OpenAPI description of this door."""

from __future__ import annotations

from typing import Any, Final

from prolocutor.web.openapi import operation, ref, refusals

Json = dict[str, Any]

_TEXT: Final[Json] = {"type": "string"}
_MAYBE_TEXT: Final[Json] = {"type": ["string", "null"]}
_MAYBE_NUMBER: Final[Json] = {"type": ["number", "null"]}
_MAYBE_LIST: Final[Json] = {"type": ["array", "null"], "items": {"type": "object"}}
_TEXTS: Final[Json] = {"type": "array", "items": _TEXT}
_HEX: Final[Json] = {"type": "string", "pattern": "^[0-9a-fA-F]{32}$"}

_PICTURES: Final[Json] = {
    kind: {} for kind in ("image/png", "image/jpeg", "image/gif", "image/webp")
}

_SCHEMAS: Final[Json] = {
    "Visitor": {
        "type": "object",
        "properties": {
            "kind": {"enum": ["operator", "person", "anonymous"]},
            "user": _MAYBE_TEXT,
        },
    },
    "TurnOfReply": {
        "type": "object",
        "description": "How a reply came about; null stands for what is not known any more.",
        "properties": {
            "turn_id": _MAYBE_TEXT,
            "utt_id": _TEXT,
            "text": {"type": "string", "description": "What was answered."},
            "response": _TEXT,
            "active_skill": _TEXT,
            "confidence": {"type": "number"},
            "by": _MAYBE_TEXT,
            "started": _MAYBE_NUMBER,
            "seconds": _MAYBE_NUMBER,
            "attempt": _MAYBE_NUMBER,
            "asked": _TEXTS,
            "chosen": {**_TEXTS, "description": "The `hypothesis_id` of what is in the reply."},
            "services": _MAYBE_LIST,
            "hypotheses": _MAYBE_LIST,
            "faults": _MAYBE_LIST,
            "remarks": _MAYBE_LIST,
            "reasons": _MAYBE_LIST,
        },
    },
    "ReplyRating": {
        "type": "object",
        "required": ["utt_id", "rating"],
        "properties": {"utt_id": _HEX, "rating": {"enum": [1, -1]}},
    },
    "Upload": {"type": "object", "required": ["url"], "properties": {"url": _TEXT}},
}


def _file(name: str, summary: str, content: Json, part: str | None = None) -> Json:
    """Describe a file that whoever knows its address may have."""
    described: Json = {
        "operationId": name,
        "summary": summary,
        "security": [],
        "responses": {"200": {"description": summary, "content": content}, **refusals(404, 500)},
    }
    if part is not None:
        described["parameters"] = [_part(part, _TEXT)]
    return {"get": described}


def _part(name: str, schema: Json) -> Json:
    return {"name": name, "in": "path", "required": True, "schema": schema}


def _in_query(name: str, text: str) -> Json:
    return {"name": name, "in": "query", "description": text, "schema": _TEXT}


_WHOSE: Final = [
    _in_query("id", "The conversation by which an anonymous person is known."),
    _in_query("user", "The user for whom an operator speaks."),
]
_TURN: Final = operation(
    "turn_of_reply",
    "How a reply came about",
    ref("TurnOfReply"),
    400,
    404,
    parameters=[_part("utt_id", _HEX), *_WHOSE],
)
_RATE: Final = operation(
    "rate_reply",
    "Rate a reply: 1 is good, -1 is bad",
    None,
    400,
    404,
    status=204,
    body="ReplyRating",
    parameters=_WHOSE,
)
_UPLOAD: Final = {
    **operation(
        "upload_picture",
        "Keep a picture that a person was asked for, and give its address",
        ref("Upload"),
        400,
        413,
        status=201,
        parameters=_WHOSE,
    ),
    "requestBody": {"required": True, "content": _PICTURES},
}

DESCRIPTION: Final[Json] = {
    "paths": {
        "/": _file("page", "The chat page", {"text/html": {}}),
        "/page/{file}": _file("page_file", "A file of the chat page", {"*/*": {}}, "file"),
        "/api/visitor": {"get": operation("visitor", "Who the caller is", ref("Visitor"))},
        "/api/turns/{utt_id}": {"get": _TURN},
        "/rating/reply": {"post": _RATE},
        "/uploads": {"post": _UPLOAD},
        "/uploads/{name}": _file("picture", "A picture that was uploaded", _PICTURES, "name"),
    },
    "components": {"schemas": _SCHEMAS},
}
