"""The services of a DREAM pipeline file as entries: predecessors, stage and name.

Only `state_manager_method` decides a service's effect on the state, only `previous_services` its
time; the names of groups mean nothing (DeepPavlov Agent, dev-2).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import msgspec

from prolocutor.names import did_you_mean
from prolocutor.plan.pipeline import Stage

STAGES: Final[dict[str, Stage]] = {
    "add_annotation": Stage.ANNOTATOR,
    "add_annotation_and_reset_human_attributes_for_first_turn": Stage.ANNOTATOR,
    "add_annotation_prev_bot_utt": Stage.ANNOTATOR,
    "update_attributes": Stage.ANNOTATOR,
    "add_hypothesis": Stage.SKILL,
    "add_hypothesis_annotation": Stage.CANDIDATE_ANNOTATOR,
    "add_hypothesis_annotation_batch": Stage.CANDIDATE_ANNOTATOR,
    "add_bot_utterance": Stage.RESPONSE_SELECTOR,
    "add_text": Stage.POSTPROCESSOR,
}
"""The stage of a service, by its `state_manager_method`."""


class PipelineService(msgspec.Struct):
    """A service as the file says it; keys that DeepPavlov Agent does not read are left out."""

    connector: str | dict[str, Any]
    dialog_formatter: str | dict[str, Any] | None = None
    response_formatter: str | None = None
    state_manager_method: str | None = None
    previous_services: list[str] | None = None
    required_previous_services: list[str] | None = None
    tags: list[str] | None = None


class PipelineFile(msgspec.Struct):
    """A `pipeline_conf.json`; a service, or a group of services by label."""

    services: dict[str, dict[str, Any]]
    connectors: dict[str, dict[str, Any]] = {}


class FileRemark(msgspec.Struct, frozen=True):
    """A remark about a pipeline file, with the dotted key of its subject."""

    key: str
    what: str


class FileRemarks:
    """The remarks made while a file was read and planned."""

    def __init__(self) -> None:
        self.faults: list[FileRemark] = []
        self.warnings: list[FileRemark] = []
        self._notes: dict[str, set[str]] = {}

    def fault(self, key: str, what: str, hint: str | None = None) -> None:
        """Note a fault that keeps the assistant from starting."""
        self.faults.append(FileRemark(key, f"{what}; {hint}" if hint else what))

    def warn(self, key: str, what: str) -> None:
        """Note a surprise."""
        self.warnings.append(FileRemark(key, what))

    def note(self, what: str, name: str) -> None:
        """Note the source of something named in the file."""
        self._notes.setdefault(what, set()).add(name)

    def notes(self) -> list[str]:
        """Return a line for each kind of note."""
        return [f"{what}: {', '.join(sorted(names))}" for what, names in self._notes.items()]


class PipelineEntry(msgspec.Struct):
    """A service of the file, with its connector, predecessors, stage and name."""

    group: str | None
    label: str
    service: PipelineService
    connector: dict[str, Any]
    before: list[str] = []
    requires: list[str] = []
    stage: Stage = Stage.ANNOTATOR
    name: str = ""

    @property
    def full(self) -> str:
        """Its name in the file: `group.label`, or its label."""
        return f"{self.group}.{self.label}" if self.group else self.label

    @property
    def key(self) -> str:
        """The dotted key of its place in the file."""
        return f"services.{self.full}"

    def predecessors(self) -> list[str]:
        """Return the full names of all predecessors."""
        return [*self.before, *(name for name in self.requires if name not in self.before)]

    @property
    def selects(self) -> bool:
        """Whether its reply chooses among its successors."""
        return "selector" in (self.service.tags or ())


class PipelineEntries:
    """The services of a file by full name, linked, staged and named."""

    def __init__(self, file: PipelineFile, remarks: FileRemarks) -> None:
        self.last_chance: list[PipelineEntry] = []
        self.timeout: list[PipelineEntry] = []
        self._file = file
        self._remarks = remarks
        self._entries = {entry.full: entry for entry in self._read()}
        for tag, found in (("last_chance", self.last_chance), ("timeout", self.timeout)):
            found += [
                entry for entry in self._entries.values() if tag in (entry.service.tags or ())
            ]
            for one in found[1:]:
                remarks.warn(one.key, f"is never called: {found[0].full} is tagged {tag}, too")
        for one in [*self.last_chance, *self.timeout]:
            self._entries.pop(one.full, None)
        self._link()
        self._stage()
        self._leave_out_uncalled()
        self._name()
        self._warn_of_shared_urls()

    def __iter__(self) -> Iterator[PipelineEntry]:
        return iter(self._entries.values())

    def path(self, full: str) -> str:
        """Return the stage and name of the service that has a full name in the file."""
        other = self._entries[full]
        return f"{other.stage}.{other.name}"

    def is_selected(self, skill: PipelineEntry) -> bool:
        """Return whether a skill is asked only if a selector names it; True without a selector."""
        selectors = [one.full for one in self if one.stage is Stage.SKILL_SELECTOR]
        return not selectors or any(name in selectors for name in skill.predecessors())

    def may_be_skipped(self, full: str) -> bool:
        """Return whether a selector may skip a service; services that require it run all the
        same.
        """
        return any(self._entries[name].selects for name in self._entries[full].predecessors())

    def _read(self) -> Iterator[PipelineEntry]:
        for group, content in self._file.services.items():
            single = "connector" in content
            if not content:
                self._remarks.warn(
                    f"services.{group}", "the group is empty, which is as if it were not"
                )
            for label, given in ((group, content),) if single else content.items():
                key = f"services.{group}" if single else f"services.{group}.{label}"
                try:
                    service = msgspec.convert(given, PipelineService)
                except msgspec.ValidationError as error:
                    self._remarks.fault(key, str(error))
                    continue
                connector = self._connector(service.connector, key)
                yield PipelineEntry(None if single else group, label, service, connector)

    def _connector(self, given: str | dict[str, Any], key: str) -> dict[str, Any]:
        if isinstance(given, dict):
            return given
        group, _, label = given.partition(".")
        named = self._file.services.get(group, {})
        if isinstance(other := (named.get(label) if label else named), dict):
            inline = other.get("connector")
            if isinstance(inline, dict):
                return inline
        name = given.removeprefix("connectors.")
        if name not in self._file.connectors:
            hint = did_you_mean(name, self._file.connectors)
            self._remarks.fault(f"{key}.connector", f"no connector is called '{name}'", hint)
        return self._file.connectors.get(name, {})

    def _link(self) -> None:
        """Find the predecessors of each service; unknown names are dropped."""
        for entry in self._entries.values():
            for key, names, found in (
                ("previous_services", entry.service.previous_services, entry.before),
                (
                    "required_previous_services",
                    entry.service.required_previous_services,
                    entry.requires,
                ),
            ):
                for name in names or ():
                    members = [other for other in self._entries if self._is_named(other, name)]
                    if not members:
                        what = f"'{name}' does not exist or is empty, so nothing waits for it"
                        self._remarks.warn(f"{entry.key}.{key}", what)
                    found += [other for other in members if other not in found]

    def _is_named(self, full: str, name: str) -> bool:
        entry = self._entries[full]
        return name in (full, entry.group)

    # -- stages and names -------------------------------------------------------------------

    def _stage(self) -> None:
        followed: dict[str, list[PipelineEntry]] = {full: [] for full in self._entries}
        for entry in self._entries.values():
            method = entry.service.state_manager_method
            if method is not None and method not in STAGES:
                hint = did_you_mean(method, STAGES)
                self._remarks.fault(
                    f"{entry.key}.state_manager_method", f"unknown method '{method}'", hint
                )
            entry.stage = STAGES.get(method or "", Stage.ANNOTATOR)
            for name in entry.predecessors():
                followed[name].append(entry)
        for entry in self._entries.values():
            only_selects = entry.service.state_manager_method is None and entry.selects
            if only_selects and any(other.stage is Stage.SKILL for other in followed[entry.full]):
                entry.stage = Stage.SKILL_SELECTOR

    def _leave_out_uncalled(self) -> None:
        """Leave out services skipped by a response selector tagged `selector`, and their
        successors.
        """
        out: set[str] = set()
        for entry in self._entries.values():
            if entry.stage is Stage.RESPONSE_SELECTOR and entry.selects:
                skipped = [o.full for o in self._entries.values() if entry.full in o.predecessors()]
                out |= {*skipped}
                if skipped:
                    what = (
                        f"is tagged selector, so {', '.join(skipped)} are never called: its reply"
                        " does not name them"
                    )
                    self._remarks.warn(entry.key, what)
                else:
                    self._remarks.warn(entry.key, "is tagged selector, which has no effect here")
        grown = True
        while grown:
            after = [
                entry.full
                for entry in self._entries.values()
                if entry.full not in out
                and entry.predecessors()
                and out.issuperset(entry.predecessors())
            ]
            out |= {*after}
            grown = bool(after)
        for full in out:
            self._remarks.warn(self._entries.pop(full).key, "is never called")
        for entry in self._entries.values():
            entry.before = [name for name in entry.before if name not in out]
            entry.requires = [name for name in entry.requires if name not in out]

    def _name(self) -> None:
        """Name each service by its label in its stage; repeated labels are followed by the
        group.
        """
        taken: set[tuple[Stage, str]] = set()
        own = {"annotators", "skills", "candidate_annotators", "skill_selectors"}
        for entry in sorted(self._entries.values(), key=lambda entry: entry.group not in own):
            entry.name = entry.label
            if (entry.stage, entry.name) in taken:
                entry.name = f"{entry.label}_of_{entry.group}"
            taken.add((entry.stage, entry.name))

    def _warn_of_shared_urls(self) -> None:
        users: dict[str, list[PipelineEntry]] = {}
        for entry in self._entries.values():
            if isinstance(url := entry.connector.get("url"), str):
                users.setdefault(url, []).append(entry)
        for url, sharing in users.items():
            if len(sharing) > 1:
                names = ", ".join(one.full for one in sharing)
                self._remarks.warn(sharing[0].key, f"{url} is shared by {names}")
