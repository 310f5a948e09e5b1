"""The summary of a turn for `/who`: who was asked, who answered, how sure, what failed."""

from __future__ import annotations

import msgspec
from rich.console import Console
from rich.table import Table
from rich.text import Text

from prolocutor.cli.turn_output import TurnOutput
from prolocutor.contracts.observer import ServiceRecord
from prolocutor.plan.pipeline import Stage


class ServiceSummary(msgspec.Struct, frozen=True, kw_only=True):
    """A service in a turn; `confidence` is that of its surest hypothesis, `seconds` its time."""

    name: str
    outcome: str
    answered: bool
    confidence: float | None = None
    seconds: float | None = None
    error: str | None = None


def summarize_services(turn: TurnOutput) -> list[ServiceSummary]:
    """Return the summaries of all asked skills, and of other services that failed."""
    if turn.record is None:
        return []
    chosen = {_skill(id_) for id_ in turn.record.chosen}
    sure: dict[str, float] = {}
    for hypothesis in turn.hypotheses:
        skill = _skill(hypothesis["hypothesis_id"])
        sure[skill] = max(sure.get(skill, 0.0), hypothesis["confidence"])
    return [
        ServiceSummary(
            name=service.name,
            outcome=service.outcome,
            answered=is_skill and service.name in chosen,
            confidence=sure.get(service.name) if is_skill else None,
            seconds=_seconds(service),
            error=service.error,
        )
        for service in turn.record.services
        if (is_skill := service.stage == Stage.SKILL) or service.failed
    ]


def summary(turn: TurnOutput) -> str:
    """Return a line with the answering skill, the confidence and the duration."""
    record, reply = turn.record, turn.reply
    if record is None:
        return f"{reply['active_skill']} answered, confidence {reply['confidence']:g}"
    names = " and ".join(dict.fromkeys(_skill(id_) for id_ in record.chosen))
    who = f"{names} answered" if names else f"nobody answered (the reply is by {record.by})"
    return f"{who}, confidence {reply['confidence']:.3g}, in {record.seconds * 1000:.0f} ms"


def summary_lines(turn: TurnOutput) -> list[str]:
    """Return the summary as lines of plain text with tabs between the columns."""
    rows = ["\t".join(_cells(service)) for service in summarize_services(turn)]
    return [summary(turn), *rows, *_faults(turn)]


def show_summary(turn: TurnOutput, console: Console) -> None:
    """Print the summary as a table, the answer first."""
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("asked")
    table.add_column("")
    table.add_column("confidence", justify="right")
    table.add_column("time", justify="right")
    table.add_column("what failed", style="red")
    for service in sorted(
        summarize_services(turn),
        key=lambda service: (not service.answered, -(service.confidence or 0)),
    ):
        table.add_row(*_cells(service), style="bold green" if service.answered else None)
    console.print(table)
    for fault in _faults(turn):
        console.print(Text(fault, style="yellow"))
    console.print(Text(summary(turn)))


def _cells(service_summary: ServiceSummary) -> tuple[str, ...]:
    return (
        service_summary.name,
        "answered" if service_summary.answered else service_summary.outcome,
        "" if service_summary.confidence is None else f"{service_summary.confidence:.3g}",
        "" if service_summary.seconds is None else f"{service_summary.seconds * 1000:.1f} ms",
        service_summary.error or "",
    )


def _faults(turn: TurnOutput) -> list[str]:
    faults = turn.record.faults if turn.record is not None else []
    return [f"{fault['service']}: {fault['what']}" for fault in faults]


def _skill(hypothesis_id: str) -> str:
    return hypothesis_id.rpartition(".")[0]


def _seconds(record: ServiceRecord) -> float | None:
    return None if record.started is None or record.ended is None else record.ended - record.started
