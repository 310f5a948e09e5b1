"""What commands write: JSON, numbers, and text of others in one line."""

from __future__ import annotations

from typing import Any

import click
import msgspec


def write_json(file: str, value: Any) -> None:
    """Write a value as indented JSON to a file; `-` is stdout."""
    with click.open_file(file, "wb") as out:
        out.write(msgspec.json.format(msgspec.json.encode(value), indent=2) + b"\n")
        out.flush()


def figure(value: float) -> str:
    """Write a number with four decimals, or in four digits if it is very large or small."""
    if value == 0 or 0.0001 <= abs(value) < 1000:
        return f"{value:.4f}"
    return f"{value:.4g}"


def clean(text: str, longest: int = 160) -> str:
    """Return a text in one printable line of at most `longest` characters; `-` for none."""
    shown = "".join(sign if sign.isprintable() else " " for sign in text)
    return (shown if len(shown) <= longest else f"{shown[: longest - 1]}…") or "-"
