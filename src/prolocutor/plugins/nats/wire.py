"""The wire over NATS: subjects, headers, and the times that both sides keep.

`docs/reference/workers.md` describes it for workers in other languages.
"""

from __future__ import annotations

from typing import Final, Literal
from urllib.parse import quote

import msgspec

PREFIX: Final = "prolocutor"
QUEUE_GROUP: Final = "workers"
ANY_ASSISTANT: Final = "*"

TURN: Final = "X-Turn-Id"
KEY: Final = "Idempotency-Key"
TIMEOUT: Final = "Prolocutor-Timeout"
"""Milliseconds after which the answer is no longer used."""
SENT: Final = "Prolocutor-Sent"
"""When the call was sent, in milliseconds since 1970 by the caller's clock."""
STATE: Final = "Prolocutor"
ALIVE: Final = "alive"
ERROR: Final = "Prolocutor-Error"
PATH: Final = "Prolocutor-Path"
"""The place of the value that is wrong in a reply."""

ALIVE_SECONDS: Final = 0.25
"""A worker says that it is alive when a call is that old, and then that often."""
SILENCE_SECONDS: Final = 0.75
"""A worker that was not heard of for so long is given up."""

BUCKETS: Final = 1024

WorkerError = Literal["raised", "bad_request", "bad_reply", "busy"]


def call_subject(assistant: str, service: str) -> str:
    """Return the subject of the calls of a service."""
    name = assistant if assistant == ANY_ASSISTANT else token(assistant)
    return f"{PREFIX}.{name}.call.{token(service)}"


def feed_subject(assistant: str, bucket: int | Literal["*"]) -> str:
    """Return the subject of the hints about the persons of a bucket, or of all (`*`)."""
    return f"{PREFIX}.{token(assistant)}.feed.{bucket}"


def token(name: str) -> str:
    """Return a name as a token of a subject: characters but letters, digits, `-`, `_` as %XX."""
    return quote(name, safe="").replace(".", "%2E").replace("~", "%7E")


def micro_name(name: str) -> str:
    """Return a name in the characters of NATS's micro services: letters, digits, `-` and `_`."""
    return "".join(c if c.isascii() and (c.isalnum() or c in "-_") else "_" for c in name)


def header_block(headers: dict[str, str]) -> bytes:
    """Return headers in wire form; their bytes count towards the size limit of a message.

    Keys and values have no line breaks.
    """
    lines = "".join([f"{key}: {value}\r\n" for key, value in headers.items()])
    return f"NATS/1.0\r\n{lines}\r\n".encode()


class WorkerLoad(msgspec.Struct, frozen=True, kw_only=True):
    """The load of a worker, as `data` of its endpoint in `$SRV.STATS`.

    - `held`: calls that wait or run.
    - `hold`: the limit of `held`.
    - `calls`: calls of the function so far.
    - `requests`: the requests in them.
    - `fill` is `held / batch_size`.
    - `busy` counts refused calls, `late` dropped calls.
    """

    batch_size: int
    hold: int
    held: int
    fill: float
    calls: int = 0
    requests: int = 0
    busy: int = 0
    late: int = 0
    draining: bool = False
    host: str = ""
    pid: int = 0
