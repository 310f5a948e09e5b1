"""ServeOptions: what the words of `prolocutor serve` say."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import msgspec


class ServeOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The options of `prolocutor serve` as they are given; None for what is not."""

    file: Path | None = None
    host: str | None = None
    port: int | None = None
    metrics_host: str | None = None
    metrics_port: int | None = None
    store: str | None = None
    hosts: str | None = None
    deadline: float | None = None
    max_text: int | None = None
    code: Path | None = None
    without_keys: bool = False
    once: bool = False
    log: Literal["plain", "json"] | None = None
