"""The table of `prolocutor evaluate pairing` as lines of text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Final

from prolocutor.cli.evaluation_tables import clean
from prolocutor.evaluation.pairing.measurement import Measurement
from prolocutor.evaluation.pairing.method_rows import MethodRow
from prolocutor.evaluation.pairing.pairing_page import best_of

_DOMAINS: Final = 60
_HEAD: Final = (
    "prec@1  95 %          calls   cost  wait s     ECE  of all  AUROC      ms  difference"
)


def table_lines(found: Measurement) -> Iterator[str]:
    """Return every method a line, beside the published ones, and the best ones by domain."""
    yield (
        f"{found.n} agents, {len(found.questions):,} questions in {found.groups:,} groups of near "
        f"duplicates, {found.answerable:,} with a right agent, {found.learned:,} to learn from"
    )
    names, published = ([one.method for one in found.rows], [one.method for one in found.published])
    width = max(len(name) for name in (*names, *published))
    yield f"{'':<{width}}  {_HEAD}"
    for stage, rows in groupby(found.rows, lambda row: row.stage):
        yield stage
        for one in found.published:
            if one.stage == stage:
                yield f"{one.method:<{width}}  {100 * one.precision_at_1:6.2f}  (published)"
        for row in rows:
            yield f"{clean(row.method):<{width}}  {_figures(row)}"
    yield from _by_domain(found.rows)


def _figures(row: MethodRow) -> str:
    line = f"{100 * row.precision_at_1:6.2f}  {100 * row.low:5.2f}-{100 * row.high:5.2f}"
    line += f"  {row.mean_calls:6.2f}  {_short(row.cost, '.3g'):>5}"
    line += f"  {_short(row.wait, '.3f'):>6}"
    line += f"  {_short(row.ece and 100 * row.ece, '.1f'):>6}"
    line += (
        f"  {_short(row.ece_all and 100 * row.ece_all, '.1f'):>6}  {_short(row.auroc, '.2f'):>5}"
    )
    line += f"  {row.ms:6.2f}"
    if row.difference is not None:
        mean, low, high = (100 * one for one in row.difference)
        line += f"  {mean:+.2f} [{low:+.2f}, {high:+.2f}] from {row.than}"
    return line


def _short(value: float | None, form: str) -> str:
    return "-" if value is None else format(value, form)


def _by_domain(rows: Sequence[MethodRow]) -> Iterator[str]:
    for stage in ("route", "rank"):
        if (best := best_of(rows, stage)) is not None and 1 < len(best.domains) <= _DOMAINS:
            parts = (f"{clean(name)} {share:.2f}" for name, share in best.domains.items())
            yield f"{best.method} by domain: {', '.join(parts)}"
