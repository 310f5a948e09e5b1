"""Check a file: its faults, its warnings, and the plan of its turn."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import msgspec

from prolocutor.assistant.wiring import ServiceWiring
from prolocutor.config.agent_cards import describing, descriptions, read_card
from prolocutor.config.check_warnings import hints, warnings
from prolocutor.config.fields import Findings, find_child
from prolocutor.config.imported_functions import import_all, search_folder
from prolocutor.config.loading import Survey, check_by_plugins, survey
from prolocutor.config.service_entries import ServiceEntry, function_name
from prolocutor.config.settings import ProcessTarget
from prolocutor.config.store_location import hide_password
from prolocutor.config.yaml_file import ConfigFaults, Fault, sort_faults
from prolocutor.connectors.connector_catalog import call_hint
from prolocutor.contracts.channel import CheckedDoor, DoorPlace
from prolocutor.errors import ConfigError, ServiceError
from prolocutor.plan.graph import Graph, PlanNode
from prolocutor.plan.pipeline import ORDER, Call, PendingTarget, Stage
from prolocutor.stores.store_catalog import read_store_url


class PlannedService(msgspec.Struct, frozen=True, kw_only=True):
    """One service in the plan.

    `level`: from 1; a level starts at the latest once the level before has settled. `waits_for`:
    services by name, or a stage's name for all of it. `timeout`: seconds. `critical`: whether it is
    on the critical path.
    """

    stage: str
    name: str
    level: int
    timeout: float
    waits_for: list[str]
    requires: list[str]
    target: str
    critical: bool


class CheckReport(msgspec.Struct, frozen=True, kw_only=True):
    """The findings of a check: faults keep the assistant from starting, warnings and hints do not.

    `services` are ordered after their predecessors; `critical` names the chain with the largest sum
    of time-outs, `seconds` is this sum. Both are empty while there are faults.
    """

    file: str
    name: str
    faults: tuple[Fault, ...] = ()
    warnings: tuple[Fault, ...] = ()
    hints: tuple[str, ...] = ()
    services: tuple[PlannedService, ...] = ()
    critical: tuple[str, ...] = ()
    seconds: float = 0.0
    deadline: float = 0.0
    last_chance: str | None = None

    @property
    def ok(self) -> bool:
        """Whether the assistant can start."""
        return not self.faults

    def levels(self) -> list[list[PlannedService]]:
        """Return the services by level; services of a level can run at the same time."""
        depth = max((planned.level for planned in self.services), default=0)
        return [[p for p in self.services if p.level == level] for level in range(1, depth + 1)]

    def lines(self) -> list[str]:
        """Return the report as lines of text: the findings, else the plan."""
        if self.faults:
            return [str(fault) for fault in self.faults]
        services = _count(len(self.services), "service")
        levels = _count(len(self.levels()), "level")
        return [
            f"{self.file}: {self.name}, {services} in {levels}, replies within {self.deadline:g} s",
            "",
            *self.tree(),
            "",
            f"critical path (*): {self.seconds:g} s of time-outs: {' > '.join(self.critical)}",
            *([f"last chance: {self.last_chance}"] if self.last_chance else []),
            *(f"warning: {warning}" for warning in self.warnings),
            *(f"hint: {hint}" for hint in self.hints),
        ]

    def tree(self) -> list[str]:
        """Return the plan as a tree with a branch for each level and a leaf for each service."""
        width = max((len(_label(planned)) for planned in self.services), default=0)
        lines = []
        for number, level in enumerate(self.levels(), 1):
            lines.append(f"level {number}")
            for planned in level:
                branch = "└─" if planned is level[-1] else "├─"
                mark = "*" if planned.critical else " "
                label = _label(planned).ljust(width)
                lines.append(f"{branch} {label} {planned.timeout:>5g} s {mark} {_waits(planned)}")
        return lines


def _label(planned: PlannedService) -> str:
    return f"{planned.stage}.{planned.name}"


def _waits(planned: PlannedService) -> str:
    needs = f"needs {', '.join(planned.requires)}" if planned.requires else ""
    others = [name for name in planned.waits_for if name not in planned.requires]
    after = f"after {', '.join(others)}" if others else ""
    return ", ".join(filter(None, [after, needs])) or "starts at once"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def check_plugins(loaded: Survey, findings: Findings) -> None:
    """Record every invalid connector, selector and door, and an unknown store."""
    for written in loaded.services:
        _check_connector(written, loaded, findings)
    _check_cards(loaded, findings)
    _check_doors(loaded, findings)
    try:
        read_store_url(loaded.settings.store or "memory:")
    except ConfigError as error:
        findings.add(loaded.find("store"), error.what)


def _check_connector(written: ServiceEntry, loaded: Survey, findings: Findings) -> None:
    """Record an invalid connector; functions are imported elsewhere."""
    service, call = written.service, written.service.call
    if isinstance(call.target, PendingTarget) or call.target == "" or function_name(call):
        return
    settings = loaded.settings
    wiring = ServiceWiring(settings.name, settings.messages)
    try:
        wiring.connect(service)
    except ConfigError as error:
        hint = call_hint(call.target)
        findings.add(find_child(written.call, error.key or ""), error.what, hint)


def _check_doors(loaded: Survey, findings: Findings) -> None:
    settings = loaded.settings
    skills = [skill.name for skill in settings.pipeline.services_at(Stage.SKILL)]
    place = DoorPlace(settings.folder, skills)
    for door, options in (settings.doors or {}).items():
        try:
            if isinstance(options, CheckedDoor):
                options.check(place)
        except ConfigError as error:
            key = f"doors.{door}"
            option = error.key if (error.key or "").startswith(key) else None
            findings.add(loaded.find(option or key), error.what)


def _check_cards(loaded: Survey, findings: Findings) -> None:
    for skill in loaded.settings.pipeline.services_at(Stage.SKILL):
        try:
            read_card(skill.name, skill.card_members, loaded.settings.folder)
        except ConfigError as error:
            findings.add(loaded.find(f"skills.{skill.name}.card"), error.what)


def check(
    path: str | Path, environ: Mapping[str, str] = os.environ, *, code: Path | None = None
) -> CheckReport:
    """Find all faults and warnings of a file, and plan its turn.

    Imports the modules named in the file, so their own code runs.
    """
    try:
        loaded = survey(path, environ, code=code)
    except ConfigFaults as error:
        return CheckReport(file=str(path), name=Path(path).stem, faults=error.faults)
    settings = loaded.settings
    with search_folder(settings.folder):
        functions = import_all(loaded.services, loaded.findings)
        check_plugins(loaded, loaded.findings)
    of_plugins = list(check_by_plugins(loaded))
    unasked = _ask_agents(loaded)
    faults = sort_faults(loaded.findings.faults)
    graph = loaded.graph
    if faults or graph is None:
        return CheckReport(file=settings.file, name=settings.name, faults=faults)
    critical = graph.critical_path()
    return CheckReport(
        file=settings.file,
        name=settings.name,
        warnings=sort_faults([*loaded.warnings, *unasked, *warnings(loaded, graph, of_plugins)]),
        hints=(*loaded.notes, *hints(loaded.services, functions)),
        services=tuple(_plan(graph, critical)),
        critical=tuple(node.name for node in critical),
        seconds=round(sum(node.service.timeout for node in critical), 3),
        deadline=settings.deadline,
        last_chance=graph.last_chance.name if graph.last_chance else None,
    )


def _ask_agents(loaded: Survey) -> list[Fault]:
    """Ask the agents with descriptions; return a warning for each without an answer.

    Missing features needed by the file are added to the findings.
    """
    settings = loaded.settings
    if loaded.findings.faults or not describing(settings.pipeline):
        return []
    with search_folder(settings.folder), ThreadPoolExecutor(1) as thread:
        future = thread.submit(lambda: asyncio.run(descriptions(settings.pipeline)))
        cards = future.result()
    silent = []
    for name, one in cards.items():
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
                waits_for=_name_nodes(node.before, graph),
                requires=_name_nodes(node.requires, graph),
                target=_target(node.service.call),
                critical=node in critical,
            )


def _name_nodes(nodes: list[PlanNode], graph: Graph) -> list[str]:
    """Return the names of nodes; a whole stage is named by its stage."""
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
    return hide_password(target) if isinstance(target, str) else repr(target)
