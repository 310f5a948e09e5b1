"""The commands of evaluation and data, each imported when it is called."""

from __future__ import annotations

from typing import ClassVar

from prolocutor.cli.lazy_group import LazyCommand


class EvaluateCommand(LazyCommand, frozen=True):
    """Measure assistants and agents on data."""

    place: ClassVar[str] = "prolocutor.plugins.evaluation.commands.evaluate:evaluate"


class ReplayCommand(LazyCommand, frozen=True):
    """Send stored dialogs to a changed assistant."""

    place: ClassVar[str] = "prolocutor.plugins.evaluation.commands.replay:replay"


class DataCommand(LazyCommand, frozen=True):
    """Show, count, check and convert data sets of dialogs."""

    place: ClassVar[str] = "prolocutor.plugins.evaluation.commands.data:data"


class EvaluateRunCommand(LazyCommand, frozen=True):
    """Measure an assistant or an agent on data."""

    place: ClassVar[str] = "prolocutor.plugins.evaluation.commands.evaluate_run:run"


class RescoreCommand(LazyCommand, frozen=True):
    """Score a run again, without asking."""

    place: ClassVar[str] = "prolocutor.plugins.evaluation.commands.evaluate_run:rescore"


class CompareCommand(LazyCommand, frozen=True):
    """Set two runs side by side."""

    place: ClassVar[str] = "prolocutor.plugins.evaluation.commands.evaluate_run:compare"


class ReportCommand(LazyCommand, frozen=True):
    """Write the report of a run as one HTML page."""

    place: ClassVar[str] = "prolocutor.plugins.evaluation.commands.evaluate_run:report"
