"""What the commands of pairing share: options of models, lines of results, progress."""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Final

import click

from prolocutor.assistant.runner import run
from prolocutor.cli.options import Decorator
from prolocutor.cli.output import Show, clean
from prolocutor.config.agent_cards import add_agent_cards, read_cards
from prolocutor.config.loading import load_assistant
from prolocutor.contracts.pairing import Card
from prolocutor.plan.pipeline import Stage
from prolocutor.plugins.pairing.measuring.measurement import Measurement
from prolocutor.plugins.pairing.measuring.method_rows import MethodRow
from prolocutor.plugins.pairing.measuring.pairing_data import cards_of_data

ENCODER_OPTION: Final = click.option(
    "--encoder",
    "--encoder-url",
    "encoder",
    metavar="PATH|URL",
    help="A sentence encoder: a folder with model.onnx and tokenizer.json, or an endpoint for "
    "embeddings, http://host/v1?model=NAME.",
)

_DOMAINS: Final = 60
_OVERLAPS: Final = 8
_HEAD: Final = (
    "prec@1  95 %          calls   cost     ECE  of all  top 3  nobody      ms  difference"
)

SOON: Final = 5.0
_SELDOM: Final = 20.0


def folds_option(help: str) -> Decorator:
    """Return the option for the number of folds."""
    return click.option(
        "--folds", type=click.IntRange(2), default=5, show_default=True, metavar="N", help=help
    )


def known_cards(data: str, assistant: Path | None) -> list[Card]:
    """Return the cards of an assistant's skills, else those beside the data."""
    if assistant is None:
        return cards_of_data(data)
    settings = load_assistant(assistant)
    pipeline = run(add_agent_cards(settings.pipeline))
    return read_cards(pipeline.services_at(Stage.SKILL), settings.folder)


def pairing_lines(found: Measurement) -> Iterator[str]:
    """Return a line for every method, and the best ones by domain."""
    yield (
        f"{found.n} agents, {found.questions:,} questions in {found.groups:,} groups of near "
        f"duplicates, {found.answerable:,} with a right agent, {found.learned:,} to learn from"
    )
    width = max(len(one.method) for one in found.rows)
    yield f"{'':<{width}}  {_HEAD}"
    for stage, rows in groupby(found.rows, lambda row: row.stage):
        yield stage
        for row in rows:
            yield f"{clean(row.method):<{width}}  {_figures(row)}"
    yield from _domain_lines(found)
    yield from _overlap_lines(found)
    yield from reliability_lines(found.rows)


def reliability_lines(rows: Sequence[MethodRow]) -> Iterator[str]:
    """Return how often each method was right, by how sure it was, over all questions."""
    shown = [row for row in rows if row.reliability]
    if not shown:
        return
    width = max(len(clean(row.method)) for row in shown)
    yield ""
    yield "sure and right, % (questions), over all questions"
    for stage, some in groupby(shown, lambda row: row.stage):
        yield stage
        for row in some:
            cells = (
                f"{100 * one.probability:.0f}: {100 * one.right:.0f} ({one.count:,})"
                for one in row.reliability
            )
            yield f"{clean(row.method):<{width}}  {'  '.join(cells)}"


def _figures(row: MethodRow) -> str:
    line = f"{100 * row.precision_at_1:6.2f}  {100 * row.low:5.2f}-{100 * row.high:5.2f}"
    line += f"  {row.mean_calls:6.2f}  {_short(row.cost, '.3g'):>5}"
    line += f"  {_short(row.ece and 100 * row.ece, '.1f'):>6}"
    line += f"  {_short(row.ece_all and 100 * row.ece_all, '.1f'):>6}"
    line += f"  {_share(row.among_three):>5}  {_share(row.nobody_found):>6}  {row.ms:6.2f}"
    if row.difference is not None:
        mean, low, high = (100 * one for one in row.difference)
        line += f"  {mean:+.2f} [{low:+.2f}, {high:+.2f}] from {row.than}"
    return line


def _share(value: float | None) -> str:
    return "-" if value is None else f"{100 * value:.1f}"


def _short(value: float | None, form: str) -> str:
    return "-" if value is None else format(value, form)


def _domain_lines(found: Measurement) -> Iterator[str]:
    for stage in ("route", "rank"):
        if (best := found.best(stage)) is not None and 1 < len(best.domains) <= _DOMAINS:
            parts = (f"{clean(name)} {share:.2f}" for name, share in best.domains.items())
            yield f"{best.method} by domain: {', '.join(parts)}"


def _overlap_lines(found: Measurement) -> Iterator[str]:
    """Return the pairs of agents most often confused by the best router, both ways together."""
    routers = [row for row in found.rows if row.stage == "route" and row.reliability]
    if not routers:
        return
    best = max(routers, key=lambda row: row.precision_at_1)
    chosen = zip(found.test, found.choices["route", best.method], strict=True)
    confused = Counter(
        tuple(sorted((*one.gold, made.agent)))
        for one, made in chosen
        if len(one.gold) == 1 and made.agent and not made.right
    )
    if pairs := [pair for pair in confused.most_common(_OVERLAPS) if pair[1] > 1]:
        parts = (f"{clean(' and '.join(pair))} ({count:,})" for pair, count in pairs)
        yield f"{best.method} confuses {', '.join(parts)}"


class StepLines:
    """Says on stderr what begins or is done; without a terminal, where there is no bar, seldom.

    `pause` is in seconds. The first line comes after the first pause, or `at_once`.
    """

    def __init__(self, pause: float = _SELDOM, *, at_once: bool = False) -> None:
        self._pause = pause
        self._said = 0.0 if at_once else time.monotonic()

    def __call__(self, what: str) -> None:
        """Take note of a step."""
        now = time.monotonic()
        if now - self._said >= self._pause or (self._pause == _SELDOM and sys.stderr.isatty()):
            self._said = now
            click.echo(what, err=True)

    def note_texts(self, done: int, number: int) -> None:
        """Take note of how many texts are encoded."""
        self(f"encoded {done:,} of {number:,} texts")


class TrainingProgress:
    """Shows the steps of a training, and the learned folds, also without a terminal."""

    def __init__(self, show: Show) -> None:
        self._show, self._begun = show, 0
        self._steps, self._folds = StepLines(), StepLines(SOON, at_once=True)

    def step(self, what: str) -> None:
        """Note the start of a step."""
        self._show(self._begun, [what])
        self._begun += 1
        if not sys.stderr.isatty():
            self._steps(f"{what} ...")

    def fold(self, what: str) -> None:
        """Take note of a fold."""
        self._show(max(0, self._begun - 1), [what])
        if not sys.stderr.isatty():
            self._folds(what)
