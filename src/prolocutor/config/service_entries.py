"""The services of a file: the content of stages, and the forms of a service's `call`."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable
from difflib import get_close_matches
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, Final, cast
from urllib.parse import urlsplit

import msgspec
from msgspec.structs import replace

from prolocutor.bounds import about
from prolocutor.catalog import Catalog
from prolocutor.config.fields import (
    FieldKind,
    Findings,
    JsonSchema,
    TableField,
    TextField,
    describe_value,
    find_child,
    key_node,
    plain_value,
)
from prolocutor.config.selector_making import SELECTORS
from prolocutor.config.settings import ProcessTarget
from prolocutor.config.struct_fields import struct_table
from prolocutor.config.yaml_file import UNREAD, YamlNode
from prolocutor.connectors.connector_catalog import (
    CONNECTORS,
    ENDPOINTS,
    SCHEMES,
    call_hint,
    find_form,
    make_options,
)
from prolocutor.contracts.connector import ChecksFile
from prolocutor.errors import ConfigError
from prolocutor.names import did_you_mean, suggest
from prolocutor.plan.pipeline import (
    NAME_RULE,
    SERVICE_NAME,
    SINGLE,
    STAGE_TYPES,
    Call,
    PendingTarget,
    Stage,
    StageService,
    Target,
    find_stage_keys,
    make_service,
)

FUNCTION: Final = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*(\.[^\W\d]\w*)*")
ADDRESS: Final = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*://")

PROCESS: Final = struct_table(ProcessTarget)
CALL: Final = "module:function, a URL, or {process: NAME, path: /...}"
_NAME: Final = TextField(what=NAME_RULE, pattern=SERVICE_NAME)
_CONNECTOR: Final = TextField(what="the name of a connector")
_SYNONYMS: Final = {
    "target": "call",
    "url": "call",
    "function": "call",
    "depends_on": "after",
    "previous_services": "after",
    "required_previous_services": "requires",
    "dialog_formatter": "formatter",
}


class CallKeys(msgspec.Struct, frozen=True):
    """The keys of a service for its target."""

    call: Annotated[
        Any, about("The target of the calls.", what="module:function, a URL or a map", json=True)
    ]
    connector: Annotated[
        str | None,
        about(
            "The name of the connector; by default the form of `call` decides.",
            what="the name of a connector",
        ),
    ] = None


class ServiceEntry(msgspec.Struct, frozen=True):
    """A service of a file, and where it and its `call` are written.

    Unreadable settings have their defaults."""

    stage: Stage
    service: StageService
    node: YamlNode
    call: YamlNode

    @property
    def path(self) -> str:
        """Its key as the pipeline's graph knows it: the stage and the service's name."""
        return f"{self.stage}.{self.service.name}"


@lru_cache(maxsize=16)
def service_table(stage: Stage) -> TableField:
    """Return the keys of a stage's services beside `call` and its companions."""
    table = struct_table(STAGE_TYPES[stage])
    keys = {key: kind for key, kind in table.keys.items() if key not in ("name", "target")}
    descriptions, defaults = dict(table.descriptions), dict(table.defaults)
    for plugged, names in find_stage_keys(stage):
        own = struct_table(cast("type[msgspec.Struct]", plugged))
        keys |= {key: own.keys[key] for key in names}
        descriptions |= own.descriptions
        defaults |= own.defaults
    if stage in SINGLE:
        keys["name"] = _NAME
    return replace(
        table,
        keys=keys,
        make=dict,
        required=(),
        descriptions=descriptions,
        defaults=defaults,
        what="a service",
        synonyms=_SYNONYMS,
        also=("call", "connector"),
    )


class ServicesField(msgspec.Struct, frozen=True):
    """The content of a stage's key: a map of services, or for some stages a service or a list."""

    stage: Stage

    @property
    def what(self) -> str:
        if self.stage is Stage.LAST_CHANCE:
            return "a service"
        one_or_several = self.stage in SINGLE
        return "a service or a list of services" if one_or_several else "a map of services"

    def read(self, node: YamlNode, findings: Findings) -> list[ServiceEntry]:
        if node.value is None or node.value is UNREAD:
            return []
        if self.stage in SINGLE:
            return self._read_single(node, findings)
        return self._read_several(node, findings)

    def _read_several(self, node: YamlNode, findings: Findings) -> list[ServiceEntry]:
        if not isinstance(node.value, dict):
            findings.note_unexpected(node, "a map from names to services")
            return []
        call = node.value.get("call")
        if call is not None and not _is_service(call):
            shape = "a service without a name"
            findings.note_unexpected(node, "a map from names to services", found=shape)
            return []
        written = []
        for name, child in node.value.items():
            _NAME.read(key_node(child, name), findings)
            if isinstance(child.value, dict) and "name" in child.value:
                what = f"unknown key: the name of a service here is its own key, '{name}'"
                findings.add(child.value["name"], what)
            written.append(read_service(self.stage, name, child, findings))
        return written

    def _read_single(self, node: YamlNode, findings: Findings) -> list[ServiceEntry]:
        stage = self.stage
        if isinstance(node.value, list) and stage is not Stage.LAST_CHANCE:
            return [
                read_service(stage, f"{stage}_{number}", child, findings)
                for number, child in enumerate(node.value, 1)
            ]
        if isinstance(node.value, dict) and self._is_map_of_services(node.value):
            findings.note_unexpected(node, self.what, found="a map of names")
            return []
        if not isinstance(node.value, dict | str):
            findings.note_unexpected(node, self.what)
            return []
        return [read_service(stage, str(stage), node, findings)]

    def _is_map_of_services(self, entries: dict[str, YamlNode]) -> bool:
        keys = {"call", "connector", *service_table(self.stage).keys, *SELECTORS.names()}
        services = all(map(_is_service, entries.values()))
        return bool(entries) and not keys & entries.keys() and services

    def schema(self) -> JsonSchema:
        one = _service_schema(self.stage)
        if self.stage is Stage.LAST_CHANCE:
            return one
        if self.stage in SINGLE:
            return {"anyOf": [one, {"type": "array", "items": one}]}
        return {"type": ["object", "null"], "additionalProperties": one}


def _is_service(node: YamlNode) -> bool:
    return isinstance(node.value, dict) and "process" not in node.value


def function_name(target: object) -> str | None:
    """Return `module:function` if the target is one."""
    if isinstance(target, Call):
        target = target.target
    return target if isinstance(target, str) and FUNCTION.fullmatch(target) else None


def check_processes(written: Iterable[ServiceEntry], known: list[str], findings: Findings) -> None:
    """Record every call of a process missing in the file."""
    for each in written:
        target = each.service.call.target
        if isinstance(target, ProcessTarget) and target.process not in known:
            none = "the file has no processes"
            hint = suggest(target.process, known, "processes are") if known else none
            findings.add(each.call, f"no process is called '{target.process}'", hint)


def check_options(
    written: Iterable[ServiceEntry], messages: str | None, findings: Findings
) -> None:
    """Record every call at odds with its connector's needs elsewhere in the file."""
    for each in written:
        call = each.service.call
        if isinstance(call.target, PendingTarget) or call.target == "":
            continue
        try:
            options = make_options(call)
            if isinstance(options, ChecksFile):
                options.check(messages)
        except ConfigError as error:
            findings.add(find_child(each.call, error.key or ""), error.what)


def read_service(stage: Stage, name: str, node: YamlNode, findings: Findings) -> ServiceEntry:
    """Read a service named `name`, unless its entry has the key `name`."""
    kind = STAGE_TYPES[stage]
    if isinstance(node.value, str):
        return ServiceEntry(stage, kind(_call(node, None, {}, findings), name=name), node, node)
    if not isinstance(node.value, dict):
        findings.note_unexpected(node, "a service ({call: ...})")
        return ServiceEntry(stage, kind("", name=name), node, node)
    entries = dict(node.value)
    if stage not in SINGLE:
        entries.pop("name", None)
    selector = _key_of_selector(stage, entries)
    call, connector = entries.pop("call", None), entries.pop("connector", None)
    target: Target = ""
    if selector is not None:
        read = _selector(selector, stage, call, connector, entries, node, findings)
        target = "" if read is UNREAD else read
    elif call is not None:
        target = _call(call, connector, entries, findings)
    elif "call" not in map(_SYNONYMS.get, entries):
        findings.add(node, "the key call is missing", f"give call: {CALL}")
    way = connector.value if connector is not None else None
    values = _settings(stage, replace(node, value=entries), findings, way)
    if "timeout" in values and hasattr(target, "within"):
        target = target.within(values["timeout"])
    if values.get("fan_out") and "formatter" not in entries:
        findings.add(entries["fan_out"], "fan_out needs a formatter that gives a list")
    values = _resolve_files(values, findings.folder)
    service = make_service(stage, target, **{"name": name, **values})
    named_by = node.value.get(selector) if selector is not None else None
    return ServiceEntry(stage, service, node, call or named_by or node)


def _settings(
    stage: Stage, node: YamlNode, findings: Findings, connector: object = None
) -> dict[str, Any]:
    """Return the settings of a service; keys of other stages or connectors, and those that stand
    in the `call` of this `connector`, get their own message.
    """
    table = service_table(stage)
    entries = node.value
    assert isinstance(entries, dict)
    settings = {key: child for key, child in entries.items() if key in table.keys}
    for key, child in entries.items():
        if key not in settings:
            what, hint = _explain_unknown_key(key, table, connector)
            findings.add(child, what, hint)
    values: dict[str, Any] = table.values(replace(node, value=settings), findings)
    return values


def _explain_unknown_key(key: str, table: TableField, connector: object) -> tuple[str, str | None]:
    """Return the error and a hint for a key that services of a stage do not have."""
    if isinstance(connector, str) and connector in CONNECTORS.names():
        kind = CONNECTORS.load(connector)
        if key in struct_table(kind).keys:
            what = f"unknown key here: options of the connector {connector} stand in call"
            main = find_form(kind).main
            return what, f"write call: {{{main}: ...{'' if key == main else f', {key}: ...'}}}"
    stages = [stage for stage in Stage if key in service_table(stage).keys and key != "name"]
    if stages:
        of = " and ".join(map(str, stages))
        return f"unknown key here: only services of {of} have it", None
    for name, kind in CONNECTORS.import_all():
        if key in find_form(kind).beside:
            return f"unknown key here: it is for the connector {name} alone", None
    return "unknown key", table.suggestion(key)


def _resolve_files(values: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Resolve the paths of an icon, a manifest and phrasings from the file's folder."""
    icon, card = values.get("icon"), values.get("card") or {}
    if icon is not None and not ADDRESS.match(icon):
        values = {**values, "icon": str(folder / icon)}
    for key in ("manifest", "phrasings") if isinstance(card, dict) else ():
        given = card.get(key)
        if isinstance(given, str) and "{" not in given.replace("{language}", ""):
            card = {**card, key: os.path.normpath(folder / given)}
            values = {**values, "card": card}
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
    connector: YamlNode | None,
    entries: dict[str, YamlNode],
    node: YamlNode,
    findings: Findings,
) -> Any:
    """Read a selector named by a key, and take its own keys out of `entries`.

    A `connector` and its `call` are the way to the model.
    """
    try:
        options: Any = SELECTORS.load(key)
    except ConfigError as error:
        return findings.add(entries.pop(key), error.what)
    table = struct_table(options)
    own = {name: entries.pop(name) for name in list(entries) if name in table.keys}
    if options.stage != stage:
        return findings.add(own[key], f"unknown key: a {key} belongs to {options.stage}")
    values = table.values(replace(node, value=own), findings)
    if "options" in options.__struct_fields__ and key in values:
        method = _method_options(table.keys[key], values[key], entries, node, findings)
        if method is UNREAD:
            return UNREAD
        values["options"] = method
    if connector is not None and call is not None:
        values["connector"] = _CONNECTOR.read(connector, findings)
        values["endpoint"] = _endpoint(call, findings)
    elif call is not None or connector is not None:
        what = f"a {key} that asks an endpoint needs connector and call; others have neither"
        findings.add(call or connector or node, what)
    return table.made(node, values, findings) if key in values else UNREAD


def _method_options(
    kind: FieldKind, name: str, entries: dict[str, YamlNode], node: YamlNode, findings: Findings
) -> Any:
    """Read the options of a selector's method, and take its keys out of `entries`.

    Return None for a method without options; unknown methods are reported later.
    """
    struct = method_structs(kind).get(name)
    if struct is None:
        return None
    table = struct_table(struct)
    keys = {*table.keys, *service_table(Stage.SKILL_SELECTOR).keys}
    wrong = {key: close for key in entries if (close := _meant(key, keys, table.keys))}
    own = {key: entries.pop(key) for key in [*entries] if key in table.keys or key in wrong}
    return table.read(replace(node, value=own), findings)


def _meant(key: str, known: Collection[str], own: Collection[str]) -> bool:
    """Return whether an unknown key is probably a misspelt key of a method."""
    close = get_close_matches(key, known, 1) if key not in known else []
    return bool(close) and close[0] in own


def method_structs(kind: FieldKind) -> dict[str, type[msgspec.Struct]]:
    """Return the options of the methods that a key names, of those that are Structs with `build`.

    The key's field names the methods' group of entry points.
    """
    group = getattr(kind, "group", None)
    if group is None:
        return {}
    return {
        name: struct
        for name, struct in Catalog[Any]("method", group).import_all()
        if isinstance(struct, type)
        and issubclass(struct, msgspec.Struct)
        and hasattr(struct, "build")
    }


def _endpoint(node: YamlNode, findings: Findings) -> Call:
    """Read the `call` of a selector's model: its address, or a map with options."""
    if isinstance(node.value, dict):
        values = plain_value(node, findings)
        if values is UNREAD:
            return Call("")
        address = values.pop("url", None) or values.pop("target", None)
        if not isinstance(address, str) or not address.strip():
            findings.add(node, "the key url is missing", "give call: {url: ..., and the options}")
            return Call("")
        return Call(address, options=values)
    text = TextField(what="a URL").read(node, findings)
    return Call("" if text is UNREAD else text)


def _call(
    node: YamlNode,
    connector: YamlNode | None,
    entries: dict[str, YamlNode],
    findings: Findings,
) -> Target:
    """Read a service's call; keys of the connector are taken out of `entries`."""
    if connector is not None:
        name = _CONNECTOR.read(connector, findings)
        if name is UNREAD:
            return ""
        try:
            kind = CONNECTORS.load(name)
        except ConfigError as error:
            findings.add(connector, error.what)
            return ""
        return _options(kind, name, node, entries, findings)
    if isinstance(node.value, dict):
        name = next(iter(node.value), "")
        if len(node.value) == 1 and name not in PROCESS.keys and name in CONNECTORS:
            findings.add(node, f"expected {CALL}, found a map of {name}", call_hint(name))
            return ""
        if "run" in node.value:
            what = "the key connector is missing: a call with run starts a program"
            findings.add(node, what, call_hint({"run": True}))
            return ""
        if "url" in node.value:
            names = ", ".join(CONNECTORS.names())
            what = "the key connector is missing: a call with url has the options of a connector"
            findings.add(node, what, f"connectors are {names}")
            return ""
        process = PROCESS.read(node, findings)
        return "" if process is UNREAD else _beside(process, entries, findings)
    if isinstance(node.value, str) and FUNCTION.fullmatch(node.value):
        return _options(CONNECTORS.load("python"), None, node, entries, findings)
    if isinstance(node.value, str) and ADDRESS.match(node.value):
        return _address(node, node.value, entries, findings)
    if node.value is not UNREAD:
        findings.add(node, f"expected {CALL}, found {describe_value(node)}", call_hint(node.value))
    return ""


def _address(node: YamlNode, url: str, entries: dict[str, YamlNode], findings: Findings) -> Target:
    if not check_scheme(node, url, findings):
        return ""
    try:
        kind = SCHEMES.load(url.partition(":")[0].lower())
    except ConfigError as error:
        findings.add(node, error.what)
        return ""
    return _options(kind, None, node, entries, findings)


def _beside(target: ProcessTarget, entries: dict[str, YamlNode], findings: Findings) -> Target:
    """Return a path of a process with the options beside it."""
    table = struct_table(CONNECTORS.load("http"))
    own = {key: entries.pop(key) for key in list(entries) if key == "wire"}
    options = {key: table.keys[key].read(child, findings) for key, child in own.items()}
    return Call(target, options=options) if options else target


def _options(
    kind: Any, name: str | None, node: YamlNode, entries: dict[str, YamlNode], findings: Findings
) -> Target:
    """Read the options of a connector: a bare value is the main option, a map holds all."""
    table: TableField = struct_table(kind)
    form = find_form(kind)
    given = dict(node.value) if isinstance(node.value, dict) else {form.main: node}
    for synonym in ("target", "url"):
        if synonym in given and synonym not in table.keys and form.main not in given:
            given[form.main] = given.pop(synonym)
    rest = {}
    if form.rest is not None:
        rest = {key: given.pop(key) for key in list(given) if key not in table.keys}
    own = {key: entries.pop(key) for key in form.beside if key in entries}
    before = len(findings.faults)
    options = replace(table, synonyms={}).read(replace(node, value={**given, **own}), findings)
    if options is UNREAD or len(findings.faults) > before:
        if hint := call_hint(node.value):
            findings.faults[-1] = replace(findings.faults[-1], suggestion=hint)
        _check_address(given.get(form.main), findings)
        return ""
    main = getattr(options, form.main, "")
    if isinstance(main, str) and ADDRESS.match(main):
        check_url(given.get(form.main, node), main, findings)
        if len(findings.faults) > before:
            return ""
    values = {key: plain_value(child, findings) for key, child in rest.items()}
    if "folder" in kind.__struct_fields__:
        values["folder"] = str(findings.folder)
    for field in msgspec.structs.fields(kind):
        value = getattr(options, field.name)
        if field.name not in (form.main, "name", "folder", form.rest) and value != field.default:
            values[field.name] = value
    if values.pop("process", False):
        name = "process"
    return Call(main, name, values) if values or name is not None else main


def _check_address(node: YamlNode | None, findings: Findings) -> None:
    """Note the faults of an address beside other faults of a call, which is not built then."""
    url = None if node is None else node.value
    if node is None or not isinstance(url, str) or not ADDRESS.match(url):
        return
    if did_you_mean(url.partition(":")[0].lower(), SCHEMES.names()):
        check_scheme(node, url, findings)
    check_url(node, url, findings)


def check_scheme(node: YamlNode, url: str, findings: Findings) -> bool:
    """Return whether a connector takes addresses of this scheme; note a fault if not."""
    scheme, schemes = url.partition(":")[0].lower(), SCHEMES.names()
    if scheme in schemes:
        return True
    several = f"{', '.join(schemes[:-1])} or {schemes[-1]}"
    hint = call_hint(url) or did_you_mean(scheme, schemes)
    findings.add(node, f"expected a URL of {several}, found {scheme}://", hint)
    return False


def check_url(node: YamlNode, url: str, findings: Findings) -> None:
    """Note the faults of a URL: no host, an invalid port, a space."""
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError as error:
        if "," not in url:  # some have several hosts, and read them themselves
            findings.add(node, f"{describe_value(node)} is not a URL: {error}")
        return
    if not host or re.search(r"\s", url):
        findings.add(node, f"{describe_value(node)} is not a URL: it has no host or a space in it")


def call_schemas() -> JsonSchema:
    """Return JSON Schemas by name: of a `call` without a connector, with each, and with any."""
    bare: list[JsonSchema] = [{"type": "string"}, {"type": "array"}]
    alone = {"description": f"What is called: {CALL}.", "anyOf": [*bare, PROCESS.schema()]}
    required = {"required": ["connector"]}
    either: list[JsonSchema] = [{"if": required, "else": {"properties": {"call": alone}}}]
    calls: JsonSchema = {"connected": {"allOf": either}}
    for name, kind in CONNECTORS.import_all():
        own = replace(struct_table(kind), required=()).schema()
        target = {"description": "The same as `url`, or what else is called.", "type": "string"}
        own["properties"] = {"target": target, **own["properties"]}
        if find_form(kind).rest is not None:
            own["additionalProperties"] = True
        about = {"description": (kind.__doc__ or "").partition("\n")[0]}
        calls[name] = {**about, "anyOf": [*bare, own]}
        called = {"properties": {"call": {"$ref": f"#/$defs/{name}"}}}
        this = {"properties": {"connector": {**about, "const": name}}, **required}
        either.append({"if": this, "then": called})
    return calls


def whole_service_table(stage: Stage) -> TableField:
    """Return all keys of a service of a stage, including `call` and its companions."""
    calling = struct_table(CallKeys)
    table, beside = service_table(stage), []
    for _, kind in CONNECTORS.import_all():
        own = struct_table(kind)
        beside.append(replace(own, keys={key: own.keys[key] for key in find_form(kind).beside}))
    parts = [calling, table, *beside]
    return replace(
        table,
        keys={key: kind for part in parts for key, kind in part.keys.items()},
        descriptions={
            key: description for part in parts for key, description in part.descriptions.items()
        },
        defaults={key: value for part in parts for key, value in part.defaults.items()},
        required=calling.required,
    )


def _service_schema(stage: Stage) -> JsonSchema:
    """Return the JSON Schema of a service of a stage."""
    properties = whole_service_table(stage).schema()["properties"]
    properties["call"] = {"description": "What is called."}
    properties["connector"]["enum"] = CONNECTORS.names()
    selectors = {}
    if stage in (Stage.SKILL_SELECTOR, Stage.RESPONSE_SELECTOR):
        selectors = {name: one for name, one in SELECTORS.import_all() if one.stage == stage}
    for name, selector in selectors.items():
        table = struct_table(cast(Any, selector))
        properties |= table.schema()["properties"]
        for method in method_structs(table.keys[name]).values():
            properties = struct_table(method).schema()["properties"] | properties
    if selectors:
        properties["connector"]["enum"] = [*CONNECTORS.names(), *ENDPOINTS.names()]
    service = {
        "type": "object",
        "properties": properties,
        "additionalProperties": False,
        "if": {"anyOf": [{"required": [key]} for key in selectors]} if selectors else False,
        "else": {"$ref": "#/$defs/connected"},
    }
    return {"anyOf": [{"type": "string"}, service]}
