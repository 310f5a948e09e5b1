"""A file with `tenants:`: several assistants in one server, each described by a file of its own."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import msgspec

from prolocutor.assistant.assistant_settings import DEFAULTS
from prolocutor.config.access_fields import AUTH
from prolocutor.config.faults import ConfigFaults
from prolocutor.config.fields import Findings, MapField, TableField, TextField, TextListField
from prolocutor.config.loading import load
from prolocutor.config.schema import LIMITS, TOP
from prolocutor.config.setting_values import in_folder, with_limits, without_secret
from prolocutor.config.settings import AuthSettings, Settings
from prolocutor.config.store_location import sqlite_file, without_password
from prolocutor.config.yaml_file import UNREAD, YamlDocument, YamlNode, read
from prolocutor.errors import ConfigError
from prolocutor.plan.pipeline import ORDER, SINGLE
from prolocutor.plugins.pairing.selector_settings import SelectorSettings
from prolocutor.web.limits import ListenerLimits

_OVERRIDES: Final = ("store", "auth", "limits", "origins")
_SERVER: Final = ("host", "port", "auth", "limits", "trusted_proxies")
_SERVER_LIMITS: Final = ("body", "connections", "keep_alive", "wrong_keys")
_NAME: Final = r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"


class TenantEntry(msgspec.Struct, frozen=True, kw_only=True):
    """One tenant: the file of its assistant, its host names, and what stands in for that file's.

    `given` are settings by key, as `Settings` has them: `store`, `auth`, `limits`, `origins`.
    """

    name: str
    assistant: Path
    hosts: tuple[str, ...] = ()
    given: dict[str, Any] = {}


class TenantsSettings(msgspec.Struct, frozen=True, kw_only=True):
    """A server of several tenants: where it listens, who may watch all of them, and the tenants."""

    tenants: tuple[TenantEntry, ...]
    host: str = "127.0.0.1"
    port: int = 4242
    auth: AuthSettings = AuthSettings()
    limits: ListenerLimits = ListenerLimits()
    trusted_proxies: tuple[str, ...] = ()
    file: str = ""

    def settings_of(self, entry: TenantEntry, environ: Mapping[str, str] = os.environ) -> Settings:
        """Load the settings of one tenant; `ConfigFaults` with all that is wrong with its file.

        An assistant without a name has the tenant's.
        """
        settings = load(entry.assistant, environ)
        given: dict[str, Any] = {**entry.given, "trusted_proxies": self.trusted_proxies}
        if settings.name == DEFAULTS.name:
            given["name"] = entry.name
        changed: Settings = msgspec.structs.replace(settings, **given)
        return changed


class AssistantFileField(msgspec.Struct, frozen=True):
    """The file of an assistant, or its folder, by the path from the file that names it."""

    def read(self, node: YamlNode, findings: Findings) -> Any:
        what = "the file of an assistant"
        given = TextField(what=what).read(node, findings)
        if given is UNREAD:
            return given
        path = Path(findings.file).absolute().parent / given
        path = path / "assistant.yaml" if path.is_dir() else path
        return path if path.is_file() else findings.add(node, f"there is no file {given}")


class TenantField(msgspec.Struct, frozen=True):
    """A tenant: a map, or just the file of its assistant."""

    def read(self, node: YamlNode, findings: Findings) -> Any:
        if isinstance(node.value, str):
            path = AssistantFileField().read(node, findings)
            return path if path is UNREAD else {"assistant": path}
        return _TENANT.read(node, findings)


_TENANT: Final = TableField(
    what="a tenant ({assistant: FILE})",
    keys={
        "assistant": AssistantFileField(),
        "hosts": TextListField(
            item=TextField(what="a host's name without a port", pattern=r"[^\s/:@*]+"),
            what="a list of host names",
            single=True,
        ),
        **{key: TOP[key] for key in _OVERRIDES},
    },
    required=("assistant",),
    synonyms={"file": "assistant", "host": "hosts", "keys": "auth", "tokens": "auth"},
)

_FILE: Final = TableField(
    what="a map of settings",
    keys={
        **{key: TOP[key] for key in _SERVER},
        "auth": TableField(
            keys={key: AUTH.keys[key] for key in ("keys", "loopback")}, make=AuthSettings
        ),
        "limits": TableField(keys={key: LIMITS.keys[key] for key in _SERVER_LIMITS}),
        "tenants": MapField(
            item=TenantField(),
            what="a map from names to tenants",
            name=TextField(
                what="a tenant's name of lower-case letters, digits and -", pattern=_NAME
            ),
        ),
    },
)


def is_tenants_file(path: Path) -> bool:
    """Return whether a file has the key `tenants`; False for one that cannot be read."""
    try:
        if path.suffix.lower() == ".json" or b"tenants" not in path.read_bytes():
            return False
        root = read(path, None).root.value
    except (OSError, ConfigError):
        return False
    return isinstance(root, dict) and "tenants" in root


def load_tenants(path: Path, environ: Mapping[str, str] = os.environ) -> TenantsSettings:
    """Load a server's settings, without the files of its tenants; raise `ConfigFaults`."""
    document = read(path, environ)
    findings = Findings(document.file, document.faults)
    _refuse_own_assistant(document, findings)
    values = _FILE.values(document.root, findings)
    if not isinstance(values, dict):
        raise ConfigFaults(findings.faults)
    tenants = values.pop("tenants", {})
    if not (written := document.find("tenants")).value:
        findings.add(written, "there is no tenant here")
    _check_hosts(tenants, document, findings)
    if findings.faults:
        raise ConfigFaults([without_secret(fault) for fault in findings.faults])
    entries = tuple(_entry(name, entry, path) for name, entry in tenants.items())
    return TenantsSettings(tenants=entries, file=str(path), **with_limits(values))


def shared_by(settings: Mapping[str, Settings]) -> Iterator[tuple[str, str]]:
    """Return the tenants that would share with an earlier one what is a tenant's own, and what.

    That is a store, a model that learns or is trained, evaluation runs, and the subjects of NATS,
    which have the assistant's name.
    """
    first: dict[tuple[str, str], str] = {}
    for name, one in settings.items():
        for kind, place in _own(one):
            owner = first.setdefault((kind, place), name)
            if owner != name:
                yield name, f"has the same {kind} as the tenant {owner}"


def _own(settings: Settings) -> Iterator[tuple[str, str]]:
    if settings.store is not None and settings.store != "memory":
        file = sqlite_file(settings.store)
        place = without_password(settings.store).partition("?")[0]
        yield "store", place if file is None else os.path.realpath(file)
    console = {"console": {}} if settings.doors is None else settings.doors
    for stage in (*ORDER, *SINGLE):
        for service in settings.pipeline.of(stage):
            target = service.target
            if not isinstance(target, SelectorSettings) or target.model is None:
                continue
            if target.role == "router" or "console" in console:  # where operators train it
                place = os.path.realpath(settings.folder / target.model)
                yield "folder of a model that learns or is trained at the console", place
    if runs := console.get("console", {}).get("runs"):
        yield "folder of evaluation runs", os.path.realpath(settings.folder / str(runs))
    if settings.messages is not None:
        servers = without_password(settings.messages)
        yield "name of the assistant at the same NATS servers", f"{servers} {settings.name}"


def _entry(name: str, read: dict[str, Any], file: Path) -> TenantEntry:
    given: dict[str, Any] = {key: read[key] for key in _OVERRIDES if key in read}
    return TenantEntry(
        name=name,
        assistant=read["assistant"],
        hosts=tuple(host.lower() for host in read.get("hosts", ())),
        given=in_folder(with_limits(given), file.absolute().parent),
    )


def _refuse_own_assistant(document: YamlDocument, findings: Findings) -> None:
    """Record keys of an assistant, which belong into the file of a tenant."""
    if not isinstance(document.root.value, dict):
        return
    known = {*_SERVER, "tenants"}
    stages = {stage.value for stage in (*ORDER, *SINGLE)}
    for key in list(document.root.value):
        if key not in known and (key in TOP or key in stages):
            node = document.root.value.pop(key)
            findings.add(node, "belongs into the file of each tenant's assistant")


def _check_hosts(tenants: dict[str, Any], document: YamlDocument, findings: Findings) -> None:
    first: dict[str, str] = {}
    for name, entry in tenants.items():
        for host in (f"{name}.localhost", *entry.get("hosts", ())):
            owner = first.setdefault(host.lower(), name)
            if owner != name:
                node = document.find(f"tenants.{name}.hosts")
                findings.add(node, f"{host} is a host of the tenant {owner} already")
