"""The agent of the soak of replicas: each of its runs gives a reply of its own.

A reply is `NUMBER TOKEN after TOKEN`: the number of what was said, a token that no other run has,
and that of the reply before it, as this run was shown it. Every run is written to the file
`SOAK_DIARY` with its beginning and its end, by a clock that all processes share. The second word of
the fallback text stands for the token of a turn that was cut off twice.
"""

from __future__ import annotations

import asyncio
import os
import secrets
from time import monotonic
from typing import Any, Final

DIARY: Final = os.environ.get("SOAK_DIARY", os.devnull)
SLOW: Final = 0.05
"""The share of runs that take half a second; the others take some milliseconds."""
RING_EVERY: Final = 8
"""Of so many things that are said one is answered by a timer as well."""


async def echo(request: dict[str, Any]) -> list[dict[str, Any]]:
    """Repeat the number of what was said, and set a timer now and then."""
    began, token = monotonic(), secrets.token_hex(6)
    number = int(str(request["human_utterances"][-1]["text"]).partition(":")[0])
    earlier = request["bot_utterances"]
    before = earlier[-1]["text"].split()[1] if earlier else "nothing"
    chance = secrets.randbelow(1000) / 1000
    await asyncio.sleep(0.5 if chance < SLOW else chance * 0.04)
    user = request["human"]["user_external_id"]
    note(f"{user} {number} {token} {began:.6f} {monotonic():.6f}\n")
    reply: dict[str, Any] = {"text": f"{number} {token} after {before}", "confidence": 0.9}
    if number % RING_EVERY == 0:
        messages = [{"type": "text", "text": f"ring {number}"}]
        reply["schedule"] = [{"key": str(number), "in": 0.3 + chance, "messages": messages}]
    return [reply]


def note(line: str) -> None:
    """Add a line to the diary, in one system call."""
    file = os.open(DIARY, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    os.write(file, line.encode())
    os.close(file)
