"""What the console shows of the file that an assistant was made of."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from prolocutor.config.faults import Fault
from prolocutor.config.file_hints import file_hints
from prolocutor.config.settings import Settings
from prolocutor.plugins.console.plan_endpoints import HintedFile, PlanHint
from prolocutor.plugins.deeppavlov.survey import is_pipeline_file


def planned_file(settings: Settings) -> HintedFile | None:
    """Return the name of the file and a source of hints about it; None where there is no file."""
    if not settings.file:
        return None
    path = settings.folder / Path(settings.file).name
    return HintedFile(name=path.name, path=path, hints=partial(_hints, path))


def _hints(path: Path) -> Sequence[PlanHint]:
    """Return the hints about a YAML file; a pipeline file of DeepPavlov has no lines to name."""
    if is_pipeline_file(path):
        return []
    return [PlanHint(_words(one), _place(path, one)) for one in file_hints(path)]


def _words(hint: Fault) -> str:
    return f"{hint.key}: {hint.what}" if hint.key else hint.what


def _place(path: Path, hint: Fault) -> str:
    return f"{path.name}:{hint.line}" if hint.line else path.name
