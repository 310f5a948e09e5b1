"""The services of a file: what a stage may hold, and what a service's `call` may be."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final, Literal, cast
from urllib.parse import urlsplit

import msgspec
from msgspec.structs import replace

from prolocutor.config.call_hints import call_hint
from prolocutor.config.fields import (
    Findings,
    JsonField,
    named,
    shown,
)
from prolocutor.config.schema import SERVICE, SERVICE_NAME
from prolocutor.config.selector_making import SELECTORS
from prolocutor.config.settings import ProcessTarget
from prolocutor.config.struct_fields import table_of
from prolocutor.config.yaml_file import UNREAD, YamlNode
from prolocutor.errors import ConfigError
from prolocutor.names import did_you_mean, suggest
from prolocutor.plan.pipeline import SINGLE, Call, Service, Stage, StageService, Target
from prolocutor.plugins.nats.nats_address import SCHEMES as NATS_SCHEMES
from prolocutor.plugins.nats.nats_address import NatsCall, is_nats, read_call

FUNCTION: Final = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*(\.[^\W\d]\w*)*")
ADDRESS: Final = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*://")

CALL: Final = "module:function, a URL, or {process: NAME, path: /...}"


class ServiceEntry(msgspec.Struct, frozen=True):
    """A service of a file, and where it and its `call` are written.

    Settings that could not be read have their defaults."""

    stage: Stage
    service: StageService
    node: YamlNode
    call: YamlNode

    @property
    def path(self) -> str:
        """Its key as the pipeline's graph knows it: the stage and the service's name."""
        return f"{self.stage}.{self.service.name}"


class ServicesField(msgspec.Struct, frozen=True):
    """What the key of a stage may hold: a map of services, or for some stages one or a list."""

    stage: Stage
    what: str = "services"

    def schema(self) -> dict[str, Any]:
        """Return what JSON Schema can say of it."""
        return {}

    def read(self, node: YamlNode, findings: Findings) -> list[ServiceEntry]:
        if node.value is None or node.value is UNREAD:
            return []
        read = _single if self.stage in SINGLE else _several
        return read(self.stage, node, findings)


def function_of(target: object) -> str | None:
    """Return `module:function` if the target is one."""
    return target if isinstance(target, str) and FUNCTION.fullmatch(target) else None


def check_processes(written: Iterable[ServiceEntry], known: list[str], findings: Findings) -> None:
    """Record every call of a process that is not in the file."""
    for each in written:
        target = each.service.call.target
        if isinstance(target, ProcessTarget) and target.process not in known:
            none = "the file has no processes"
            hint = suggest(target.process, known, "processes are") if known else none
            findings.add(each.call, f"no process is called '{target.process}'", hint)


def check_messages(
    written: Iterable[ServiceEntry], messages: str | None, findings: Findings
) -> None:
    """Record every call of `nats://NAME` in a file that names no NATS servers."""
    for each in written:
        target = each.service.call.target
        if messages is None and isinstance(target, str) and is_nats(target):
            call = _call_of(target)
            if call is not None and call.servers is None:
                what = f"nats://{call.service} names no server"
                hint = f"say messages: nats://HOST at the top, or call: nats://HOST/{call.service}"
                findings.add(each.call, what, hint)


def _call_of(target: str) -> NatsCall | None:
    try:
        return read_call(target)
    except ConfigError:
        return None  # recorded where the call was read


def _several(stage: Stage, node: YamlNode, findings: Findings) -> list[ServiceEntry]:
    if not isinstance(node.value, dict):
        findings.expected(node, "a map from names to services")
        return []
    call = node.value.get("call")
    if call is not None and not _is_service(call):
        findings.expected(node, "a map from names to services", found="a service without a name")
        return []
    written = []
    for name, child in node.value.items():
        SERVICE_NAME.read(named(child, name), findings)
        if isinstance(child.value, dict) and "name" in child.value:
            what = f"unknown key: the name of a service here is its own key, '{name}'"
            findings.add(child.value["name"], what)
        written.append(_service(stage, name, child, findings))
    return written


def _single(stage: Stage, node: YamlNode, findings: Findings) -> list[ServiceEntry]:
    only = stage is Stage.LAST_CHANCE
    expected = "a service" if only else "a service or a list of services"
    if isinstance(node.value, list) and not only:
        return [
            _service(stage, f"{stage}_{number}", child, findings)
            for number, child in enumerate(node.value, 1)
        ]
    if isinstance(node.value, dict) and _is_map_of_services(node.value):
        findings.expected(node, expected, found="a map of names")
        return []
    if not isinstance(node.value, dict | str):
        findings.expected(node, expected)
        return []
    return [_service(stage, str(stage), node, findings)]


def _is_service(node: YamlNode) -> bool:
    return isinstance(node.value, dict) and "process" not in node.value


def _is_map_of_services(entries: dict[str, YamlNode]) -> bool:
    known = {"call", *SERVICE.keys, *SELECTORS.names()}
    return bool(entries) and not known & entries.keys() and all(map(_is_service, entries.values()))


def _service(stage: Stage, name: str, node: YamlNode, findings: Findings) -> ServiceEntry:
    if isinstance(node.value, str):
        return ServiceEntry(stage, Service(name, _target(node, findings)), node, node)
    if not isinstance(node.value, dict):
        findings.expected(node, "a service ({call: ...})")
        return ServiceEntry(stage, Service(name, ""), node, node)
    entries = dict(node.value)
    if stage not in SINGLE:
        entries.pop("name", None)
    key = _key_of_selector(stage, entries)
    call = entries.pop("call", None)
    target: Target = ""
    if key is not None:
        selector = _selector(key, stage, call, entries, node, findings)
        target = "" if selector is UNREAD else selector
    elif call is None:
        if "call" not in map(SERVICE.synonyms.get, entries):
            findings.add(node, "the key call is missing", f"give call: {CALL}")
    else:
        target = _target(call, findings, foreign="connector" in entries)
        target = _from_folder(target, entries.get("connector"), findings)
    values = SERVICE.values(YamlNode(entries, node.steps, node.line, node.column), findings)
    if "timeout" in values and hasattr(target, "within"):
        target = target.within(values["timeout"])
    _check_settings(stage, target, values, entries, findings)
    values = _with_files(values, Path(findings.file).absolute().parent)
    service = Service(values.pop("name", name), target, **values)
    named_by = node.value.get(key) if key is not None else None
    return ServiceEntry(stage, service, node, call or named_by or node)


def _with_files(values: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Resolve the paths of an icon and a manifest from the file's folder."""
    icon, card = values.get("icon"), values.get("card") or {}
    if icon is not None and not ADDRESS.match(icon):
        values = {**values, "icon": str(folder / icon)}
    manifest = card.get("manifest")
    if isinstance(manifest, str) and "{" not in manifest:
        values = {**values, "card": {**card, "manifest": os.path.normpath(folder / manifest)}}
    return values


def _key_of_selector(stage: Stage, entries: dict[str, YamlNode]) -> str | None:
    """Return the key by which a service of this stage names a selector in place of its `call`."""
    if stage not in (Stage.SKILL_SELECTOR, Stage.RESPONSE_SELECTOR):
        return None
    return next((key for key in entries if key in SELECTORS.names()), None)


def _selector(
    key: str,
    stage: Stage,
    call: YamlNode | None,
    entries: dict[str, YamlNode],
    node: YamlNode,
    findings: Findings,
) -> Any:
    """Read a selector that a key names, and take its own keys out of `entries`.

    A `connector` and its `call` are the way to the model that is asked.
    """
    try:
        options = SELECTORS.load(key)
    except ConfigError as error:
        return findings.add(entries.pop(key), error.what)
    table = table_of(cast("type[msgspec.Struct]", options))
    own = {name: entries.pop(name) for name in list(entries) if name in table.keys}
    if options.stage != stage:
        return findings.add(own[key], f"unknown key: a {key} belongs to {options.stage}")
    values = table.values(replace(node, value=own), findings)
    connector = entries.pop("connector", None)
    if connector is not None and call is not None:
        values["connector"] = SERVICE.keys["connector"].read(connector, findings)
        values["endpoint"] = _endpoint(call, findings)
    elif call is not None or connector is not None:
        what = f"a {key} that asks an endpoint needs connector and call; others have neither"
        findings.add(call or connector or node, what)
    return table.made(node, values, findings) if key in values else UNREAD


def _target(node: YamlNode, findings: Findings, *, foreign: bool = False) -> Target:
    """Read a `call`; `foreign`: the connector that the service names knows what it means."""
    if isinstance(node.value, dict):
        if not foreign and "run" in node.value:
            what = "the key connector is missing: a call with run starts a program"
            findings.add(node, what, call_hint({"run": True}))
            return ""
        return _addressed(node, findings) if foreign else _process(node, findings)
    if foreign and isinstance(node.value, list):
        words = [one.value for one in node.value]
        if words and all(isinstance(one, str) for one in words):
            return Call("", options={"run": words, "folder": _folder(findings)})
    if isinstance(node.value, str) and node.value.strip():
        if foreign or FUNCTION.fullmatch(node.value):
            return node.value
        if ADDRESS.match(node.value):
            check_url(node, node.value, findings)
            return node.value
    found = f"expected {CALL}, found {shown(node)}"
    if node.value is not UNREAD:
        findings.add(node, found, call_hint(node.value))
    return ""


def _from_folder(target: Target, connector: YamlNode | None, findings: Findings) -> Target:
    """Return a program that is written as one line as one that runs in the file's folder."""
    if connector is None or connector.value != "command" or not isinstance(target, str):
        return target
    return Call("", options={"run": target, "folder": _folder(findings)}) if target else target


def _folder(findings: Findings) -> str:
    """Return the folder of the file."""
    return str(Path(findings.file).absolute().parent)


def _endpoint(node: YamlNode, findings: Findings) -> Call:
    """Read the `call` of a model that a selector asks: its address, or a map with options."""
    if isinstance(node.value, dict):
        return _addressed(node, findings) or Call("")
    address = _target(node, findings, foreign=True)
    return Call(address if isinstance(address, str) else "")


def _process(node: YamlNode, findings: Findings) -> ProcessTarget | Literal[""]:
    read = table_of(ProcessTarget).read(node, findings)
    return read if isinstance(read, ProcessTarget) else ""


def _addressed(node: YamlNode, findings: Findings) -> Call | Literal[""]:
    """Read what the named connector is given: `url` (or `target`, or `run`), and its options."""
    values = JsonField(what="a map of options").read(node, findings)
    if values is UNREAD:
        return ""
    address = values.pop("url", None) or values.pop("target", None)
    if address is None and "run" in values:
        return Call("", options={**values, "folder": _folder(findings)})
    if not isinstance(address, str) or not address.strip():
        what = "the key url is missing"
        findings.add(node, what, "give call: {url: ..., and the options}, or run for a program")
        return ""
    return Call(address, options=values)


def check_url(node: YamlNode, url: str, findings: Findings) -> None:
    """Note what keeps a URL from being called: its scheme, no host, a port that cannot be."""
    scheme = url.partition(":")[0]
    if scheme in NATS_SCHEMES:  # may hold a password, and several hosts
        try:
            read_call(url)
        except ConfigError as error:
            findings.add(node, error.what)
        return
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError as error:
        findings.add(node, f"{shown(node)} is no URL: {error}")
        return
    if scheme not in ("http", "https"):
        hint = call_hint(url) or did_you_mean(scheme.lower(), ["http", "https", *NATS_SCHEMES])
        findings.add(node, f"expected a URL of http, https or nats, found {scheme}://", hint)
    elif not host or re.search(r"\s", url):
        findings.add(node, f"{shown(node)} is no URL: it has no host or a space in it")


def _check_settings(
    stage: Stage,
    target: object,
    values: dict[str, Any],
    entries: dict[str, YamlNode],
    findings: Findings,
) -> None:
    """Record settings of one service that contradict one another."""
    elsewhere = target != "" and (function_of(target) is None or "connector" in values)
    rules = [
        ("process", elsewhere, "only a module:function can run in a process of its own"),
        ("inline", elsewhere, "only a module:function can be called inline"),
        ("inline", values.get("process"), "a service is inline or has a process, not both"),
        (
            "together",
            stage is not Stage.CANDIDATE_ANNOTATOR,
            "only candidate annotators are asked together",
        ),
        ("fan_out", "formatter" not in entries, "fan_out needs a formatter that gives a list"),
        ("instead", not is_nats(target), "only a nats:// service is called elsewhere instead"),
        ("worker", not is_nats(target), "only a nats:// service has workers"),
    ]
    for key, broken, what in rules:
        if values.get(key) and broken:
            findings.add(entries[key], what)
    for key in ("instead", "worker"):
        if key in values and is_nats(_target(entries[key], findings)):
            findings.add(entries[key], "expected module:function or a URL of http or https")
