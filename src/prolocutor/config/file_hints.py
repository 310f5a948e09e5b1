"""What `prolocutor check` has to say of a file that works, each with its place in it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from prolocutor.config.check_warnings import warnings
from prolocutor.config.faults import ConfigFaults, Fault, in_order
from prolocutor.config.fields import Findings
from prolocutor.config.imported_functions import (
    import_all,
    is_plain,
    runs_in_threads,
    searched,
)
from prolocutor.config.loading import survey
from prolocutor.config.survey import Survey


def file_hints(
    path: str | Path, environ: Mapping[str, str] = os.environ, *, code: Path | None = None
) -> tuple[Fault, ...]:
    """Return the warnings and hints about a file by line, or its faults where it has any.

    No agent is asked anything. It imports the modules that the file names.
    """
    try:
        loaded = survey(path, environ, code=code)
    except ConfigFaults as error:
        return error.faults
    if loaded.findings.faults or loaded.graph is None:
        return in_order(loaded.findings.faults)
    notes = [Fault(loaded.settings.file, None, None, note) for note in loaded.notes]
    with searched(loaded.settings.folder):
        threads = list(_in_threads(loaded))
    return in_order([*loaded.warnings, *warnings(loaded, loaded.graph), *notes, *threads])


def told_hints(path: Path) -> list[tuple[str, str]]:
    """Return what each hint about a file says, and where (`FILE:LINE`); none about JSON."""
    if path.suffix.lower() == ".json":
        return []
    return [
        (
            f"{one.key}: {one.what}" if one.key else one.what,
            f"{path.name}:{one.line}" if one.line else path.name,
        )
        for one in file_hints(path)
    ]


def _in_threads(loaded: Survey) -> Iterator[Fault]:
    """Find the plain functions that run in threads."""
    functions = import_all(loaded.services, Findings(loaded.settings.file, []))
    for written in loaded.services:
        service, function = written.service, functions.get(written.path)
        if function is None or not runs_in_threads(service) or not is_plain(function):
            continue
        node = written.node
        what = (
            "a plain function runs in a thread; inline: true saves that for a quick one,"
            " process: true ends one that hangs"
        )
        yield Fault(loaded.settings.file, node.line, node.key, what, column=node.column)
