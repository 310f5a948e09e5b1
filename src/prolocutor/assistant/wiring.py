"""The connectors of a pipeline's services, the keepers of their calls, and the program runner."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from functools import partial
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from prolocutor.assistant.assistant_settings import DEFAULTS, AssistantSettings, PurseSettings
from prolocutor.assistant.call_recording import CallRecorder
from prolocutor.assistant.rounds.own_words import says
from prolocutor.assistant.sharing import is_shared
from prolocutor.catalog import Catalog
from prolocutor.connectors.connector_catalog import make_options
from prolocutor.contracts.calls import CallKeeper
from prolocutor.contracts.connector import AgentProfile, Caller, Connector, ServiceContext
from prolocutor.contracts.programs import (
    CreatedProgram,
    ProgramInfo,
    ProgramRun,
    Programs,
    ProgramStart,
    RunningProgram,
)
from prolocutor.contracts.shared_store import BrokerWakeUps
from prolocutor.contracts.store import AgendaEntry, RecordStore, Store
from prolocutor.errors import ConfigError, MissingExtra
from prolocutor.functions import resolve
from prolocutor.plan.pipeline import CandidateAnnotator, Pipeline, Skill, Stage, StageService

EFFECTS: Final = Catalog[Callable[[Store, Pipeline], CallKeeper]](
    "ledger of effects", "prolocutor.effects"
)
"""Ledgers of the effects of skills that act, made of a store and the pipeline."""

PURSES: Final = Catalog[Callable[[Store, PurseSettings, Pipeline], CallKeeper]](
    "purse", "prolocutor.purses"
)
"""Purses, which bound the costs of calls, made of a store, the limits and the pipeline."""

NONE: Final = "Programs cannot be run here: no language for them is installed."

PROGRAMS: Final = Catalog[Callable[..., Programs]]("program language", "prolocutor.programs")
"""Interpreters of programs, by the name of the language; `make_programs` makes them."""

BROKERS: Final = Catalog[Callable[..., BrokerWakeUps]]("message broker", "prolocutor.brokers")
"""Brokers that carry hints between replicas, by the scheme of a URL; made of the URL, the shared
connections, and the assistant's name."""

BROKER_URLS: Final = Catalog[Callable[[str], object]]("message broker", "prolocutor.broker_urls")
"""What reads the URL of a broker, by its scheme."""


def call_keepers(pipeline: Pipeline, settings: AssistantSettings, store: Store) -> list[CallKeeper]:
    """Return the keepers of an assistant's calls, the innermost first."""
    keepers: list[CallKeeper] = []
    if settings.purse is not None:
        if not (names := PURSES.names()):
            raise ConfigError("no installed plug-in keeps a purse", key="purse")
        keepers.append(PURSES.load(names[0])(store, settings.purse, pipeline))
    acting = [one.name for one in pipeline.services_at(Stage.SKILL) if one.acts]
    if acting:
        if not (names := EFFECTS.names()):
            what = "no installed plug-in keeps a ledger of effects"
            raise ConfigError(what, key=f"skills.{acting[0]}.acts")
        keepers.append(EFFECTS.load(names[0])(store, pipeline))
    return keepers


class NoPrograms:
    """Refuses programs, and reads no text as a wish about them."""

    async def warm(self) -> None:
        """Have nothing to get ready."""

    def find_wish(self, text: str) -> None:
        """Leave all words to the skills."""

    async def run(self, start: ProgramStart) -> ProgramRun:
        """Reply that programs are not available."""
        return ProgramRun(words=says(NONE), refused=True)

    async def due(self, entry: AgendaEntry) -> ProgramRun:
        """Raise `MissingExtra`: the entry waits for the language to be back."""
        raise MissingExtra(NONE)

    async def create(self, user: str, code: str, info: ProgramInfo) -> CreatedProgram:
        """Refuse the program."""
        return CreatedProgram(id="", description="", code=code, errors=[NONE])

    async def apps(self, user: str) -> list[RunningProgram]:
        """Return no programs."""
        return []

    async def delete(self, user: str, program_id: str) -> bool:
        """Return None."""
        return False


def make_programs(
    skills: Sequence[Skill], caller: Caller, store: Store, deadline: float
) -> Programs:
    """Make the program runner of an assistant; `deadline` is that of a turn, in seconds.

    Of several languages that are installed the first by name is taken.
    """
    languages = sorted(PROGRAMS.names())
    if not languages:
        return NoPrograms()
    return PROGRAMS.make(languages[0], skills, caller, store, deadline=deadline)


class ServiceWiring:
    """Makes the connectors of an assistant, which may share objects, such as a connection.

    `assistant` is its name, `messages` the URL of its message broker, `records` where they keep
    documents; `recorder` stands before all connectors. Of `keepers` the first is the nearest to
    the connectors.
    """

    def __init__(
        self,
        assistant: str = DEFAULTS.name,
        messages: str | None = None,
        skills: Sequence[StageService] = (),
        records: RecordStore | None = None,
        recorder: CallRecorder | None = None,
        keepers: Sequence[CallKeeper] = (),
    ) -> None:
        self._keepers = keepers
        self._assistant = assistant
        self._records = records
        self._recorder = recorder
        self._skills = skills
        self._messages = messages
        self._shared: dict[Hashable, Any] = {}

    def kept(self, service: StageService) -> Connector:
        """Make the connector of a service, within the keepers of its calls."""
        connector = self.connect(service)
        for keeper in self._keepers:
            connector = keeper.around(service, connector, self._context(service))
        return connector

    def connect(self, service: StageService) -> Connector:
        """Make the connector of a service; `ConfigError` where its target is none."""
        if self._recorder is None:
            return self._connect(service)
        return self._recorder.connect(service, partial(self._connect, service))

    def _connect(self, service: StageService) -> Connector:
        call = service.call
        target: Any = call.target
        if not isinstance(target, msgspec.Struct) and hasattr(target, "send"):
            connector: Connector = target
            return connector
        try:
            return make_options(call).build(self._context(service))
        except ConfigError as error:
            raise ConfigError(error.what, key=error.key or service.name) from None

    def broker(self, store: Store) -> BrokerWakeUps | None:
        """Return the way for hints by the broker; None where no replicas share the store."""
        if self._messages is None or not is_shared(store):
            return None
        broker = BROKERS.load(self._messages.partition("://")[0])
        return broker(self._messages, self._share, self._assistant)

    def _context(self, service: StageService) -> ServiceContext:
        return ServiceContext(
            name=service.name,
            batched=service.batch_size > 1,
            together=isinstance(service, CandidateAnnotator) and service.together,
            max_in_flight=service.max_in_flight,
            assistant=self._assistant,
            broker=self._messages,
            share=self._share,
            connect=lambda target: self._connect(replace(service, target=target)),
            skills=self._profiles(),
            records=self._records,
        )

    def _profiles(self) -> list[AgentProfile]:
        """Return the description of each skill; functions that it names are imported."""
        return [
            AgentProfile(
                name=one.name,
                card=one.card_members,
                continues=_own_function(one, "continues"),
                vocabulary=_own_function(one, "vocabulary"),
            )
            for one in self._skills
        ]

    def _share(self, key: Hashable, make: Callable[[], Any]) -> Any:
        if key not in self._shared:
            self._shared[key] = make()
        return self._shared[key]


def _own_function(service: StageService, option: str) -> Callable[[Any], Any] | None:
    """Return the value of a skill's option, else the attribute of its function with that name."""
    given = getattr(service, option, None)
    if isinstance(given, str):
        given = resolve(given)
    found: Callable[[Any], Any] | None = given or getattr(service.call.target, option, None)
    return found


def connect(service: StageService) -> Connector:
    """Make the connector of a service by itself; `ConfigError` where its target is none."""
    return ServiceWiring().connect(service)
