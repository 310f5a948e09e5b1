"""Check that the connectors, selectors, doors and the store that a file names exist."""

from __future__ import annotations

from prolocutor.assistant.wiring import ServiceWiring
from prolocutor.config.agent_cards import card_of
from prolocutor.config.call_hints import call_hint
from prolocutor.config.fields import Findings, child_at
from prolocutor.config.service_entries import ServiceEntry, function_of
from prolocutor.config.survey import Survey
from prolocutor.contracts.channel import CheckedDoor, DoorPlace
from prolocutor.errors import ConfigError
from prolocutor.plan.pipeline import PendingTarget, Stage
from prolocutor.stores.store_catalog import options_of


def check_plugins(loaded: Survey, findings: Findings) -> None:
    """Record every connector, selector and door that cannot be made, and an unknown store."""
    for written in loaded.services:
        _check_connector(written, loaded, findings)
    _check_cards(loaded, findings)
    _check_doors(loaded, findings)
    try:
        options_of(loaded.settings.store or "memory:")
    except ConfigError as error:
        findings.add(loaded.find("store"), error.what)


def _check_connector(written: ServiceEntry, loaded: Survey, findings: Findings) -> None:
    """Record a connector that cannot be made; functions are imported elsewhere."""
    service, call = written.service, written.service.call
    if isinstance(call.target, PendingTarget) or call.target == "" or function_of(call):
        return
    settings = loaded.settings
    wiring = ServiceWiring(settings.name, settings.messages)
    try:
        wiring.connect(service)
    except ConfigError as error:
        hint = call_hint(call.target)
        findings.add(child_at(written.call, error.key or ""), error.what, hint)


def _check_doors(loaded: Survey, findings: Findings) -> None:
    settings = loaded.settings
    skills = [skill.name for skill in settings.pipeline.of(Stage.SKILL)]
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
    for skill in loaded.settings.pipeline.of(Stage.SKILL):
        try:
            card_of(skill.name, skill.card_members, loaded.settings.folder)
        except ConfigError as error:
            findings.add(loaded.find(f"skills.{skill.name}.card"), error.what)
