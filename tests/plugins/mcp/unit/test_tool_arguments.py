"""What a tool is called with."""

from prolocutor.dialog.plain import encode
from prolocutor.plugins.mcp.connector.arguments import OfferedTool, ToolArguments
from prolocutor.plugins.mcp.wire.tools import ToolInfo
from prolocutor.plugins.pairing.endpoints import ModelRequest


def test_a_password_comes_from_the_answer_because_the_dialog_has_dots() -> None:
    answer = {"kind": "password", "value": "s3cret", "raw": "s3cret"}
    body = encode({"utterances": [{"text": "••••••••"}], "dialog_id": "d", "answer": answer})
    request = ModelRequest("tool", "turn", body)
    schema = {"type": "object", "properties": {"text": {"type": "string"}}}
    tool = OfferedTool(ToolInfo(name="ask", input_schema=schema))

    made = ToolArguments(None, {}).of(body, request, tool)

    assert made == {"text": "s3cret"}
