"""A DREAM pipeline file planned: the pipeline that its services come to.

Formatters and Python connectors are built in, or imported from the user's code.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from inspect import signature
from typing import Any, Final

import msgspec

from prolocutor.clocks import YEAR
from prolocutor.config.settings import NOBODY
from prolocutor.dialog.plain import JsonObject
from prolocutor.errors import ConfigError
from prolocutor.names import did_you_mean
from prolocutor.plan.formatters import NAMED
from prolocutor.plan.pipeline import Pipeline
from prolocutor.plan.stages import STAGE_TYPES, Breaker, Call, Stage, StageService, Target
from prolocutor.plugins.deeppavlov import dream
from prolocutor.plugins.deeppavlov.effects import DreamKeys
from prolocutor.plugins.deeppavlov.formatters.formatter_catalog import FORMATTERS
from prolocutor.plugins.deeppavlov.formatters.replies import RESPONSE_FORMATTERS
from prolocutor.plugins.deeppavlov.pipeline_entries import (
    FileRemark,
    FileRemarks,
    PipelineEntries,
    PipelineEntry,
    PipelineFile,
)
from prolocutor.plugins.deeppavlov.python_connectors.built_in_connectors import (
    NEEDED,
    PYTHON_CONNECTORS,
)

DEADLINE: Final = 30.0
"""Seconds: TIME_LIMIT of DREAM's environment."""
TIMEOUT: Final = 5.0
"""Seconds for one call of a connector without a time-out."""
PROCESS_TIMEOUT: Final = 10.0
"""Seconds for one call of a class in a process of its own, the import of its module included."""
LEAST_TIMEOUT: Final = 0.001
LINGERING: Final = 0.2
"""Seconds that skills and response selectors give annotators of the last reply. No key of a file
asks for them; in DeepPavlov Agent, which takes longer from service to service, these annotators are
done.
"""
MOST_TOGETHER: Final = 10_000
MAX_FAILURES: Final = 20
"""Failures in a row after which a service is left alone; DeepPavlov Agent never does that."""
EACH_HYPOTHESIS: Final = "base_hypotheses_formatter_in"
"""DeepPavlov Agent's own formatter that gives a request for each hypothesis."""
SUBSTITUTES: Final = {
    "RuleBasedSkillSelectorConnector": "with fewer titles of games than DREAM's",
    "DummySkillConnector": "with texts of its own, unless FALLBACK_FILE names a list",
}
"""Features of DREAM's own connectors that the built-in connectors lack."""


class PlannedFile(msgspec.Struct):
    """The result of planning a pipeline file.

    `keys` has the dotted key in the file of each service, by `stage.name`. Faults keep the
    assistant from starting, warnings do not. `late` is the reply when the time is over or all
    skills are silent: the text of the time-out service, or else of the last chance.
    """

    pipeline: Pipeline
    keys: dict[str, str]
    late: str | None
    faults: list[FileRemark]
    warnings: list[FileRemark]
    notes: list[str]


class OwnCode(msgspec.Struct, frozen=True):
    """The user's code that a file may name by `module:name`.

    `obstacle` returns the reason why a name cannot be imported, "" if it can. With `first` the
    user's code goes before the built-in code. `program` returns the command for a class that cannot
    be imported in this process, as `dream_program` does, or None if it cannot run there either. The
    command runs in `folder`.
    """

    obstacle: Callable[[str], str] = lambda name: "there is no code of one's own"
    first: bool = False
    program: Callable[[str], list[str] | None] = lambda name: None
    folder: str = "."


def read_pipeline(content: Mapping[str, Any], own: OwnCode | None = None) -> PlannedFile:
    """Plan a pipeline file; raise `ConfigError` if it is not a pipeline file."""
    try:
        file = msgspec.convert(content, PipelineFile)
    except msgspec.ValidationError as error:
        raise ConfigError(f"this is not a pipeline file of DeepPavlov Agent: {error}") from None
    return _Planner(file, own or OwnCode()).plan()


class _Planner:
    """Makes the services of a file, and notes its faults and surprises."""

    def __init__(self, file: PipelineFile, own: OwnCode) -> None:
        self._own = own
        self._remarks = FileRemarks()
        self._entries = PipelineEntries(file, self._remarks)
        methods = [entry.service.state_manager_method for entry in self._entries]
        self._not_imported: set[str] = set()
        self._lingering = LINGERING if "add_annotation_prev_bot_utt" in methods else 0.0

    def plan(self) -> PlannedFile:
        entries, last = self._entries, self._entries.last_chance[:1]
        services: dict[Stage, list[Any]] = {stage: [] for stage in Stage}
        for one in last:
            one.stage, one.name = Stage.LAST_CHANCE, one.label
        for entry in [*entries, *last]:
            services[entry.stage].append(self._service(entry))
        keys = {f"{entry.stage}.{entry.name}": entry.key for entry in [*entries, *last]}
        try:
            pipeline = Pipeline(
                annotators=services[Stage.ANNOTATOR],
                skill_selector=services[Stage.SKILL_SELECTOR] or None,
                skills=services[Stage.SKILL],
                candidate_annotators=services[Stage.CANDIDATE_ANNOTATOR],
                response_selector=services[Stage.RESPONSE_SELECTOR] or None,
                postprocessors=services[Stage.POSTPROCESSOR],
                last_chance=next(iter(services[Stage.LAST_CHANCE]), None),
                user_snapshot="current",
                own_words=False,
            )
        except ConfigError as error:
            if services[Stage.SKILL] or not self._remarks.faults:
                self._remarks.fault(keys.get(error.key or "", "services"), error.what)
            pipeline = Pipeline(skills=[NOBODY])
        late = entries.timeout
        if late and not _fixed_text(late[0]):
            what = "is never called: of a time-out service only the response_text counts here"
            self._remarks.warn(late[0].key, what)
        said = next(filter(None, map(_fixed_text, [*late[:1], *last])), None)
        remarks = self._remarks
        return PlannedFile(pipeline, keys, said, remarks.faults, remarks.warnings, remarks.notes())

    def _service(self, entry: PipelineEntry) -> StageService:
        connector = entry.connector
        formatter, options, window = self._formatter(entry)
        http = connector.get("protocol") == "http" or _is_batch(connector)
        needed = [name for name in entry.requires if not self._entries.may_be_skipped(name)]
        before = [*entry.before, *(name for name in entry.requires if name not in needed)]
        own, keys = self._stage_options(entry, http)
        service = STAGE_TYPES[entry.stage](
            self._target(entry),
            name=entry.name,
            after=[self._entries.path(name) for name in dict.fromkeys(before)],
            requires=[self._entries.path(name) for name in needed] or (),
            timeout=self._timeout(entry, http),
            window=window,
            response_formatter=self._response_formatter(entry),
            label=None if entry.label == entry.name else entry.label,
            breaker=Breaker(failures=MAX_FAILURES),
            batch_size=_batch_size(connector) if http else 1,
        )
        service = keys.apply_to_service(msgspec.structs.replace(service, **own))
        return msgspec.structs.replace(service, formatter=formatter, formatter_options=options)

    def _stage_options(self, entry: PipelineEntry, http: bool) -> tuple[JsonObject, DreamKeys]:
        """Return the options of a service by its stage, and the treatment of its reply."""
        method = entry.service.state_manager_method
        match entry.stage:
            case Stage.ANNOTATOR:
                return {}, _writing(method, entry.selects)
            case Stage.SKILL_SELECTOR:
                return {"empty": "all"}, DreamKeys(selects=True)
            case Stage.SKILL:
                lingers = self._lingering if http else 0.0
                return {
                    "always": not self._entries.is_selected(entry),
                    "lingers": lingers,
                }, DreamKeys()
            case Stage.CANDIDATE_ANNOTATOR:
                several = _short(entry.service.dialog_formatter) in (
                    *dream.SEVERAL,
                    EACH_HYPOTHESIS,
                )
                batch = method == "add_hypothesis_annotation_batch"
                own = {"together": batch and not several, "fan_out": several}
                return own, DreamKeys(mismatch="empty" if batch else "fails")
            case Stage.LAST_CHANCE:
                last_words = f"{dream.MODULE}:last_words"
                return {"response_formatter": last_words, "before_confidence": False}, DreamKeys()
            case Stage.RESPONSE_SELECTOR:
                return {"lingers": self._lingering}, DreamKeys(carries="nothing")
        return {}, DreamKeys()

    def _timeout(self, entry: PipelineEntry, http: bool) -> float:
        given, key = entry.connector.get("timeout"), f"{entry.key}.connector"
        if isinstance(given, int | float) and not isinstance(given, bool) and given > 0:
            return min(max(float(given), LEAST_TIMEOUT), YEAR)
        if not http and self._program(entry.connector.get("class_name")):
            return PROCESS_TIMEOUT
        if http and given:
            what = f"expected more than 0 s, found {given!r:.80}: it is {TIMEOUT:g} s here"
            self._remarks.warn(f"{key}.timeout", what)
        elif http:
            self._remarks.warn(key, f"has no timeout: it is {TIMEOUT:g} s here")
        return TIMEOUT

    def _target(self, entry: PipelineEntry) -> Target:
        connector, key = entry.connector, f"{entry.key}.connector"
        protocol = connector.get("protocol")
        if protocol == "http" or _is_batch(connector):
            url = connector.get("url")
            if not isinstance(url, str):
                self._remarks.fault(key, "an HTTP connector needs a url")
                return ""
            if _is_batch(connector):
                self._remarks.note("connectors built in", "BatchConnector")
                return url
            return Call(url, options={"wire": "deeppavlov"})
        name = connector.get("class_name")
        if protocol != "python" or not isinstance(name, str):
            self._remarks.fault(key, f"expected the protocol http or python, found {protocol!r}")
            return ""
        noise = ("protocol", "class_name", "connector_name")
        given = {word: value for word, value in connector.items() if word not in noise}
        short = name.rpartition(":")[2]
        if run := self._program(name):
            self._remarks.note(f"connectors imported, each in a process of {run[0]}", name)
            options: JsonObject = {"folder": self._own.folder, "start_timeout": PROCESS_TIMEOUT}
            return Call("", "command", {"run": [*run, json.dumps(given)], **options})
        if self._is_imported(name, short in PYTHON_CONNECTORS, "connectors", key):
            return Call(name, "dream", given)
        if short in PYTHON_CONNECTORS:
            needed = NEEDED.get(short)
            if needed is not None and needed not in given:
                self._remarks.fault(key, f"a {short} needs {needed}")
            return Call(short, "dream", given)
        hint = did_you_mean(short, PYTHON_CONNECTORS)
        self._remarks.fault(key, f"no connector is called '{name}'", hint)
        return ""

    def _program(self, name: Any) -> list[str] | None:
        """Return the command for a class of DREAM's own that has to run in another process."""
        if not self._own.first or ":" not in str(name) or not self._own.obstacle(name):
            return None
        return self._own.program(name)

    def _formatter(self, entry: PipelineEntry) -> tuple[str | None, JsonObject | None, int | None]:
        given = entry.service.dialog_formatter
        if given is None:
            return None, None, 3 if entry.stage is Stage.ANNOTATOR else 1
        options: JsonObject = {}
        if isinstance(given, dict):
            options = {key: value for key, value in given.items() if key != "name"}
            given = given.get("name")
        key = f"{entry.key}.dialog_formatter"
        if not isinstance(given, str):
            self._remarks.fault(key, f"expected the name of a formatter, found {given!r:.80}")
            return None, None, None
        if given in NAMED:
            self._remarks.note("formatters built in", given)
            return given, options or None, 1
        short = _short(given)
        if self._is_imported(given, short in FORMATTERS, "formatters", key):
            if short in dream.SEVERAL:
                options["several"] = True
            return f"{dream.MODULE}:imported_formatter", {"function": given, **options}, None
        if short in FORMATTERS:
            window = dream.window_size(FORMATTERS[short])
            try:
                signature(FORMATTERS[short].format).bind({}, **options)
            except TypeError as error:
                self._remarks.fault(key, f"{short} does not take these arguments: {error}")
            return f"{dream.MODULE}:{short}", options or None, window
        hint = did_you_mean(short, FORMATTERS)
        self._remarks.fault(key, f"no formatter is called '{given}'", hint)
        return None, None, None

    def _response_formatter(self, entry: PipelineEntry) -> str | None:
        response_formatter = entry.service.response_formatter
        short, key = _short(response_formatter), f"{entry.key}.response_formatter"
        if response_formatter is None or short == "simple_formatter_service":
            return None
        if response_formatter in NAMED:
            self._remarks.note("formatters built in", response_formatter)
            return response_formatter
        if self._is_imported(response_formatter, short in RESPONSE_FORMATTERS, "formatters", key):
            return response_formatter
        if short in RESPONSE_FORMATTERS:
            return f"{dream.MODULE}:{short}"
        hint = did_you_mean(short, RESPONSE_FORMATTERS)
        self._remarks.fault(key, f"no formatter is called '{response_formatter}'", hint)
        return None

    def _is_imported(self, name: str, built_in: bool, what: str, key: str) -> bool:
        """Return whether a name is the user's code rather than built in, and note which."""
        short = name.rpartition(":")[2]
        if ":" in name and (self._own.first or not built_in):
            obstacle = self._own.obstacle(name)
            if not obstacle:
                self._remarks.note(f"{what} imported", name)
                return True
            module = name.partition(":")[0]
            if built_in and module not in self._not_imported:
                self._not_imported.add(module)
                missing = f"{module} cannot be imported ({obstacle}): what is built in is used"
                self._remarks.warn(key, missing)
        if short in SUBSTITUTES:
            self._remarks.note(f"{what} substituted", f"{short} ({SUBSTITUTES[short]})")
        elif built_in:
            self._remarks.note(f"{what} built in", short)
        return False


def _fixed_text(entry: PipelineEntry) -> str | None:
    """Return the text of a service with a fixed text."""
    said = entry.connector.get("response_text")
    return said if isinstance(said, str) else None


def _writing(method: str | None, selects: bool) -> DreamKeys:
    """Return the treatment of an annotator's reply, by its method."""
    match method:
        case "add_annotation_and_reset_human_attributes_for_first_turn":
            return DreamKeys(first_turn_attributes={"disliked_skills": []})
        case "add_annotation_prev_bot_utt":
            return DreamKeys(writes="previous_reply")
        case "update_attributes":
            return DreamKeys(writes="attributes")
        case None:
            return DreamKeys(writes="nothing", selects=selects)
    return DreamKeys()


def _short(name: str | dict[str, Any] | None) -> str:
    """Return a formatter's name without its module."""
    given = name.get("name") if isinstance(name, dict) else name
    return str(given or "").rpartition(":")[2]


def _batch_size(connector: Mapping[str, Any]) -> int:
    """Return the largest number of requests in a call; 1 if the connector has no valid number."""
    given = connector.get("batch_size")
    return min(max(given, 1), MOST_TOGETHER) if type(given) is int else 1


def _is_batch(connector: Mapping[str, Any]) -> bool:
    return str(connector.get("class_name")).rpartition(":")[2] == "BatchConnector"
