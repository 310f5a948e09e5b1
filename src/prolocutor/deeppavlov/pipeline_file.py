"""A DREAM pipeline file: its services as Structs, and the plan that they come to.

What a service does to the state is its `state_manager_method` alone, when it runs its
`previous_services` alone; the names of groups mean nothing (DeepPavlov Agent, dev-2).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

import msgspec

from prolocutor.deeppavlov import dream
from prolocutor.deeppavlov.formatters.formatter_catalog import FORMATTERS
from prolocutor.deeppavlov.formatters.replies import RESPONSE_FORMATTERS
from prolocutor.deeppavlov.python_connectors.built_in_connectors import PYTHON_CONNECTORS
from prolocutor.dialog.plain import JsonObject
from prolocutor.errors import ConfigError
from prolocutor.names import did_you_mean
from prolocutor.pipeline.plan import Addressed, Breaker, Pipeline, Service, Stage, Target

DEADLINE: Final = 30.0
"""Seconds: the TIME_LIMIT that DREAM's environment sets."""
TIMEOUT: Final = 5.0
"""Seconds for one call where the connector says nothing."""
LEAST_TIMEOUT: Final = 0.001
PATIENCE: Final = 20
"""Failures in a row after which a service is left alone; DeepPavlov Agent never does that."""

STAGES: Final[dict[str, Stage]] = {
    "add_annotation": Stage.ANNOTATOR,
    "add_annotation_and_reset_human_attributes_for_first_turn": Stage.ANNOTATOR,
    "add_annotation_prev_bot_utt": Stage.ANNOTATOR,
    "update_attributes": Stage.ANNOTATOR,
    "add_hypothesis": Stage.SKILL,
    "add_hypothesis_annotation": Stage.CANDIDATE_ANNOTATOR,
    "add_hypothesis_annotation_batch": Stage.CANDIDATE_ANNOTATOR,
    "add_bot_utterance": Stage.RESPONSE_SELECTOR,
}
"""The stage of a service, by what becomes of its reply."""


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
    """Something about a pipeline file, and the dotted key of what it is about."""

    key: str
    what: str


class PlannedFile(msgspec.Struct):
    """What a pipeline file comes to.

    `keys` has the dotted key in the file of each service, by `stage.name`. Faults keep the
    assistant from starting, warnings do not. `late` is what is said when the time is over.
    """

    pipeline: Pipeline
    keys: dict[str, str]
    late: str | None
    faults: list[FileRemark]
    warnings: list[FileRemark]
    notes: list[str]


class _Entry(msgspec.Struct):
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
        return f"{self.group}.{self.label}" if self.group else self.label

    @property
    def key(self) -> str:
        return f"services.{self.full}"

    @property
    def selects(self) -> bool:
        return "selector" in (self.service.tags or ())


def read_pipeline(
    content: Mapping[str, Any],
    *,
    can_import: Callable[[str], bool] = lambda name: False,
) -> PlannedFile:
    """Plan what a pipeline file says; `ConfigError` where it is none.

    `can_import` says whether a function or class of one's own can be imported.
    """
    try:
        file = msgspec.convert(content, PipelineFile)
    except msgspec.ValidationError as error:
        raise ConfigError(f"this is no pipeline file of DeepPavlov Agent: {error}") from None
    return _Planner(file, can_import).planned()


class _Planner:
    """Plans one file, noting on the way what is wrong with it and what may surprise."""

    def __init__(
        self,
        file: PipelineFile,
        can_import: Callable[[str], bool],
    ) -> None:
        self._file = file
        self._can_import = can_import
        self._faults: list[FileRemark] = []
        self._warnings: list[FileRemark] = []
        self._built_in: dict[str, set[str]] = {}
        self._entries = {entry.full: entry for entry in self._read()}

    def planned(self) -> PlannedFile:
        entries = self._entries
        last = [one for one in entries.values() if "last_chance" in (one.service.tags or ())]
        late = [one for one in entries.values() if "timeout" in (one.service.tags or ())]
        for one in [*last, *late]:
            del entries[one.full]
        self._link()
        self._stage()
        self._leave_out_uncalled()
        self._name()
        self._warn_of_shared_urls()
        services: dict[Stage, list[Service]] = {stage: [] for stage in Stage}
        for one in entries.values():
            services[one.stage].append(self._service(one))
        for one in last[:1]:
            one.stage, one.name = Stage.LAST_CHANCE, one.label
            services[Stage.LAST_CHANCE] = [self._service(one)]
        pipeline = Pipeline(
            annotators=services[Stage.ANNOTATOR],
            skill_selector=services[Stage.SKILL_SELECTOR] or None,
            skills=services[Stage.SKILL],
            candidate_annotators=services[Stage.CANDIDATE_ANNOTATOR],
            response_selector=services[Stage.RESPONSE_SELECTOR] or None,
            last_chance=next(iter(services[Stage.LAST_CHANCE]), None),
            user_snapshot="current",
            own_words=False,
        )
        keys = {f"{one.stage}.{one.name}": one.key for one in [*entries.values(), *last[:1]]}
        said = late[0].connector.get("response_text") if late else None
        notes = [f"{what}: {', '.join(sorted(names))}" for what, names in self._built_in.items()]
        return PlannedFile(pipeline, keys, said, self._faults, self._warnings, notes)

    # -- reading ----------------------------------------------------------------------------

    def _read(self) -> Iterator[_Entry]:
        for group, content in self._file.services.items():
            single = "connector" in content
            if not content:
                self._warn(f"services.{group}", "the group is empty, which is as if it were not")
            for label, given in ((group, content),) if single else content.items():
                key = f"services.{group}" if single else f"services.{group}.{label}"
                try:
                    service = msgspec.convert(given, PipelineService)
                except msgspec.ValidationError as error:
                    self._fault(key, str(error))
                    continue
                connector = self._connector(service.connector, key)
                yield _Entry(None if single else group, label, service, connector)

    def _connector(self, given: str | dict[str, Any], key: str) -> dict[str, Any]:
        if isinstance(given, dict):
            return given
        name = given.removeprefix("connectors.")
        if name not in self._file.connectors:
            hint = did_you_mean(name, self._file.connectors)
            self._fault(f"{key}.connector", f"no connector is called '{name}'", hint)
        return self._file.connectors.get(name, {})

    def _link(self) -> None:
        """Find what each service waits for; names that do not exist are dropped."""
        for one in self._entries.values():
            for key, names, found in (
                ("previous_services", one.service.previous_services, one.before),
                (
                    "required_previous_services",
                    one.service.required_previous_services,
                    one.requires,
                ),
            ):
                for name in names or ():
                    members = [other for other in self._entries if self._is_named(other, name)]
                    if not members:
                        what = f"'{name}' does not exist or is empty, so nothing waits for it"
                        self._warn(f"{one.key}.{key}", what)
                    found += [other for other in members if other not in found]

    def _is_named(self, full: str, name: str) -> bool:
        entry = self._entries[full]
        return name in (full, entry.group)

    def _waited_for(self, one: _Entry) -> list[str]:
        return [*one.before, *(name for name in one.requires if name not in one.before)]

    # -- stages and names -------------------------------------------------------------------

    def _stage(self) -> None:
        followed: dict[str, list[_Entry]] = {full: [] for full in self._entries}
        for one in self._entries.values():
            method = one.service.state_manager_method
            if method is not None and method not in STAGES:
                hint = did_you_mean(method, STAGES)
                self._fault(f"{one.key}.state_manager_method", f"unknown method '{method}'", hint)
            one.stage = STAGES.get(method or "", Stage.ANNOTATOR)
            for name in self._waited_for(one):
                followed[name].append(one)
        for one in self._entries.values():
            only_selects = one.service.state_manager_method is None and one.selects
            if only_selects and any(other.stage is Stage.SKILL for other in followed[one.full]):
                one.stage = Stage.SKILL_SELECTOR

    def _leave_out_uncalled(self) -> None:
        """Leave out what a response selector that is tagged `selector` skips, and what follows."""
        out: set[str] = set()
        for one in self._entries.values():
            if one.stage is Stage.RESPONSE_SELECTOR and one.selects:
                skipped = [
                    o.full for o in self._entries.values() if one.full in self._waited_for(o)
                ]
                out |= {*skipped}
                if skipped:
                    what = (
                        f"is tagged selector, so {', '.join(skipped)} are never called: its reply"
                        " does not name them"
                    )
                    self._warn(one.key, what)
                else:
                    self._warn(one.key, "is tagged selector, which has no effect here")
        grown = True
        while grown:
            after = [
                one.full
                for one in self._entries.values()
                if one.full not in out
                and self._waited_for(one)
                and out.issuperset(self._waited_for(one))
            ]
            out |= {*after}
            grown = bool(after)
        for full in out:
            self._warn(self._entries.pop(full).key, "is never called")
        for one in self._entries.values():
            one.before = [name for name in one.before if name not in out]
            one.requires = [name for name in one.requires if name not in out]

    def _name(self) -> None:
        """Name each service by its label in its stage; a second one of a label by its group too."""
        taken: set[tuple[Stage, str]] = set()
        own = {"annotators", "skills", "candidate_annotators", "skill_selectors"}
        for one in sorted(self._entries.values(), key=lambda one: one.group not in own):
            one.name = one.label
            if (one.stage, one.name) in taken:
                one.name = f"{one.label}_of_{one.group}"
            taken.add((one.stage, one.name))

    # -- services ---------------------------------------------------------------------------

    def _service(self, one: _Entry) -> Service:
        method, connector = one.service.state_manager_method, one.connector
        formatter, options, window = self._formatter(one)
        http = connector.get("protocol") == "http" or _is_batch(connector)
        service = Service(
            one.name,
            self._target(one),
            after=[self._path(name) for name in one.before],
            requires=[self._path(name) for name in one.requires] or (),
            timeout=self._timeout(one, http),
            window=window,
            formatter=formatter,
            formatter_options=options,
            response_formatter=self._response_formatter(one),
            wire="native" if _is_batch(connector) else "deeppavlov",
            connector=None if http else "dream",
            label=None if one.label == one.name else one.label,
            breaker=Breaker(failures=PATIENCE),
        )
        changes: dict[str, Any] = {}
        match one.stage:
            case Stage.ANNOTATOR:
                changes = _writing(method, one.selects)
            case Stage.SKILL_SELECTOR:
                changes = {"selects": True}
            case Stage.SKILL:
                selectors = [
                    other.full
                    for other in self._entries.values()
                    if other.stage is Stage.SKILL_SELECTOR
                ]
                selected = any(name in selectors for name in self._waited_for(one))
                changes = {"always": bool(selectors) and not selected}
            case Stage.CANDIDATE_ANNOTATOR:
                several = _short(one.service.dialog_formatter) in dream.SEVERAL
                batch = method == "add_hypothesis_annotation_batch"
                changes = {"together": batch and not several, "fan_out": several}
                changes["mismatch"] = "empty" if batch else "fails"
            case Stage.LAST_CHANCE:
                formatter = f"{dream.MODULE}:last_words"
                changes = {"response_formatter": formatter, "before_confidence": False}
            case Stage.RESPONSE_SELECTOR:
                changes = {"carries": "nothing"}
        return msgspec.structs.replace(service, **changes)

    def _path(self, full: str) -> str:
        other = self._entries[full]
        return f"{other.stage}.{other.name}"

    def _timeout(self, one: _Entry, http: bool) -> float:
        given = one.connector.get("timeout")
        if isinstance(given, int | float) and not isinstance(given, bool) and given > 0:
            return max(float(given), LEAST_TIMEOUT)
        if http:
            self._warn(f"{one.key}.connector", f"has no timeout: it is {TIMEOUT:g} s here")
        return TIMEOUT

    def _target(self, one: _Entry) -> Target:
        connector, key = one.connector, f"{one.key}.connector"
        protocol = connector.get("protocol")
        if protocol == "http" or _is_batch(connector):
            url = connector.get("url")
            if not isinstance(url, str):
                self._fault(key, "an HTTP connector needs a url")
                return ""
            if _is_batch(connector):
                self._note("connectors built in", "BatchConnector")
            return url
        name = connector.get("class_name")
        if protocol != "python" or not isinstance(name, str):
            self._fault(key, f"expected the protocol http or python, found {protocol!r}")
            return ""
        given = {
            word: value
            for word, value in connector.items()
            if word not in ("protocol", "class_name")
        }
        given = {word: value for word, value in given.items() if word != "connector_name"}
        short = name.rpartition(":")[2]
        if short in PYTHON_CONNECTORS:
            self._note("connectors built in", short)
            return Addressed(short, given)
        if ":" in name and self._can_import(name):
            self._note("connectors imported", name)
            return Addressed(name, given)
        self._fault(key, f"no connector is called '{name}'", did_you_mean(short, PYTHON_CONNECTORS))
        return ""

    def _formatter(self, one: _Entry) -> tuple[str | None, JsonObject | None, int | None]:
        given = one.service.dialog_formatter
        if given is None:
            return None, None, 3 if one.stage is Stage.ANNOTATOR else 1
        options: JsonObject = {}
        if isinstance(given, dict):
            options = {key: value for key, value in given.items() if key != "name"}
            given = str(given.get("name"))
        short = _short(given)
        if short in FORMATTERS:
            self._note("formatters built in", short)
            window = dream.window_of(FORMATTERS[short])
            return f"{dream.MODULE}:{short}", options or None, window
        if ":" in given and self._can_import(given):
            self._note("formatters imported", given)
            return f"{dream.MODULE}:imported_formatter", {"function": given, **options}, None
        hint = did_you_mean(short, FORMATTERS)
        self._fault(f"{one.key}.dialog_formatter", f"no formatter is called '{given}'", hint)
        return None, None, None

    def _response_formatter(self, one: _Entry) -> str | None:
        given = one.service.response_formatter
        short = _short(given)
        if given is None or short == "simple_formatter_service":
            return None
        if short in RESPONSE_FORMATTERS:
            self._note("formatters built in", short)
            return f"{dream.MODULE}:{short}"
        if ":" in given and self._can_import(given):
            self._note("formatters imported", given)
            return given
        hint = did_you_mean(short, RESPONSE_FORMATTERS)
        self._fault(f"{one.key}.response_formatter", f"no formatter is called '{given}'", hint)
        return None

    # -- remarks ----------------------------------------------------------------------------

    def _warn_of_shared_urls(self) -> None:
        users: dict[str, list[_Entry]] = {}
        for one in self._entries.values():
            if isinstance(url := one.connector.get("url"), str):
                users.setdefault(url, []).append(one)
        for url, sharing in users.items():
            if len(sharing) > 1:
                names = ", ".join(one.full for one in sharing)
                self._warn(sharing[0].key, f"{url} is shared by {names}")

    def _note(self, what: str, name: str) -> None:
        self._built_in.setdefault(what, set()).add(name)

    def _warn(self, key: str, what: str) -> None:
        self._warnings.append(FileRemark(key, what))

    def _fault(self, key: str, what: str, hint: str | None = None) -> None:
        self._faults.append(FileRemark(key, f"{what}; {hint}" if hint else what))


def _writing(method: str | None, selects: bool) -> dict[str, Any]:
    """Return the settings of an annotator by its method."""
    match method:
        case "add_annotation_and_reset_human_attributes_for_first_turn":
            return {"first_turn_attributes": {"disliked_skills": []}}
        case "add_annotation_prev_bot_utt":
            return {"writes": "previous_reply"}
        case "update_attributes":
            return {"writes": "attributes"}
        case None:
            return {"writes": "nothing", "selects": selects}
    return {}


def _short(name: str | dict[str, Any] | None) -> str:
    """Return a formatter's name without its module."""
    given = name.get("name") if isinstance(name, dict) else name
    return str(given or "").rpartition(":")[2]


def _is_batch(connector: Mapping[str, Any]) -> bool:
    return str(connector.get("class_name")).rpartition(":")[2] == "BatchConnector"
