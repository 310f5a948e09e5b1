"""Other forms of an assistant's file than our YAML, and what plug-ins check in a file.

A plug-in adds a form by an entry point of the group `prolocutor.files`, a check by one of the
group `prolocutor.checks`: a function of what was read and of the findings.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Final, Protocol

from prolocutor.catalog import Catalog
from prolocutor.config.fields import Findings
from prolocutor.config.survey import Survey


class FileFormat(Protocol):
    """Another form of file that describes an assistant."""

    @property
    def refusal(self) -> str:
        """What to say where such a file cannot be changed: what it is, and what to do."""

    def recognizes(self, path: Path) -> bool:
        """Return whether a file has this form, by its name or its content."""

    def survey(self, path: Path, code: Path | None) -> Survey:
        """Read it; `code` is the folder of the code that it names. Raise `ConfigFaults`."""


FORMATS: Final = Catalog[Callable[[], FileFormat]]("file format", "prolocutor.files")
CHECKS: Final = Catalog[Callable[[Survey, Findings], Iterable[tuple[str, str]]]](
    "check", "prolocutor.checks"
)
"""Functions that add to the findings what is wrong, and return warnings, each with its key."""


def format_of(path: Path) -> FileFormat | None:
    """Return the form of a file that is not our YAML; None for our YAML."""
    forms = (made() for _, made in FORMATS.installed())
    return next((form for form in forms if form.recognizes(path)), None)


def check_by_plugins(loaded: Survey) -> Iterator[tuple[str, str]]:
    """Let every plug-in record what is wrong with what concerns it; yield warnings by key."""
    for _, check in CHECKS.installed():
        yield from check(loaded, loaded.findings)
