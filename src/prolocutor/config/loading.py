"""Read a file into settings, or raise everything that is wrong with it at once."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec

from prolocutor.config.faults import ConfigFaults, Fault
from prolocutor.config.fields import Findings
from prolocutor.config.file_formats import format_of
from prolocutor.config.file_keys import OF_PIPELINE, file_table
from prolocutor.config.service_entries import (
    ServiceEntry,
    check_options,
    check_processes,
)
from prolocutor.config.setting_values import in_folder, without_secret
from prolocutor.config.settings import LOOPBACK, NOBODY, Settings
from prolocutor.config.survey import Survey, key_in_file
from prolocutor.config.yaml_file import YamlDocument, read
from prolocutor.errors import ConfigError
from prolocutor.plan.graph import Graph, compile_graph
from prolocutor.plan.pipeline import SINGLE, Pipeline, Stage
from prolocutor.web.authentication import NO_TRUST

_MAX_GRAPH_FAULTS: Final = 50
_TENANTS_PAGE: Final = "https://prolocutor.github.io/prolocutor/howto/tenants/"


def load(
    path: str | Path, environ: Mapping[str, str] = os.environ, *, code: Path | None = None
) -> Settings:
    """Load the settings of an assistant; raise `ConfigFaults` with everything that is wrong.

    Functions stay names; no code that the file names is imported. `code` is the folder of the code
    that a file of another form names.
    """
    loaded = survey(path, environ, code=code)
    if loaded.findings.faults:
        raise ConfigFaults(loaded.findings.faults)
    return loaded.settings


def survey(
    path: str | Path, environ: Mapping[str, str] = os.environ, *, code: Path | None = None
) -> Survey:
    """Read what can be read of a file; raise `ConfigFaults` only if it cannot be read at all."""
    form = format_of(Path(path))
    if form is not None:
        return form.survey(Path(path), code)
    if code is not None:
        what = "this form of file names no code of its own; leave out --dream"
        raise ConfigFaults([Fault(str(path), None, None, what)])
    return _from_yaml(path, environ)


def _from_yaml(path: str | Path, environ: Mapping[str, str]) -> Survey:
    document = read(path, environ)
    findings = Findings(document.file, document.faults)
    _refuse_tenants(document)
    values = file_table().values(document.root, findings)
    if not isinstance(values, dict):
        raise ConfigFaults(findings.faults)
    of_pipeline = {key: values.pop(key) for key in OF_PIPELINE if key in values}
    stages = {stage: values.pop(stage.value, []) for stage in Stage}
    written = [each for services in stages.values() for each in services]
    folder = Path(path).absolute().parent
    pipeline, misplaced = _pipeline(stages, of_pipeline)
    settings = Settings(
        **in_folder(values, folder),
        pipeline=pipeline,
        file=document.file,
        folder=folder,
    )
    check_processes(written, sorted(settings.processes), findings)
    check_options(written, settings.messages, findings)
    _check_reserve(settings, document, findings)
    _check_trust(settings, document, findings)
    graph = None
    if not {fault.key for fault in findings.faults} & {stage.value for stage in Stage}:
        graph = _check_graph(settings.pipeline, misplaced, document, written, findings)
    findings.faults = [without_secret(fault) for fault in findings.faults]
    return Survey(settings, written, document, findings, graph)


def _refuse_tenants(document: YamlDocument) -> None:
    """Raise `ConfigFaults` for a file of several assistants, which earlier releases served."""
    entries = document.root.value
    if isinstance(entries, dict) and (node := entries.get("tenants")) is not None:
        what = f"each assistant has a process of its own now; {_TENANTS_PAGE} shows how"
        fault = Fault(document.file, node.line, "tenants", what, column=node.column)
        raise ConfigFaults([fault])


def _pipeline(
    stages: Mapping[Stage, Sequence[ServiceEntry]], options: Mapping[str, Any]
) -> tuple[Pipeline, list[ConfigError]]:
    """Return the pipeline of the services that can stand at their stages, and why others cannot."""
    services: dict[str, Any] = {
        stage.value: [entry.service for entry in stages[stage]] for stage in Stage
    }
    services["last_chance"] = next(iter(services["last_chance"]), None)
    misplaced: list[ConfigError] = []
    while True:
        given: dict[str, Any] = {
            key: value or (None if key in SINGLE else ()) for key, value in services.items()
        }
        try:
            return Pipeline(**given, **options), misplaced
        except ConfigError as error:
            stage, _, name = (error.key or "").partition(".")
            if name or not misplaced:
                misplaced.append(error)
            if name and stage != Stage.LAST_CHANCE:
                faulty = [one for one in services[stage] if name.startswith(one.name)]
                services[stage].remove(faulty[-1])
            else:
                services[stage] = [NOBODY] if stage == Stage.SKILL else None


def _check_reserve(settings: Settings, document: YamlDocument, findings: Findings) -> None:
    if settings.reserve is not None and settings.reserve >= settings.deadline:
        what = f"the reserve must be shorter than the deadline of {settings.deadline:g} s"
        findings.add(document.find("reserve"), what)


def _check_trust(settings: Settings, document: YamlDocument, findings: Findings) -> None:
    auth = settings.auth
    if auth.loopback and (auth.anonymous or not settings.host.startswith(LOOPBACK)):
        stranger = "auth.anonymous" if auth.anonymous else f"the host {settings.host}"
        findings.add(document.find("auth.loopback"), NO_TRUST.format(stranger))


def _check_graph(
    pipeline: Pipeline,
    misplaced: list[ConfigError],
    document: YamlDocument,
    written: list[ServiceEntry],
    findings: Findings,
) -> Graph | None:
    """Compile the pipeline, leaving out one fault after the other, to record all of them."""
    keys = {each.path: each.node.key for each in reversed(written)}

    def record(error: ConfigError) -> None:
        key = key_in_file(error.key or "", keys)
        node = document.find(key)
        fault = Fault(document.file, node.line, key or None, error.what, column=node.column)
        if not any(one.key == fault.key and one.line == node.line for one in findings.faults):
            findings.faults.append(fault)

    for error in misplaced:
        record(error)
    sound = not misplaced
    for _ in range(_MAX_GRAPH_FAULTS):
        try:
            graph = compile_graph(pipeline)
        except ConfigError as error:
            sound = False
            record(error)
            mended = _without(pipeline, error.key or "")
            if mended is None:
                return None
            pipeline = mended
        else:
            return graph if sound else None
    return None


def _without(pipeline: Pipeline, key: str) -> Pipeline | None:
    """Return the pipeline without one `after` or `requires`; None if the key names neither."""
    path, _, setting = key.rpartition(".")
    default = {"after": None, "requires": ()}
    for stage, service in pipeline.services():
        if f"{stage}.{service.name}" == path and setting in default:
            if getattr(service, setting) == default[setting]:
                return None
            bare = msgspec.structs.replace(service, **{setting: default[setting]})
            others = [bare if other is service else other for other in pipeline.of(stage)]
            changed: Pipeline = msgspec.structs.replace(pipeline, **{stage.value: others})
            return changed
    return None
