"""Logs: a structured line for each turn, and a formatter that writes any log as JSON lines."""

from __future__ import annotations

import logging
from typing import Any, Final

import msgspec

from prolocutor.contracts.observer import ServiceRecord, TurnRecord
from prolocutor.contracts.selection import cut_quotes
from prolocutor.dialog.ids import format_time

log = logging.getLogger("prolocutor.turns")

FIELDS: Final = "fields"
"""The attribute of a log record that holds the structured part of a line."""

MAX_TROUBLE: Final = 300
"""Characters of what went wrong with one service, in the message of a line."""

_encode: Final = msgspec.json.Encoder(enc_hook=str).encode


class TurnLog:
    """An observer that logs each turn under `prolocutor.turns`.

    INFO for a turn without faults, WARNING if a service failed, ERROR if the reply is the fallback.
    The texts of users and replies are left out unless `texts` is set.
    """

    def __init__(self, *, texts: bool = False, logger: logging.Logger = log) -> None:
        self._texts = texts
        self._log = logger

    def turn_ended(self, record: TurnRecord) -> None:
        """Log a turn."""
        level = _level(record)
        if not self._log.isEnabledFor(level):
            return
        fields: dict[str, Any] = {
            "turn_id": record.turn_id,
            "dialog_id": record.dialog_id,
            "user": record.user,
            "channel": record.channel,
            "attempt": record.attempt,
            "seconds": round(record.seconds, 6),
            "by": record.by,
            "active_skill": record.active_skill,
            "confidence": record.confidence,
            "chosen": record.chosen,
            "asked": record.asked,
            "services": {
                f"{service.stage}.{service.name}": _summarize(service)
                for service in record.services
            },
            "faults": record.faults,
            "remarks": record.remarks,
            "reasons": record.reasons
            if self._texts
            else [cut_quotes(reason) for reason in record.reasons],
        }
        if record.cost:
            fields["cost"] = record.cost
        if self._texts:
            fields["text"] = record.text
            fields["response"] = record.response
        self._log.log(
            level,
            "turn %s of dialog %s by %s in %.1f ms%s",
            record.turn_id,
            record.dialog_id,
            record.by,
            record.seconds * 1000,
            "".join(f"; {trouble}" for trouble in _troubles(record)),
            extra={FIELDS: fields},
        )


class JsonLogFormatter(logging.Formatter):
    """Writes each log record as a JSON object on a line of its own."""

    def format(self, record: logging.LogRecord) -> str:
        """Write a record."""
        line: dict[str, Any] = {
            "time": format_time(record.created),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        fields = getattr(record, FIELDS, None)
        if isinstance(fields, dict):
            line.update((key, value) for key, value in fields.items() if key not in line)
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        if record.stack_info:
            line["stack"] = self.formatStack(record.stack_info)
        return _encode_line(line)


def _level(record: TurnRecord) -> int:
    if record.by == "fallback":
        return logging.ERROR
    if record.faults or record.failures:
        return logging.WARNING
    return logging.INFO


def _troubles(record: TurnRecord) -> list[str]:
    """Return the failures and faults of a turn, each as a line of limited length."""
    found = [
        f"{service.name} {service.outcome}: {service.error or 'no answer in time'}"
        for service in record.services
        if service.failed
    ]
    found += [f"{fault.get('service', '')}: {fault.get('what', '')}" for fault in record.faults]
    return [" ".join(one.split())[:MAX_TROUBLE] for one in found]


def _summarize(record: ServiceRecord) -> dict[str, Any]:
    if record.started is None or record.ended is None:
        shown: dict[str, Any] = {"outcome": record.outcome}
    else:
        shown = {"outcome": record.outcome, "seconds": round(record.ended - record.started, 6)}
    if record.calls > 1:
        shown["calls"] = record.calls
    if record.code is not None:
        shown["code"] = record.code
        shown["error"] = record.error
    return shown


def _encode_line(line: dict[str, Any]) -> str:
    try:
        return _encode(line).decode()
    except (UnicodeEncodeError, TypeError, ValueError, RecursionError):
        return _encode({key: repr(value) for key, value in line.items()}).decode()
