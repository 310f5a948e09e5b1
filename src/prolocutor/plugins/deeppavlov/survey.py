"""A pipeline file of DeepPavlov Agent read into settings, as it stands."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Final

import msgspec

from prolocutor.assistant.assistant_settings import DEFAULTS
from prolocutor.config.fields import Findings
from prolocutor.config.imported_functions import search_folder
from prolocutor.config.loading import Survey
from prolocutor.config.service_entries import ServiceEntry, check_scheme, check_url
from prolocutor.config.settings import NOBODY, Settings
from prolocutor.config.yaml_file import (
    ConfigFaults,
    Fault,
    Unread,
    YamlDocument,
    YamlNode,
    read,
    read_text,
)
from prolocutor.errors import ConfigError
from prolocutor.functions import resolve
from prolocutor.plan.graph import compile_graph
from prolocutor.plan.pipeline import Stage
from prolocutor.plugins.deeppavlov import dream_program
from prolocutor.plugins.deeppavlov.pipeline_entries import FileRemark
from prolocutor.plugins.deeppavlov.pipeline_file import DEADLINE, OwnCode, read_pipeline
from prolocutor.plugins.deeppavlov.python_connectors.environment import DreamEnvironment
from prolocutor.plugins.deeppavlov.python_connectors.fixed_skills import TEXTS

IMPORT_SECONDS: Final = 60.0
"""Seconds that importing the modules of DREAM's own class may take."""
LAST_ONE: Final = "the last one counts"
SETTINGS: Final = {
    "after": "previous_services",
    "requires": "required_previous_services",
    "timeout": "connector.timeout",
}
"""The names in a pipeline file of the plan's settings."""


def survey_deeppavlov(path: str | Path, dream: Path | None = None) -> Survey:
    """Read a `pipeline_conf.json`, or the same as YAML; raise `ConfigFaults` if it cannot be read.

    Variables are not substituted. The user's functions and classes are imported from the file's
    folder; `dream` is the folder of DREAM's own code, which then goes before the built-in code.
    """
    file, folder = str(path), dream or Path(path).absolute().parent
    is_json = Path(path).suffix.lower() == ".json"
    written = None if is_json else read(path, None)
    content = _content(Path(path), file) if written is None else _plain(written.root)
    if not isinstance(content, dict) or "services" not in content:
        what = "no key services: this is not a pipeline file of DeepPavlov Agent"
        raise ConfigFaults([Fault(file, None, None, what)])
    document = written or _document(Path(path), file)
    doubles = (msgspec.structs.replace(fault, suggestion=LAST_ONE) for fault in document.faults)
    try:
        with search_folder(folder):
            planned = read_pipeline(content, _own_code(dream))
    except ConfigError as error:
        raise ConfigFaults([Fault(file, None, None, error.what)]) from None
    findings = Findings(file, [_fault(fault, document) for fault in planned.faults])
    services = [*planned.pipeline.services()]
    services += [
        (Stage.LAST_CHANCE, one) for one in planned.pipeline.services_at(Stage.LAST_CHANCE)
    ]
    entries = []
    for stage, service in services:
        if service is NOBODY:
            continue
        node, call = document.find(planned.keys[f"{stage}.{service.name}"]), service.call
        entries.append(ServiceEntry(stage, service, node, node))
        if isinstance(call.target, str) and call.target and call.connector is None:
            _check_url(_place_of_url(node, document), call.target, findings)
    settings = Settings(
        name=_name(content, Path(path)),
        deadline=DEADLINE,
        fallback=planned.late or _fallback(DreamEnvironment.read(os.environ)),
        pipeline=planned.pipeline,
        file=file,
        folder=folder,
    )
    graph = None
    if not findings.faults:
        try:
            graph = compile_graph(planned.pipeline)
        except ConfigError as error:
            place = _fault(FileRemark(_key_in_file(error.key or "", planned.keys), ""), document)
            findings.faults.append(msgspec.structs.replace(place, what=error.what))
    warnings = (*doubles, *(_fault(warning, document) for warning in planned.warnings))
    return Survey(settings, entries, document, findings, graph, warnings, tuple(planned.notes))


def _check_url(node: YamlNode, url: str, findings: Findings) -> None:
    if check_scheme(node, url, findings):
        check_url(node, url, findings)


def _place_of_url(service: YamlNode, document: YamlDocument) -> YamlNode:
    connector = document.find(f"{service.key}.connector")
    key = connector.value if isinstance(connector.value, str) else connector.key
    return document.find(f"{key}.url")


def _key_in_file(key: str, keys: Mapping[str, str]) -> str:
    """Return the key in the file for the graph's key `stage.name.setting`."""
    path, _, setting = key.rpartition(".")
    return f"{keys[path]}.{SETTINGS.get(setting, '')}" if path in keys else keys.get(key, key)


def _plain(node: YamlNode) -> object:
    """Return a value without its positions in the file; unreadable values are None."""
    value = node.value
    if isinstance(value, dict):
        return {key: _plain(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_plain(one) for one in value]
    return None if isinstance(value, Unread) else value


def _content(path: Path, file: str) -> object:
    try:
        return json.loads(path.read_bytes())
    except OSError as error:
        what, line = f"cannot be read: {error.strerror or error}", None
    except json.JSONDecodeError as error:
        what, line = f"not valid JSON: {error.msg}", error.lineno
    except (UnicodeDecodeError, RecursionError):
        what, line = "not valid JSON", None
    raise ConfigFaults([Fault(file, line, None, what)])


def _document(path: Path, file: str) -> YamlDocument:
    """Read where everything is written; JSON that is not YAML has no places.

    Tabs are only between the values of JSON, and YAML wants spaces there.
    """
    try:
        return read_text(path.read_text("utf-8-sig").replace("\t", " "), file, None)
    except (ConfigFaults, UnicodeDecodeError):
        return YamlDocument(file, YamlNode({}, (), 1, 1), [])


def _name(content: dict[str, object], path: Path) -> str:
    """Return the name from the file's metadata, else the name of its folder or of the file."""
    metadata = content.get("metadata")
    name = metadata.get("display_name") if isinstance(metadata, dict) else None
    return str(name) if name else path.stem


def _fallback(environment: DreamEnvironment) -> str:
    language = environment.language.upper()
    return TEXTS[language][0] if language in TEXTS and language != "EN" else DEFAULTS.fallback


def _own_code(dream: Path | None) -> OwnCode:
    obstacle = cache(_obstacle)
    if dream is None:
        return OwnCode(obstacle)
    folder = dream.absolute()
    return OwnCode(obstacle, True, cache(lambda name: _program(folder, name)), str(folder))


def _obstacle(name: str) -> str:
    """Return why a name cannot be imported, "" if it can."""
    try:
        resolve(name)
    except ConfigError as error:
        return error.what.removeprefix(f"{name}: ")
    except Exception as error:  # the code of a module runs when it is imported
        return f"{type(error).__name__}: {error}"
    return ""


def _program(dream: Path, name: str) -> list[str] | None:
    """Return the command for a class of DREAM's folder, in the folder's `.venv` if present."""
    own = dream / ".venv" / "bin" / "python"
    run = [str(own) if own.exists() else sys.executable, dream_program.__file__, name]
    try:
        tried = subprocess.run(run, cwd=dream, timeout=IMPORT_SECONDS, capture_output=True)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return run if tried.returncode == 0 else None


def _fault(remark: FileRemark, document: YamlDocument) -> Fault:
    node = document.find(remark.key)
    return Fault(document.file, node.line, remark.key, remark.what, column=node.column)
