"""Who: who was asked in a turn, who answered, how sure, how long it took and what failed."""

from __future__ import annotations

from typing import Any

import msgspec
from rich.console import Console
from rich.table import Table
from rich.text import Text

from prolocutor.cli.turn_data import TurnData
from prolocutor.pipeline.plan import Stage


class ServiceSummary(msgspec.Struct, frozen=True, kw_only=True):
    """One service in a turn; `confidence` is that of its surest hypothesis, `seconds` its time."""

    name: str
    stage: str
    outcome: str
    answered: bool
    confidence: float | None = None
    seconds: float | None = None
    error: str | None = None


def asked_in(turn: TurnData) -> list[ServiceSummary]:
    """Tell who was asked: all skills, and of the other services those that went wrong."""
    record = turn["record"] or {"services": [], "chosen": []}
    chosen = {_skill(id_) for id_ in record["chosen"]}
    sure: dict[str, float] = {}
    for one in turn["hypotheses"]:
        skill = _skill(one["hypothesis_id"])
        sure[skill] = max(sure.get(skill, 0.0), one["confidence"])
    return [
        ServiceSummary(
            name=one["name"],
            stage=one["stage"],
            outcome=one["outcome"],
            answered=is_skill and one["name"] in chosen,
            confidence=sure.get(one["name"]) if is_skill else None,
            seconds=_seconds(one),
            error=one["error"],
        )
        for one in record["services"]
        if (is_skill := one["stage"] == Stage.SKILL) or one["outcome"] in ("failed", "late")
    ]


def summary(turn: TurnData) -> str:
    """Say in one line who answered, how sure, and how long it took."""
    record, reply = turn["record"], turn["reply"]
    if record is None:
        return f"{reply['active_skill']} answered, confidence {reply['confidence']:g}"
    names = " and ".join(dict.fromkeys(_skill(id_) for id_ in record["chosen"]))
    who = f"{names} answered" if names else f"nobody answered (the reply is by {record['by']})"
    return f"{who}, confidence {reply['confidence']:.3g}, in {record['seconds'] * 1000:.0f} ms"


def lines(turn: TurnData) -> list[str]:
    """Tell of a turn as plain text, the columns apart by tabs."""
    rows = ["\t".join(_cells(one)) for one in asked_in(turn)]
    return [summary(turn), *rows, *_faults(turn)]


def show(turn: TurnData, console: Console) -> None:
    """Tell of a turn as a table."""
    table = Table(box=None, pad_edge=False, header_style="dim")
    for name, justify in (("asked", "left"), ("", "left"), ("confidence", "right")):
        table.add_column(name, justify=justify)  # type: ignore[arg-type]
    table.add_column("time", justify="right")
    table.add_column("what failed", style="red")
    for one in sorted(asked_in(turn), key=lambda one: (not one.answered, -(one.confidence or 0))):
        table.add_row(*_cells(one), style="bold green" if one.answered else None)
    console.print(table)
    for fault in _faults(turn):
        console.print(Text(fault, style="yellow"))
    console.print(Text(summary(turn)))


def _cells(one: ServiceSummary) -> tuple[str, ...]:
    return (
        one.name,
        "answered" if one.answered else one.outcome,
        "" if one.confidence is None else f"{one.confidence:.3g}",
        "" if one.seconds is None else f"{one.seconds * 1000:.1f} ms",
        one.error or "",
    )


def _faults(turn: TurnData) -> list[str]:
    record: dict[str, Any] = turn["record"] or {}
    return [f"{fault['service']}: {fault['what']}" for fault in record.get("faults", ())]


def _skill(hypothesis_id: str) -> str:
    return hypothesis_id.rpartition(".")[0]


def _seconds(one: dict[str, Any]) -> float | None:
    if one["started"] is None or one["ended"] is None:
        return None
    return float(one["ended"] - one["started"])
