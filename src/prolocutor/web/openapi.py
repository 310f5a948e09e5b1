"""The OpenAPI document of a listener: its own routes and those of its channels."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import version
from typing import Any, Final

from prolocutor.contracts.channel import Channel

Json = dict[str, Any]

ERROR: Final[Json] = {
    "type": "object",
    "required": ["error", "code", "field"],
    "properties": {
        "error": {"type": "string", "description": "What happened, in a sentence."},
        "code": {"type": "string", "description": "The same as one word, for programs."},
        "field": {"type": ["string", "null"], "description": "The part of the request at fault."},
    },
}

_REFUSALS: Final = {
    "400": "The request cannot be taken; `field` names the part at fault.",
    "401": "A key or token is needed, or the one given is not known.",
    "403": "The visitor may not do this.",
    "404": "What was asked for is unknown.",
    "413": "The body is too large.",
    "422": "The idempotency key came with another request before.",
    "429": "Too much at once; try again after `Retry-After` seconds.",
    "500": "Something went wrong; `error` names the id under which it is logged.",
    "503": "The assistant is shutting down or its disk is full; try again after `Retry-After`.",
}


def document(title: str, channels: Sequence[Channel], with_metrics: bool) -> Json:
    """Make the OpenAPI 3.1 document of these channels under one listener."""
    paths: Json = _own_paths(with_metrics)
    components: Json = {
        "schemas": {"Error": ERROR},
        "responses": {f"Refused{status}": _refusal(text) for status, text in _REFUSALS.items()},
        "securitySchemes": {
            "bearer": {"type": "http", "scheme": "bearer"},
            "query": {"type": "apiKey", "in": "query", "name": "access_token"},
        },
    }
    for channel in channels:
        described = channel.openapi()
        for path, methods in described.get("paths", {}).items():
            paths[path] = {**paths.get(path, {}), **methods}
        for kind, parts in described.get("components", {}).items():
            components.setdefault(kind, {}).update(parts)
    return {
        "openapi": "3.1.0",
        "info": {"title": title, "version": version("prolocutor")},
        "security": [{}, {"bearer": []}, {"query": []}],
        "paths": paths,
        "components": components,
    }


def refusals(*statuses: int) -> Json:
    """Return the `responses` of an operation that may be refused with these statuses."""
    return {str(s): {"$ref": f"#/components/responses/Refused{s}"} for s in statuses}


def ref(name: str) -> Json:
    """Return the schema of a component of this name."""
    return {"$ref": f"#/components/schemas/{name}"}


def operation(
    name: str,
    summary: str,
    ok: Json | None,
    *statuses: int,
    status: int = 200,
    body: str | None = None,
    parameters: list[Json] | None = None,
) -> Json:
    """Describe an operation that answers with `ok` (None: with nothing) or is refused.

    `statuses` are those of refusals besides what any operation may be refused with; `body` the
    component that it takes.
    """
    answer: Json = {"description": summary, **(_json(ok) if ok else {})}
    described: Json = {
        "operationId": name,
        "summary": summary,
        "responses": {str(status): answer, **refusals(*statuses, 401, 403, 429, 500, 503)},
    }
    if body is not None:
        described["requestBody"] = {"required": True, **_json(ref(body))}
    if parameters:
        described["parameters"] = parameters
    return described


def _json(schema: Json) -> Json:
    return {"content": {"application/json": {"schema": schema}}}


def _own_paths(with_metrics: bool) -> Json:
    paths: Json = {
        "/health/live": _get("health_live", "Whether the process answers at all"),
        "/health/ready": _get("health_ready", "Whether turns are taken", 503),
        "/openapi.json": _get("openapi", "This document"),
        "/icons/{name}": _icons(),
    }
    if with_metrics:
        paths["/metrics"] = _get("metrics", "Figures for Prometheus (operators)", 401, 403)
        content = {"text/plain": {"schema": {"type": "string"}}}
        paths["/metrics"]["get"]["responses"]["200"]["content"] = content
    return paths


def _get(name: str, summary: str, *statuses: int) -> Json:
    content = {"application/json": {"schema": {"type": "object"}}}
    answer = {"description": summary, "content": content}
    responses = {"200": answer, **refusals(*statuses)}
    return {"get": {"operationId": name, "summary": summary, "responses": responses}}


def _icons() -> Json:
    described = _get("show_icon", "The picture of a service", 404)
    answers = described["get"]["responses"]
    answers["200"]["content"] = {"image/*": {"schema": {"type": "string", "format": "binary"}}}
    answers["302"] = {"description": "The picture is elsewhere."}
    name = {"name": "name", "in": "path", "required": True, "schema": {"type": "string"}}
    described["get"]["parameters"] = [name]
    return described


def _refusal(text: str) -> Json:
    schema = {"$ref": "#/components/schemas/Error"}
    return {"description": text, "content": {"application/json": {"schema": schema}}}
