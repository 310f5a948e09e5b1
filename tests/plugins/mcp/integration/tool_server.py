"""A small MCP server over stdio; its tool is a function of `prolocutor.testing.behaviours`."""

import json
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from prolocutor.testing import behaviours

TOOL = {"name": "do", "inputSchema": {"type": "object", "properties": {"request": {}}}}


def answer(message: dict[str, Any]) -> None:
    try:
        match message["method"]:
            case "initialize":
                result = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}}
            case "tools/list":
                result = {"tools": [TOOL]}
            case "tools/call":
                request = message["params"]["arguments"]["request"]
                said = getattr(behaviours, sys.argv[1])(request)
                result = {"content": [], "structuredContent": {"result": said}}
            case _:
                raise LookupError("no such method")
        line = json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result})
    except SystemExit:
        line = json.dumps({"jsonrpc": "2.0", "id": message["id"], "error": error("it left")})
    except Exception as failed:
        line = json.dumps({"jsonrpc": "2.0", "id": message["id"], "error": error(str(failed))})
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def error(text: str) -> dict[str, Any]:
    return {"code": -32000, "message": text}


if __name__ == "__main__":
    with ThreadPoolExecutor(8) as pool:
        for line in sys.stdin:
            message = json.loads(line)
            if "id" in message:
                pool.submit(answer, message)
