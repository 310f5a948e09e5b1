"""The OpenAPI description of this door, from a table of its operations."""

from __future__ import annotations

from typing import Any, Final

from prolocutor.web.openapi import operation, ref

Json = dict[str, Any]

_TEXT: Final[Json] = {"type": "string"}
_NULL_TEXT: Final[Json] = {"type": ["string", "null"]}
_OBJECT: Final[Json] = {"type": "object", "additionalProperties": True}

_APP: Final[Json] = {
    "uniqueId": _TEXT,
    "name": _TEXT,
    "description": _TEXT,
    "error": _NULL_TEXT,
    "code": _TEXT,
    "icon": _NULL_TEXT,
    "isEnabled": {"type": "boolean"},
    "isRunning": {"type": "boolean"},
}
_DEVICE: Final[Json] = {
    "uniqueId": _TEXT,
    "name": _TEXT,
    "description": _TEXT,
    "kind": _TEXT,
    "version": {"type": "integer"},
    "ownerTier": _TEXT,
    "class": _TEXT,
    "isTransient": {"type": "boolean"},
    "authType": _TEXT,
}

_SCHEMAS: Final[Json] = {
    "AlmondSaid": {
        "type": "object",
        "required": ["command"],
        "properties": {
            "command": {
                "type": "object",
                "required": ["type"],
                "description": "`command` has `text`; `parsed` `json` and perhaps `title`; `tt` "
                "`code`.",
                "properties": {
                    "type": {"enum": ["command", "parsed", "tt"]},
                    "text": _TEXT,
                    "json": {"type": ["object", "string"]},
                    "title": _TEXT,
                    "code": _TEXT,
                },
                "additionalProperties": True,
            },
            "conversationId": {
                "type": ["string", "null"],
                "description": "That of an earlier answer; null begins a dialog.",
            },
        },
        "additionalProperties": True,
    },
    "AlmondReply": {
        "type": "object",
        "required": ["conversationId", "messages", "askSpecial"],
        "properties": {
            "conversationId": _TEXT,
            "messages": {"type": "array", "items": _OBJECT},
            "askSpecial": {"type": ["string", "null"], "description": "What is asked for."},
        },
    },
    "AssistSaid": {
        "type": "object",
        "required": ["text"],
        "properties": {
            "text": _TEXT,
            "language": _NULL_TEXT,
            "conversation_id": _NULL_TEXT,
            "agent_id": _NULL_TEXT,
        },
        "additionalProperties": True,
    },
    "AssistReply": {
        "type": "object",
        "required": ["response", "conversation_id", "continue_conversation"],
        "properties": {
            "response": _OBJECT,
            "conversation_id": _TEXT,
            "continue_conversation": {"type": "boolean"},
        },
    },
    "AlmondDevice": {"type": "object", "properties": _DEVICE},
    "AlmondDeviceValues": {
        "type": "object",
        "required": ["kind"],
        "properties": {"kind": _TEXT, "name": _TEXT},
        "additionalProperties": {"type": ["string", "number", "boolean"]},
    },
    "AlmondApp": {"type": "object", "properties": _APP},
    "AlmondProgram": {
        "type": "object",
        "required": ["code"],
        "properties": {"code": _TEXT, "name": _TEXT, "description": _TEXT, "icon": _TEXT},
    },
    "AlmondStarted": {
        "type": "object",
        "properties": {
            **{key: _APP[key] for key in ("uniqueId", "description", "code", "icon")},
            "results": {"type": "array", "items": _OBJECT},
            "errors": {"type": "array", "items": _TEXT},
        },
    },
    "AlmondNotification": {
        "type": "object",
        "required": ["user"],
        "properties": {
            "user": {**_TEXT, "description": "To whom: a user of this door."},
            "messages": {"type": ["string", "object", "array"]},
            "permission": {
                "type": "object",
                "description": "Instead of messages: who would like to do what.",
                "properties": {"person": _TEXT, "what": _TEXT},
            },
            "ask": {**_NULL_TEXT, "description": "What is asked for."},
            "skill": {**_TEXT, "description": "Whose the answer is."},
            "conversationId": {**_NULL_TEXT, "description": "In which dialog; `main`."},
            "key": {**_NULL_TEXT, "description": "As the header `Idempotency-Key`."},
            "context": {"description": "What the skill finds in its answer."},
        },
    },
    "AlmondNotified": {
        "type": "object",
        "properties": {"queued": {"type": "boolean", "description": "Whether it waits."}},
    },
    "AlmondPopular": {
        "type": "object",
        "properties": {"example_id": {"type": "integer"}, "count": {"type": "integer"}},
    },
}


def _path(name: str) -> Json:
    return {"name": name, "in": "path", "required": True, "schema": _TEXT}


def _query(name: str, description: str) -> Json:
    return {"name": name, "in": "query", "schema": _TEXT, "description": description}


def _list(name: str) -> Json:
    return {"type": "array", "items": ref(name)}


_USER: Final = _query("user", "Whose; for operators.")
_PROTOCOL: Final[Json] = {
    "name": "protocol",
    "in": "query",
    "schema": {"enum": ["1", "2"], "default": "1"},
    "description": "2: with the echo and the ids of messages.",
}
_ID: Final = [_path("id"), _USER]
_KEY: Final[Json] = {
    "name": "Idempotency-Key",
    "in": "header",
    "schema": _TEXT,
    "description": "The same key says the same thing once.",
}


def _api(base: str, suffix: str) -> Json:
    """Describe what stands under `/api` and again under `/me/api`."""
    return {
        f"{base}/converse": {
            "post": operation(
                f"converse{suffix}",
                "Say something and get what is said and asked",
                ref("AlmondReply"),
                400,
                413,
                body="AlmondSaid",
                parameters=[_PROTOCOL, _USER],
            )
        },
        f"{base}/conversation/process": {
            "post": operation(
                f"process{suffix}",
                "The same as Home Assistant's conversation API has it",
                ref("AssistReply"),
                400,
                413,
                body="AssistSaid",
                parameters=[_USER],
            )
        },
        f"{base}/devices/list": {
            "get": operation(
                f"list_devices{suffix}",
                "Skills and devices, by name",
                _list("AlmondDevice"),
                parameters=[_USER],
            )
        },
        f"{base}/devices/create": {
            "post": operation(
                f"create_device{suffix}",
                "Record a device",
                ref("AlmondDevice"),
                400,
                413,
                body="AlmondDeviceValues",
                parameters=[_USER],
            )
        },
        f"{base}/apps/list": {
            "get": operation(
                f"list_apps{suffix}", "Running programs", _list("AlmondApp"), parameters=[_USER]
            )
        },
        f"{base}/apps/get/{{id}}": {
            "get": operation(
                f"get_app{suffix}", "One program", ref("AlmondApp"), 404, parameters=_ID
            )
        },
        f"{base}/apps/create": {
            "post": operation(
                f"create_app{suffix}",
                "Start a program",
                ref("AlmondStarted"),
                400,
                413,
                body="AlmondProgram",
                parameters=[_USER],
            )
        },
        f"{base}/apps/delete/{{id}}": {
            "post": operation(f"delete_app{suffix}", "Stop a program", _OBJECT, 404, parameters=_ID)
        },
        f"{base}/commands/popular": {
            "get": operation(
                f"popular_commands{suffix}",
                "The examples that are used most",
                _list("AlmondPopular"),
                400,
                parameters=[_query("limit", "How many; 20.")],
            )
        },
    }


_FORM: Final = {
    "required": True,
    "content": {"application/x-www-form-urlencoded": {"schema": _OBJECT}},
}


def _notify() -> Json:
    described = operation(
        "notify",
        "Say something to a person, now or when nothing is asked any more (operators)",
        ref("AlmondNotified"),
        400,
        413,
        422,
        body="AlmondNotification",
        parameters=[_KEY],
    )
    answers = described["responses"]
    answers["202"] = {**answers["200"], "description": "It waits until nothing is asked any more."}
    return described


def _page(name: str, summary: str, *statuses: int, parameters: list[Json] | None = None) -> Json:
    described = operation(name, summary, None, *statuses, parameters=parameters)
    described["responses"]["200"]["content"] = {"text/html": {"schema": _TEXT}}
    return described


_DEVICE_PAGE: Final = [_path("kind"), _query("name", "What to call it.")]
_FORM_PAGE: Final = [*_DEVICE_PAGE, _query("controls", "The device factory, as JSON.")]

DESCRIPTION: Final[Json] = {
    "paths": {
        **_api("/api", ""),
        **_api("/me/api", "_of_mine"),
        "/api/notify": {"post": _notify()},
        "/user/register": {"get": _page("register_page", "How to become known here")},
        "/apps": {
            "get": _page("apps_page", "Devices and running programs"),
            "post": {
                **_page("stop_app", "Stop the program whose `id` is sent", 400, 413),
                "requestBody": _FORM,
            },
        },
        "/devices/oauth2/{kind}": {
            "get": _page("oauth2_page", "Connect an account", parameters=_DEVICE_PAGE)
        },
        "/devices/configure/{kind}": {
            "get": _page("configure_page", "A form to set up a device", 400, parameters=_FORM_PAGE),
            "post": {
                **_page("configure", "The form, filled in", 400, 413, parameters=_FORM_PAGE),
                "requestBody": _FORM,
            },
        },
    },
    "components": {"schemas": _SCHEMAS},
}
