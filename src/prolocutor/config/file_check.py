"""Check a file: its faults, its warnings, and the plan of its turn."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from prolocutor.config.check_report import CheckReport, PlannedService
from prolocutor.config.check_warnings import hints, warnings
from prolocutor.config.descriptions import describing, descriptions
from prolocutor.config.faults import ConfigFaults, Fault, in_order
from prolocutor.config.file_formats import check_by_plugins
from prolocutor.config.imported_functions import import_all, searched
from prolocutor.config.loading import survey
from prolocutor.config.plugin_check import check_plugins
from prolocutor.config.settings import ProcessTarget
from prolocutor.config.store_location import without_password
from prolocutor.config.survey import Survey
from prolocutor.errors import ConfigError, ServiceError
from prolocutor.plan.graph import Graph, PlanNode
from prolocutor.plan.pipeline import ORDER, Call


def check(
    path: str | Path, environ: Mapping[str, str] = os.environ, *, code: Path | None = None
) -> CheckReport:
    """Find all faults and warnings of a file, and plan its turn.

    Imports the modules that the file names, so their own code runs.
    """
    try:
        loaded = survey(path, environ, code=code)
    except ConfigFaults as error:
        return CheckReport(file=str(path), name=Path(path).stem, faults=error.faults)
    settings = loaded.settings
    with searched(settings.folder):
        functions = import_all(loaded.services, loaded.findings)
        check_plugins(loaded, loaded.findings)
    of_plugins = list(check_by_plugins(loaded))
    unasked = _ask_agents(loaded)
    faults = in_order(loaded.findings.faults)
    graph = loaded.graph
    if faults or graph is None:
        return CheckReport(file=settings.file, name=settings.name, faults=faults)
    critical = graph.critical_path()
    return CheckReport(
        file=settings.file,
        name=settings.name,
        warnings=in_order([*loaded.warnings, *unasked, *warnings(loaded, graph, of_plugins)]),
        hints=(*loaded.notes, *hints(loaded.services, functions)),
        services=tuple(_plan(graph, critical)),
        critical=tuple(node.name for node in critical),
        seconds=round(sum(node.service.timeout for node in critical), 3),
        deadline=settings.deadline,
        last_chance=graph.last_chance.name if graph.last_chance else None,
    )


def _ask_agents(loaded: Survey) -> list[Fault]:
    """Ask the agents that can say what they do; return a warning for each that does not answer.

    What they cannot do that the file wants of them is added to the findings.
    """
    settings = loaded.settings
    if loaded.findings.faults or not describing(settings.pipeline):
        return []
    with searched(settings.folder), ThreadPoolExecutor(1) as thread:
        asked = thread.submit(lambda: asyncio.run(descriptions(settings.pipeline)))
        found = asked.result()
    silent = []
    for name, one in found.items():
        node = loaded.find(f"skills.{name}.call")
        if isinstance(one, ConfigError):
            loaded.findings.add(node, one.what)
        elif isinstance(one, ServiceError):
            what = f"its agent could not be asked what it does: {one}"
            silent.append(Fault(settings.file, node.line, node.key, what, column=node.column))
    return silent


def _plan(graph: Graph, critical: list[PlanNode]) -> Iterator[PlannedService]:
    for number, level in enumerate(graph.levels(), 1):
        for node in level:
            yield PlannedService(
                stage=str(node.stage),
                name=node.name,
                level=number,
                timeout=node.service.timeout,
                waits_for=_in_words(node.before, graph),
                requires=_in_words(node.requires, graph),
                target=_target(node.service.call),
                critical=node in critical,
            )


def _in_words(nodes: list[PlanNode], graph: Graph) -> list[str]:
    """Return the names of nodes; a whole stage is named as such."""
    words = []
    for stage in ORDER:
        members = [node for node in graph.stages[stage] if node in nodes]
        whole = len(members) > 1 and len(members) == len(graph.stages[stage])
        words += [str(stage)] if whole else [node.name for node in members]
    return words


def _target(way: Call) -> str:
    target = way.target
    if isinstance(target, ProcessTarget):
        return f"process {target.process}{target.path}"
    return without_password(target) if isinstance(target, str) else repr(target)
