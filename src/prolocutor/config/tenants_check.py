"""Check a file with `tenants:`: the file itself, and the file of each tenant's assistant."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import msgspec

from prolocutor.assistant.assistant_settings import DEFAULTS
from prolocutor.config.check_report import CheckReport
from prolocutor.config.check_warnings import LOOPBACK
from prolocutor.config.faults import ConfigFaults, Fault
from prolocutor.config.file_check import check
from prolocutor.config.settings import Settings
from prolocutor.config.tenants_file import TenantEntry, TenantsSettings, load_tenants, shared_by
from prolocutor.config.yaml_file import YamlDocument, read
from prolocutor.tenancy import TENANT, Tenant


def check_tenants(path: Path, environ: Mapping[str, str] = os.environ) -> dict[str, CheckReport]:
    """Return a report of each tenant by name, faults between tenants included.

    Raise `ConfigFaults` where the file itself is wrong. The modules of each tenant are imported for
    it alone.
    """
    server, document = load_tenants(path, environ), read(path, None)
    reports = {entry.name: _check_one(entry, environ) for entry in server.tenants}
    known: dict[str, Settings] = {}
    for entry in server.tenants:
        try:
            known[entry.name] = server.settings_of(entry, environ)
        except ConfigFaults as error:
            reports[entry.name] = _with_faults(reports[entry.name], error.faults)
    for name, shared in shared_by(known):
        fault = _fault(document, server, f"tenants.{name}", shared)
        reports[name] = _with_faults(reports[name], [fault])
    for name, one in known.items():
        if (closed := _why_closed(server, one, known)) is not None:
            warning = _fault(document, server, f"tenants.{name}", closed)
            reports[name] = msgspec.structs.replace(
                reports[name], warnings=(*reports[name].warnings, warning)
            )
    return reports


def _check_one(entry: TenantEntry, environ: Mapping[str, str]) -> CheckReport:
    tenant = Tenant(entry.name, entry.assistant.parent)
    token = TENANT.set(tenant)
    try:
        report = check(entry.assistant, environ)
        if report.name == DEFAULTS.name:
            report = msgspec.structs.replace(report, name=entry.name)
        return report
    finally:
        TENANT.reset(token)
        tenant.forget()


def _with_faults(report: CheckReport, faults: tuple[Fault, ...] | list[Fault]) -> CheckReport:
    whole = tuple(dict.fromkeys([*report.faults, *faults]))
    return msgspec.structs.replace(report, faults=whole)


def _fault(document: YamlDocument, server: TenantsSettings, key: str, what: str) -> Fault:
    node = document.find(key)
    return Fault(server.file, node.line, key, what, column=node.column)


def _why_closed(
    server: TenantsSettings, settings: Settings, known: Mapping[str, Settings]
) -> str | None:
    """Return why nobody can talk to a tenant, if so."""
    auth = settings.auth
    if auth.is_closed or auth.anonymous or auth.loopback:
        return None
    if not server.host.startswith(LOOPBACK):
        return f"{server.host} is not loopback, so nobody gets in without auth.keys"
    if any(one.is_closed for one in (server.auth, *(one.auth for one in known.values()))):
        return (
            "where the server or a tenant has keys or tokens, nobody gets in to this one"
            " without auth.keys, auth.tokens or auth.loopback"
        )
    return None
