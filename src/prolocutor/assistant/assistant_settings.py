"""AssistantSettings: the settings of an assistant beside its pipeline, with defaults and bounds."""

from __future__ import annotations

from typing import Annotated, Final, Literal

import msgspec
from msgspec import Meta

from prolocutor.assistant.handover_settings import HandoverSettings
from prolocutor.assistant.record_settings import RecordSettings
from prolocutor.bounds import MANY, Count, PositiveSeconds, check_bounds
from prolocutor.contracts.shared_store import DEFAULT_LEASE
from prolocutor.durations import DAY
from prolocutor.errors import ConfigError


class ReplicaSettings(msgspec.Struct, frozen=True, kw_only=True):
    """What a replica needs to know where several share a store.

    `lease`: seconds after its last sign of life until others take over its turns. `url` is where
    they reach it, "" if nowhere.
    """

    lease: Annotated[float, Meta(ge=0.2, le=DAY)] = DEFAULT_LEASE
    url: str = ""

    def check(self) -> None:
        """Raise a `ConfigError` that names the setting that is out of its bounds."""
        check_bounds(self)


class AssistantSettings(msgspec.Struct, frozen=True, kw_only=True):
    """The settings of an assistant, in Python and in a file; times are in seconds.

    `deadline` is when a reply is out, from the turn's start; `reserve` what is kept of it for all
    that follows the skills (None: a quarter of it, at most 1). `queue_timeout`: how long an input
    waits for earlier ones of the same person; `queue_limit`: how many wait; `max_text`: characters
    of one input. Turns that were cut off less than `recover_within` seconds ago are run once more.
    `max_attributes` of one profile. `switch_confidence`: how sure a skill must be to change the
    subject while another one waits for an answer. `messages`: the URL of the NATS servers by which
    workers and other replicas are reached. `handover`: of
    dialogs to operators. `records`: of turns, for operators; None where none are kept.
    """

    name: str = "assistant"
    durability: Literal["full", "relaxed"] = "full"
    deadline: Annotated[float, Meta(gt=0, le=DAY)] = 5.0
    reserve: Annotated[float, Meta(ge=0, le=DAY)] | None = None
    queue_timeout: PositiveSeconds = 30.0
    queue_limit: Count = 100
    max_text: Count = 100_000
    fallback: str = "Sorry, I have no answer to that."
    recover_within: Annotated[float, Meta(ge=0)] = 300.0
    max_attributes: Annotated[int, Meta(ge=0, le=MANY)] = 1000
    switch_confidence: Annotated[float, Meta(ge=0)] = 0.8
    messages: str | None = None
    handover: HandoverSettings = HandoverSettings()
    records: RecordSettings | None = None

    def check(self) -> None:
        """Raise a `ConfigError` that names the setting that is out of its bounds."""
        check_bounds(self)
        check_bounds(self.handover)
        if self.records is not None:
            check_bounds(self.records, path="records")
        if self.reserve is not None and self.reserve >= self.deadline:
            what = f"expected less than the deadline of {self.deadline:g}, found {self.reserve:g}"
            raise ConfigError(what, key="reserve")


DEFAULTS: Final = AssistantSettings()
REPLICA: Final = ReplicaSettings()
DEFAULT_STORE: Final = "sqlite:///dialogs.db"
