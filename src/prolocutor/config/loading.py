"""Read a file into settings, or raise everything that is wrong with it at once."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final, Protocol

import msgspec

from prolocutor.catalog import Catalog
from prolocutor.config.fields import Findings
from prolocutor.config.file_keys import ADDITIONS, OF_PIPELINE, file_table
from prolocutor.config.service_entries import ServiceEntry, check_options, check_processes
from prolocutor.config.settings import LOOPBACK, NOBODY, Settings
from prolocutor.config.yaml_file import ConfigFaults, Fault, YamlDocument, YamlNode, read
from prolocutor.errors import ConfigError, MissingExtra
from prolocutor.names import did_you_mean
from prolocutor.plan.graph import Graph, compile_graph
from prolocutor.plan.pipeline import SINGLE, Pipeline, Stage
from prolocutor.web.authentication import NO_TRUST

_SECRET: Final = "auth.tokens"

DEMO_PACKAGE: Final = "prolocutor_demo"
FILE_NAME: Final = "assistant.yaml"

_MAX_GRAPH_FAULTS: Final = 50
_TENANTS_PAGE: Final = "https://prolocutor.github.io/prolocutor/howto/tenants/"


def resolve_store_path(values: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Return the values with a relative path of the store resolved from the file's folder."""
    prefix, _, name = values.get("store", "").partition(":///")
    if prefix == "sqlite" and name and not name.startswith("/"):
        return {**values, "store": f"sqlite:///{folder / name}"}
    return values


def hide_secret(fault: Fault) -> Fault:
    """Remove a token from a fault's key."""
    before, separator, _ = (fault.key or "").partition(f"{_SECRET}.")
    return msgspec.structs.replace(fault, key=f"{before}{_SECRET}") if separator else fault


class Survey(msgspec.Struct, frozen=True):
    """The content of a file: settings, their places, and faults. Unreadable settings have their
    defaults. `graph` is None if the pipeline is faulty. `warnings` and `notes` are from the reader
    of the file.
    """

    settings: Settings
    services: list[ServiceEntry]
    document: YamlDocument
    findings: Findings
    graph: Graph | None
    warnings: tuple[Fault, ...] = ()
    notes: tuple[str, ...] = ()

    def find(self, key: str) -> YamlNode:
        """Return the place of a key, `stage.service` included, or the nearest that is written."""
        keys = {each.path: each.node.key for each in reversed(self.services)}
        return self.document.find(key_in_file(key, keys))


def key_in_file(key: str, keys: Mapping[str, str]) -> str:
    """Return the key in the file for the graph's key `stage.name`, or for a setting below it."""
    path = key
    while path not in keys:
        path, dot, _ = path.rpartition(".")
        if not dot:
            return key
    return keys[path] + key[len(path) :]


class FileFormat(Protocol):
    """Another form of assistants' files."""

    @property
    def refusal(self) -> str:
        """The message for a file of an unchangeable form: its form, and the remedy."""

    def recognizes(self, path: Path) -> bool:
        """Return whether a file has this form, by its name or its content."""

    def survey(self, path: Path, code: Path | None) -> Survey:
        """Read the file; `code` is the folder of its code. Raise `ConfigFaults`."""


FORMATS: Final = Catalog[Callable[[], FileFormat]]("file format", "prolocutor.files")
CHECKS: Final = Catalog[Callable[[Survey, Findings], Iterable[tuple[str, str]]]](
    "check", "prolocutor.checks"
)
"""Functions that add faults to the findings, and return warnings, each with its key."""


def find_format(path: Path) -> FileFormat | None:
    """Return the form of a file other than our YAML; None for our YAML."""
    forms = (make() for _, make in FORMATS.import_all())
    return next((form for form in forms if form.recognizes(path)), None)


def check_by_plugins(loaded: Survey) -> Iterator[tuple[str, str]]:
    """Let every plug-in record the faults of its settings; yield warnings by key."""
    for _, check in CHECKS.import_all():
        yield from check(loaded, loaded.findings)


def demo_file() -> Path:
    """Return the file of the demo assistant, which is a package of its own.

    Raise `MissingExtra` where it is not installed.
    """
    spec = find_spec(DEMO_PACKAGE)
    if spec is None or spec.origin is None:
        what = "the demo assistant is a package of its own: pip install 'prolocutor[demo]'"
        raise MissingExtra(f"{what}, or name a file; prolocutor new DIR writes one")
    return _demo_file(spec.origin)


def is_demo(file: Path) -> bool:
    """Return whether a file is that of the demo assistant."""
    spec = find_spec(DEMO_PACKAGE)
    return spec is not None and spec.origin is not None and file == _demo_file(spec.origin)


def assistant_file(given: Path | None) -> Path:
    """Return the file of an assistant: as given, the assistant.yaml of a folder, else the demo's.

    Raise `ConfigError` if no file is found.
    """
    if given is None:
        return demo_file()
    path = given / FILE_NAME if given.is_dir() else given
    if not path.is_file():
        raise ConfigError(f"{path}: there is no such file; prolocutor new DIR writes one")
    return path


def _demo_file(package: str) -> Path:
    return Path(package).parent / "assistant" / FILE_NAME


def load_assistant(given: Path | None) -> Settings:
    """Load the settings of an assistant's file, else the demo's; their `file` is absolute."""
    return load(assistant_file(given).absolute())


def load(
    path: str | Path, environ: Mapping[str, str] = os.environ, *, code: Path | None = None
) -> Settings:
    """Load the settings of an assistant; raise `ConfigFaults` with all faults.

    Functions stay names; the file's code is not imported. `code` is the folder of the code for a
    file of another form.
    """
    loaded = survey(path, environ, code=code)
    if loaded.findings.faults:
        raise ConfigFaults(loaded.findings.faults)
    return loaded.settings


def survey(
    path: str | Path, environ: Mapping[str, str] = os.environ, *, code: Path | None = None
) -> Survey:
    """Read all readable settings of a file; raise `ConfigFaults` only if the whole file is
    unreadable.
    """
    form = find_format(Path(path))
    if form is not None:
        return form.survey(Path(path), code)
    if code is not None:
        what = "this form of file names no code of its own; leave out --dream"
        raise ConfigFaults([Fault(str(path), None, None, what)])
    return _survey_yaml(path, environ)


def _survey_yaml(path: str | Path, environ: Mapping[str, str]) -> Survey:
    document = read(path, environ)
    findings = Findings(document.file, document.faults)
    _refuse_tenants(document)
    values = file_table().values(document.root, findings)
    if not isinstance(values, dict):
        raise ConfigFaults(findings.faults)
    of_pipeline = {key: values.pop(key) for key in OF_PIPELINE if key in values}
    additions = [values.pop(key) for key in ADDITIONS.names() if key in values]
    stages = {stage: values.pop(stage.value, []) for stage in Stage}
    written = [each for services in stages.values() for each in services]
    folder = Path(path).absolute().parent
    pipeline, misplaced = _pipeline(stages, of_pipeline)
    settings = Settings(
        **resolve_store_path(values, folder),
        pipeline=pipeline,
        additions=additions,
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
    findings.faults = [hide_secret(fault) for fault in findings.faults]
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
        stage_services: dict[str, Any] = {
            key: value or (None if key in SINGLE else ()) for key, value in services.items()
        }
        try:
            return Pipeline(**stage_services, **options), misplaced
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
    """Compile the pipeline repeatedly, leaving out each fault, to record all faults."""
    keys = {each.path: each.node.key for each in reversed(written)}

    def record(error: ConfigError) -> None:
        key = key_in_file(error.key or "", keys)
        node = document.find(key)
        if any(one.suggestion == did_you_mean(key, [key]) for one in findings.faults):
            return  # what is missing here stands under a misspelt key, which is told
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
            mended = _drop_order_key(pipeline, error.key or "")
            if mended is None:
                return None
            pipeline = mended
        else:
            return graph if sound else None
    return None


def _drop_order_key(pipeline: Pipeline, key: str) -> Pipeline | None:
    """Return the pipeline without one `after` or `requires`; None for other keys."""
    path, _, setting = key.rpartition(".")
    default = {"after": None, "requires": ()}
    services = (one for one in pipeline.services() if f"{one[0]}.{one[1].name}" == path)
    stage, service = next(services, (None, None))
    if stage is None or service is None or setting not in default:
        return None
    if getattr(service, setting) == default[setting]:
        return None
    bare = msgspec.structs.replace(service, **{setting: default[setting]})
    return pipeline.change_services(lambda one: bare if one is service else one, stage)
