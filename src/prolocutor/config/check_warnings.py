"""Warnings and hints about a valid file."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from prolocutor.config.fields import Findings
from prolocutor.config.imported_functions import (
    Function,
    import_all,
    is_plain,
    runs_in_threads,
    search_folder,
)
from prolocutor.config.loading import Survey, survey
from prolocutor.config.service_entries import ADDRESS, ServiceEntry
from prolocutor.config.settings import LOOPBACK, ProcessTarget, Settings
from prolocutor.config.yaml_file import ConfigFaults, Fault, sort_faults
from prolocutor.dialog.rounds import FOLLOW_UP
from prolocutor.errors import ConfigError
from prolocutor.functions import resolve
from prolocutor.plan.formatters import reply_formatter
from prolocutor.plan.graph import Graph, PlanNode
from prolocutor.plan.pipeline import Stage, StageService

LEAST_ATTEMPT: Final = 0.5
"""Seconds of one attempt below which retries are doubtful."""

MOST_KEYS: Final = 3
"""The keys that a hint about several of them names."""


def warnings(
    loaded: Survey, graph: Graph, of_plugins: Iterable[tuple[str, str]] = ()
) -> Iterator[Fault]:
    """Find settings that may have another effect than intended, each with its place in the file."""
    settings = loaded.settings
    for key, what in (
        *_late(settings, graph),
        *_find_unawaited(graph),
        *_find_hurried(loaded.services),
        *_not_rewritten(loaded.services),
        *of_plugins,
        *_idle_processes(settings),
        *_missing_icons(loaded.services),
        *_open_doors(settings),
        *_loopback(settings),
    ):
        node = loaded.find(key)
        yield Fault(settings.file, node.line, key, what, column=node.column)


def _late(settings: Settings, graph: Graph) -> Iterator[tuple[str, str]]:
    critical = graph.critical_path()
    seconds, deadline = round(sum(node.service.timeout for node in critical), 3), settings.deadline
    if seconds > deadline:
        names = ", ".join(f"{node.name} {node.service.timeout:g} s" for node in critical)
        what = (
            f"time-outs on the critical path add up to {seconds:g} s, the deadline is"
            f" {deadline:g} s ({names}); what is late is left out of the reply"
        )
        yield "deadline", what
    reserve = min(1.0, deadline / 4) if settings.reserve is None else settings.reserve
    half = (deadline - reserve) / 2
    settled: dict[PlanNode, float] = {}
    for node in graph.nodes:
        start = max((settled[other] for other in node.before), default=0.0)
        settled[node] = start + node.service.timeout
        if node.stage is Stage.ANNOTATOR and settled[node] > half:
            what = (
                f"it may take until {settled[node]:g} s into the turn, but an annotator"
                f" counts as failed at {half:g} s (half of deadline - reserve)"
            )
            yield f"{node.path}.timeout", what


def _find_unawaited(graph: Graph) -> Iterator[tuple[str, str]]:
    """Find services with results used by no other service."""
    heard = {Stage.RESPONSE_SELECTOR, Stage.POSTPROCESSOR, Stage.RESPONSE_ANNOTATOR}
    if not graph.stages[Stage.RESPONSE_SELECTOR]:
        heard |= {Stage.SKILL, Stage.CANDIDATE_ANNOTATOR}
    for node in graph.nodes:
        if not node.then and node.stage not in heard and not _has_effects(node.service):
            yield node.path, "no service waits for it, so its result may come too late to be used"


def _has_effects(service: StageService) -> bool:
    """Return whether a service's reply has effects beyond the requests of other services."""
    try:
        formatter = reply_formatter(service, resolve)
    except ConfigError:
        return False
    return getattr(formatter, "annotates", "annotation") != "annotation"


def _find_hurried(services: list[ServiceEntry]) -> Iterator[tuple[str, str]]:
    for written in services:
        service = written.service
        attempts = service.retries + 1
        if attempts > 1 and service.timeout / attempts < LEAST_ATTEMPT:
            yield (
                f"{written.path}.retries",
                f"{attempts} attempts share the time-out of {service.timeout:g} s",
            )


def _not_rewritten(services: list[ServiceEntry]) -> Iterator[tuple[str, str]]:
    """Find services for rewriting follow-ups, in files without a way to use the rewriting."""
    if any((one.service.label or one.service.name) == FOLLOW_UP for one in services):
        return
    for written in services:
        if written.service.rewrites:
            what = (
                f"no annotator is called {FOLLOW_UP}, or has it as its label: nothing is rewritten"
            )
            yield f"{written.path}.rewrites", what


def _idle_processes(settings: Settings) -> Iterator[tuple[str, str]]:
    targets = [service.call.target for _, service in settings.pipeline.services()]
    targets += [service.call.target for service in settings.pipeline.services_at(Stage.LAST_CHANCE)]
    called = {target.process for target in targets if isinstance(target, ProcessTarget)}
    for name in settings.processes:
        if name not in called:
            yield f"processes.{name}", "no service calls this process"


def _missing_icons(services: list[ServiceEntry]) -> Iterator[tuple[str, str]]:
    for written in services:
        icon = getattr(written.service, "icon", None)
        if icon and not ADDRESS.match(icon) and not Path(icon).is_file():
            yield f"{written.path}.icon", f"there is no file {Path(icon).name}"


def _open_doors(settings: Settings) -> Iterator[tuple[str, str]]:
    auth = settings.auth
    if not settings.host.startswith(LOOPBACK) and not auth.is_closed:
        yield "host", f"{settings.host} is not loopback, so nobody gets in without auth.keys"


def _loopback(settings: Settings) -> Iterator[tuple[str, str]]:
    auth = settings.auth
    if auth.loopback and auth.is_closed:
        what = (
            "every caller on this machine is an operator, also one that a proxy lets in"
            " without naming itself"
        )
        yield "auth.loopback", what
    if auth.anonymous and not (auth.keys or auth.sign_in):
        what = (
            "nobody is an operator by coming from this machine, where proxies of strangers come"
            " from too: serve prints a key for each run; auth.keys or `prolocutor keys create` last"
        )
        yield "auth.anonymous", what


def hints(services: list[ServiceEntry], functions: Mapping[str, Function]) -> Iterator[str]:
    """Return hints for a faster or safer file."""
    threads = [
        written.service.name
        for written in services
        if written.path in functions
        and is_plain(functions[written.path])
        and runs_in_threads(written.service)
    ]
    if threads:
        yield (
            f"{', '.join(threads)}: plain functions run in threads; inline: true saves that for"
            " quick ones, process: true ends one that hangs"
        )


def file_hints(
    path: str | Path, environ: Mapping[str, str] = os.environ, *, code: Path | None = None
) -> tuple[Fault, ...]:
    """Return the warnings and hints about a file by line, or its faults where it has any.

    No agent is asked anything. It imports the modules named in the file.
    """
    try:
        loaded = survey(path, environ, code=code)
    except ConfigFaults as error:
        return error.faults
    if loaded.findings.faults or loaded.graph is None:
        return sort_faults(loaded.findings.faults)
    notes = [Fault(loaded.settings.file, None, None, note) for note in loaded.notes]
    with search_folder(loaded.settings.folder):
        threads = list(_find_threaded(loaded))
    return sort_faults([*loaded.warnings, *warnings(loaded, loaded.graph), *notes, *threads])


def told_hints(path: Path) -> list[tuple[str, str]]:
    """Return the hints about a file with their places (`FILE:LINE`); JSON files have no hints.

    The same hint about several keys is one, with the place of the first.
    """
    if path.suffix.lower() == ".json":
        return []
    alike: dict[str, list[Fault]] = {}
    for one in file_hints(path):
        alike.setdefault(one.what, []).append(one)
    return [
        (
            ": ".join(filter(None, [_list_keys(same), what])),
            f"{path.name}:{same[0].line}" if same[0].line else path.name,
        )
        for what, same in alike.items()
    ]


def _list_keys(faults: Sequence[Fault]) -> str:
    keys = [one.key for one in faults if one.key]
    more = len(keys) - MOST_KEYS
    return ", ".join(keys[:MOST_KEYS]) + (f" and {more} more" if more > 0 else "")


def _find_threaded(loaded: Survey) -> Iterator[Fault]:
    """Find the plain functions run in threads."""
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
