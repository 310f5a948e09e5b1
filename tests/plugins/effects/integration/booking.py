"""An agent that says by which key it knows its effect: as a function and as a program."""

import json
import sys
from typing import Any


def book(request: dict[str, Any]) -> dict[str, Any]:
    return {"text": request["idempotency_key"], "confidence": 0.9}


if __name__ == "__main__":
    for line in sys.stdin:
        print(json.dumps(book(json.loads(line))), flush=True)
