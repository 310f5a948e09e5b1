"""From the values of a file to those of `Settings`, and faults without secrets."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import msgspec

from prolocutor.config.faults import Fault

_SECRET: Final = "auth.tokens"


def in_folder(values: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Return the values with a relative path of the store resolved from the file's folder."""
    prefix, _, name = values.get("store", "").partition(":///")
    if prefix == "sqlite" and name and not name.startswith("/"):
        return {**values, "store": f"sqlite:///{folder / name}"}
    return values


def without_secret(fault: Fault) -> Fault:
    """Remove a token from a fault's key."""
    before, found, _ = (fault.key or "").partition(f"{_SECRET}.")
    return msgspec.structs.replace(fault, key=f"{before}{_SECRET}") if found else fault
