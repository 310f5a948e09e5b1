"""What a tool is called with."""

from typing import Any

import pytest

from prolocutor.dialog.plain import decode, encode
from prolocutor.pipeline.requests import PayloadRequest
from prolocutor.plugins.mcp.connector.arguments import OfferedTool, ToolArguments
from prolocutor.plugins.mcp.wire.headers import header_fault
from prolocutor.plugins.mcp.wire.tools import ToolInfo


def request_of(body: bytes) -> PayloadRequest:
    return PayloadRequest.outside_turns("tool", decode(body))


def test_a_password_comes_from_the_answer_because_the_dialog_has_dots() -> None:
    answer = {"kind": "password", "value": "s3cret", "raw": "s3cret"}
    body = encode({"utterances": [{"text": "••••••••"}], "dialog_id": "d", "answer": answer})
    request = request_of(body)
    schema = {"type": "object", "properties": {"text": {"type": "string"}}}
    tool = OfferedTool(ToolInfo(name="ask", input_schema=schema))

    made = ToolArguments(None, {}).make_arguments(body, request, tool)

    assert made == {"text": "s3cret"}


def schema_of(*required: str, **properties: str) -> dict[str, Any]:
    kinds = {name: {"type": kind} for name, kind in properties.items()}
    return {"type": "object", "properties": kinds, "required": list(required)}


@pytest.mark.parametrize(
    "schema",
    [
        schema_of("path", "pattern", path="string", pattern="string"),
        schema_of(path="string", pattern="string"),
        schema_of("path", "pattern", path="string", pattern="string", depth="integer"),
        schema_of("path", path="string", pattern="string", sort="string", order="string"),
    ],
)
def test_a_tool_whose_arguments_are_all_given_needs_none_for_the_text(
    schema: dict[str, Any],
) -> None:
    given = {"path": "notes", "pattern": "*.md"}
    body = encode({"utterances": [{"text": "list them"}], "dialog_id": "d"})
    tool = ToolInfo(name="search", input_schema=schema)
    arguments = ToolArguments(None, given)

    arguments.check(tool)
    made = arguments.make_arguments(body, request_of(body), OfferedTool(tool))

    assert made == given


def marked(token: Any, kind: Any = "string", **more: Any) -> dict[str, Any]:
    return {"properties": {"region": {"type": kind, "x-mcp-header": token}, **more}}


@pytest.mark.parametrize(
    "schema",
    [
        marked(""),
        marked("My Region"),
        marked("Region:Primary"),
        marked("Région"),
        marked("Region\t1"),
        marked("Region\r\nX-Evil"),
        marked(7),
        marked("Region", "object"),
        marked("Region", "array"),
        marked("Region", "null"),
        marked("Region", ["string", "null"]),
        marked("Region", other={"type": "string", "x-mcp-header": "Region"}),
        marked("Region", other={"type": "string", "x-mcp-header": "REGION"}),
        marked("Region", inner={"properties": {"a": {"type": "string", "x-mcp-header": "region"}}}),
        {"x-mcp-header": "Region", "properties": {}},
        {"properties": {"all": {"items": {"type": "string", "x-mcp-header": "One"}}}},
        {"anyOf": [marked("Region")]},
    ],
)  # fmt: skip
def test_a_header_that_is_marked_amiss_is_found(schema: dict[str, Any]) -> None:
    assert header_fault(schema)


@pytest.mark.parametrize(
    "schema",
    [
        {},
        marked("Region"),
        marked("Tenant-Id", "integer", more={"type": "boolean", "x-mcp-header": "More"}),
        {"properties": {"a": {"properties": {"b": {"type": "string", "x-mcp-header": "B"}}}}},
        {"properties": {"a": {"default": {"x-mcp-header": ""}}}},
    ],
)
def test_headers_that_are_marked_well_have_no_fault(schema: dict[str, Any]) -> None:
    assert header_fault(schema) == ""
