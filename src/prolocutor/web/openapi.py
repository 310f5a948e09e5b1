"""The OpenAPI 3.1 document of a listener, made of its routes and their declared Structs."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Mapping
from importlib.metadata import version
from typing import Any, Final

import msgspec

from prolocutor.contracts.channel import ErrorForm, Route, WebSocketRoute
from prolocutor.web.error_table import ErrorBody, error_status
from prolocutor.web.operations import JSON, Operation, is_header
from prolocutor.web.routing import path_params, plain_path

Json = dict[str, Any]
"""A part of an OpenAPI document."""

_REF: Final = "#/components/schemas/{name}"
_ERRORS: Final = {
    400: "The request cannot be taken; `field` names the part at fault.",
    401: "A key or token is needed, or the one given is not known.",
    403: "The visitor may not do this.",
    404: "What was asked for is unknown.",
    409: "Another operator has the dialog, or none has.",
    408: "The body did not come in time.",
    413: "The body is too large.",
    414: "The query is too long.",
    415: "The body is of another kind than is taken here.",
    422: "The idempotency key came with another request before.",
    426: "There is a WebSocket here.",
    429: "Too much at once; try again after `Retry-After` seconds.",
    500: "Something went wrong; `error` names the id under which it is logged.",
    503: "The assistant is shutting down or its disk is full; try again after `Retry-After`.",
}
_IMPLIED: Final = ("Accept", "Authorization", "Content-Type")
"""Headers that are not parameters in OpenAPI, as content types and security schemes imply them."""

_ADMISSION: Final = (401, 403, 414, 429, 503)
_BODY: Final = (400, 408, 413)


def document(title: str, doors: Mapping[str, Iterable[object]]) -> Json:
    """Return the OpenAPI document of the routes of some doors, by the names of the doors."""
    openapi = _Document(doors)
    return {
        "openapi": "3.1.0",
        "info": {"title": title, "version": version("prolocutor")},
        "security": [{}, {"bearer": []}, {"query": []}],
        "paths": openapi.paths,
        "components": {
            "schemas": openapi.schemas,
            "responses": openapi.errors,
            "securitySchemes": {
                "bearer": {"type": "http", "scheme": "bearer"},
                "query": {"type": "apiKey", "in": "query", "name": "access_token"},
            },
        },
    }


class _Document:
    """The paths and schemas of a document while it is made."""

    def __init__(self, doors: Mapping[str, Iterable[object]]) -> None:
        routes = [(door, route) for door, routes in doors.items() for route in routes]
        types = list({id(one): one for _, route in routes for one in _types(route)}.values())
        self._bodies = {
            one.prefix: one.body
            for routes in doors.values()
            for one in routes
            if isinstance(one, ErrorForm) and one.body is not None
        }
        errors = [ErrorBody, *self._bodies.values()]
        schemas, self.schemas = make_schemas([*errors, *types])
        self._schemas = {
            id(one): schema for one, schema in zip(types, schemas[len(errors) :], strict=True)
        }
        self.errors: Json = {
            f"{_error_name(kind)}{status}": _error(text, kind)
            for kind in errors
            for status, text in _ERRORS.items()
        }
        self._names: set[str] = set()
        self.paths: Json = {}
        for door, route in routes:
            if isinstance(route, Route):
                self._add(door, route.path, route.method.lower(), self._route(route))
        for door, route in routes:
            if isinstance(route, WebSocketRoute):
                self._add(door, route.path, "get", self._socket(route))

    def _add(self, door: str, path: str, method: str, described: Json) -> None:
        path = plain_path(path)
        name = described["operationId"]
        if name in self._names:
            name = f"{name}_at_{re.sub(r'[^0-9A-Za-z]+', '_', path).strip('_')}"
        self._names.add(name)
        self.paths.setdefault(path, {})[method] = {**described, "operationId": name, "tags": [door]}

    def _route(self, route: Route) -> Json:
        operation = route.answer
        admission = _ADMISSION if route.access != "all" else ()
        if not isinstance(operation, Operation):
            described = _bare(
                operation, [_path_parameter(name) for name in path_params(route.path)]
            )
            described["responses"] = {"default": {"description": described["summary"]}}
        else:
            described = self._operation(operation, path_params(route.path))
            statuses = {500, *admission, *map(error_status, operation.errors)}
            statuses.update(_BODY if operation.body is not None else ())
            statuses.update((415,) if operation.body is bytes else ())
            statuses.update((400,) if operation.params is not None else ())
            responses = {**_refs(statuses, self._error_type(route)), **described["responses"]}
            described["responses"] = dict(sorted(responses.items()))
        if route.access == "all":
            described["security"] = []
        return described

    def _error_type(self, route: Route) -> type:
        """Return the type of the errors of a route, by the form with the longest prefix."""
        prefixes = [body for body in self._bodies if route.path.startswith(body)]
        return self._bodies[max(prefixes, key=len)] if prefixes else ErrorBody

    def _operation(self, operation: Operation, in_path: list[str]) -> Json:
        described: Json = {"operationId": operation.name, "summary": operation.summary}
        if operation.params is not None:
            described["parameters"] = _parameters(operation.params, in_path)
        if operation.body is not None:
            described["requestBody"] = {"required": True, "content": self._body(operation)}
        answer = self._answer(operation)
        described["responses"] = {
            str(status): {"description": text, **answer}
            for status, text in {operation.status: operation.summary, **operation.statuses}.items()
        }
        return described

    def _body(self, operation: Operation) -> Json:
        if operation.body is bytes:
            return {kind: {} for kind in operation.consumes}
        return {JSON: {"schema": self._schemas[id(operation.body)]}}

    def _answer(self, operation: Operation) -> Json:
        schemas = [self._schemas[id(one)] for one in operation.returns]
        if schemas:
            schema = schemas[0] if len(schemas) == 1 else {"anyOf": schemas}
            return {"content": {operation.produces: {"schema": schema}}}
        return {} if operation.produces == JSON else {"content": {operation.produces: {}}}

    def _socket(self, route: WebSocketRoute) -> Json:
        described = _bare(route.answer, [_path_parameter(name) for name in path_params(route.path)])
        opened = {"101": {"description": "The WebSocket is open."}}
        described["responses"] = {**opened, **_refs({426, 500, *_ADMISSION})}
        messages = {"receives": route.receives, "sends": route.sends}
        described["x-websocket"] = {
            way: self._schemas[id(message)]
            for way, message in messages.items()
            if message is not None
        }
        return described


def make_schemas(types: Iterable[Any]) -> tuple[list[Json], Json]:
    """Return the JSON schemas of types, and the components in their references."""
    schemas, components = msgspec.json.schema_components(types, ref_template=_REF)
    for schema in components.values():
        if "" in schema.get("properties", {}):  # the field of an `OpenStruct`
            del schema["properties"][""]
            schema["additionalProperties"] = True
    return list(schemas), components


def _types(route: object) -> list[Any]:
    if isinstance(route, WebSocketRoute):
        return [one for one in (route.receives, route.sends) if one is not None]
    if isinstance(route, Route) and isinstance(route.answer, Operation):
        body = [] if route.answer.body in (None, bytes) else [route.answer.body]
        return [*body, *route.answer.returns]
    return []


def _parameters(params: type[msgspec.Struct], in_path: list[str]) -> list[Json]:
    _, components = make_schemas([params])
    properties = components[params.__name__]["properties"]
    parameters = []
    for field in msgspec.structs.fields(params):
        if field.encode_name in _IMPLIED:
            continue
        schema = _drop_null(properties[field.encode_name])
        described: Json = {"name": field.encode_name}
        described["in"] = "header" if is_header(field.type) else "query"
        if field.encode_name in in_path:
            described["in"] = "path"
        if "description" in schema:
            described["description"] = schema.pop("description")
        if field.required or described["in"] == "path":
            described["required"] = True
        parameters.append({**described, "schema": schema})
    return parameters


def _drop_null(schema: Json) -> Json:
    """Return the schema of a parameter without null: a parameter may be missing, but not null."""
    options = [one for one in schema.get("anyOf", []) if one != {"type": "null"}]
    rest = {key: value for key, value in schema.items() if key != "anyOf" and value is not None}
    if len(options) == 1:
        return {**options[0], **rest}
    return {**rest, **({"anyOf": options} if options else {})}


def _bare(handler: object, parameters: list[Json]) -> Json:
    """Describe a handler by its name and docstring alone."""
    name = getattr(handler, "__name__", type(handler).__name__).strip("_")
    summary = (inspect.getdoc(handler) or name).partition("\n")[0].rstrip(".")
    return {"operationId": name, "summary": summary, "parameters": parameters}


def _path_parameter(name: str) -> Json:
    return {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}


def _refs(statuses: Iterable[int], body: type = ErrorBody) -> Json:
    name = _error_name(body)
    return {
        str(status): {"$ref": f"#/components/responses/{name}{status}"}
        for status in sorted(statuses)
    }


def _error_name(body: type) -> str:
    return "Error" if body is ErrorBody else body.__name__


def _error(text: str, body: type) -> Json:
    schema = {"$ref": _REF.format(name=body.__name__)}
    return {"description": text, "content": {JSON: {"schema": schema}}}
