"""The OpenAPI document is made of what the routes declare, and says what their readers take."""

from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from openapi_spec_validator import OpenAPIV31SpecValidator

from prolocutor.assistant.assistant import Assistant
from prolocutor.cli.owner_channel import OwnerChannel
from prolocutor.contracts.channel import NotFoundText, Route
from prolocutor.contracts.http import HttpRequest, HttpResponse
from prolocutor.doors.http.api import DeepPavlov
from prolocutor.errors import BadInput
from prolocutor.observe.metrics import TurnMetrics
from prolocutor.plugins.almond.door.door import Almond
from prolocutor.plugins.evaluation.chat_door import Parlai
from prolocutor.plugins.page.channel import Page
from prolocutor.testing.channel_kit import Gate, pipeline
from prolocutor.web.builtin_routes import BuiltinRoutes
from prolocutor.web.door_context import DoorContext
from prolocutor.web.limits import InFlight
from prolocutor.web.openapi import document
from prolocutor.web.operations import JsonReader, Operation
from tests.unit.web.json_schemas import fitting, nearly_fitting


def whole(*, with_metrics: bool = True) -> tuple[dict[str, list[Any]], Any]:
    """The routes of all doors, and their document."""
    assistant = Assistant(pipeline(Gate()), store="memory:")
    metrics = TurnMetrics() if with_metrics else None
    doors = [
        DeepPavlov(assistant),
        Almond(assistant),
        Page(DoorContext(assistant)),
        Parlai(assistant),
        OwnerChannel(assistant),
    ]
    builtin = BuiltinRoutes(assistant, doors, InFlight(), metrics, lambda: True)
    routes = {"listener": list(builtin.routes), **{door.name: list(door.routes) for door in doors}}
    return routes, document("a", routes)


ROUTES, DOCUMENT = whole()
COMPONENTS = DOCUMENT["components"]["schemas"]
BODIES = {
    f"{route.method} {route.path}": route.answer
    for routes in ROUTES.values()
    for route in routes
    if isinstance(route, Route)
    and isinstance(route.answer, Operation)
    and route.answer.body not in (None, bytes)
}


def test_the_document_keeps_to_openapi() -> None:
    assert [str(error) for error in OpenAPIV31SpecValidator(DOCUMENT).iter_errors()] == []


@pytest.mark.parametrize("with_metrics", [True, False])
def test_metrics_are_described_where_they_are_served(with_metrics: bool) -> None:
    made = whole(with_metrics=with_metrics)[1]

    assert ("/metrics" in made["paths"]) == with_metrics


def test_every_operation_has_a_name_of_its_own() -> None:
    paths = DOCUMENT["paths"]
    names = [operation["operationId"] for path in paths.values() for operation in path.values()]

    assert len(names) == len(set(names))


def test_every_route_is_described_with_its_errors() -> None:
    for routes in ROUTES.values():
        for route in (one for one in routes if not isinstance(one, NotFoundText)):
            path = route.path.replace(":path", "")
            method = route.method.lower() if isinstance(route, Route) else "get"
            described = DOCUMENT["paths"][path][method]

            assert described["summary"]
            assert "500" in described["responses"]
            refused = described["responses"].get("401", {})  # one of its own is no admission
            assert ("$ref" in refused) == (route.access != "all")


def test_every_handler_of_a_door_is_typed() -> None:
    plain = [
        route.path
        for routes in ROUTES.values()
        for route in routes
        if isinstance(route, Route) and not isinstance(route.answer, Operation)
    ]

    assert plain == []


def schema_of_body(route: str) -> Any:
    method, _, path = route.replace(":path", "").partition(" ")
    described = DOCUMENT["paths"][path][method.lower()]
    return described["requestBody"]["content"]["application/json"]["schema"]


@pytest.mark.parametrize("route", BODIES)
@settings(suppress_health_check=list(HealthCheck), deadline=None, max_examples=25)
@given(data=st.data())
def test_the_reader_accepts_exactly_the_values_of_the_schema(
    route: str, data: st.DataObject
) -> None:
    schema = schema_of_body(route)
    validator = Draft202012Validator({**schema, "components": DOCUMENT["components"]})
    body = data.draw(fitting(schema, COMPONENTS) | nearly_fitting(schema, COMPONENTS))

    assert is_read(BODIES[route], body) == validator.is_valid(body)


@pytest.mark.parametrize("route", BODIES)
@settings(suppress_health_check=list(HealthCheck), deadline=None, max_examples=10)
@given(data=st.data())
def test_a_value_made_by_the_schema_is_read(route: str, data: st.DataObject) -> None:
    schema = schema_of_body(route)

    assert is_read(BODIES[route], data.draw(fitting(schema, COMPONENTS)))


def test_a_plain_handler_is_described_by_its_name() -> None:
    async def answer(_: HttpRequest) -> HttpResponse:
        """Answer. And more."""
        return HttpResponse()

    made = document("a", {"mine": [Route("PUT", "/x/{id}", answer, "all")]})

    described = made["paths"]["/x/{id}"]["put"]
    assert described["operationId"] == "answer"
    assert described["security"] == []
    assert [parameter["name"] for parameter in described["parameters"]] == ["id"]
    assert [str(error) for error in OpenAPIV31SpecValidator(made).iter_errors()] == []


def is_read(operation: Operation, body: object) -> bool:
    try:
        JsonReader(operation.body).read(msgspec.json.encode(body))
    except BadInput:
        return False
    return True
