"""Settings: everything that a file says about an assistant, checked and with its defaults."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from prolocutor.assistant.assistant_settings import (
    REPLICA,
    AssistantSettings,
    ReplicaSettings,
)
from prolocutor.assistant.record_settings import RecordSettings
from prolocutor.errors import ConfigError
from prolocutor.plan.pipeline import ORDER, SINGLE, PendingTarget, Pipeline, Service
from prolocutor.plugins.openid.openid_settings import OpenIdSettings
from prolocutor.processes.supervisor import ProcessCommand
from prolocutor.web.limits import ListenerLimits


class ProcessTarget(PendingTarget, frozen=True):
    """A path of one of the processes that the assistant starts.

    The `target` of a service until the process runs and its address is known.
    """

    process: str
    path: str = "/"


class AuthSettings(msgspec.Struct, frozen=True):
    """Who has access: operators by `keys` (key -> name), persons by `tokens` (token -> user).

    `anonymous`: whether a caller without a token becomes a new person. `loopback`: whether a caller
    on this machine is an operator without a key; None for as long as there are no keys and tokens.
    `openid`: the identity provider that people sign in with.
    """

    keys: dict[str, str] = {}
    tokens: dict[str, str] = {}
    anonymous: bool = False
    loopback: bool | None = None
    openid: OpenIdSettings | None = None

    @property
    def is_closed(self) -> bool:
        """Return whether it names who comes in, so that no other does."""
        return bool(self.keys or self.tokens or self.openid)

    def __repr__(self) -> str:
        return f"<Auth: {len(self.keys)} keys, {len(self.tokens)} tokens>"


class Settings(AssistantSettings, frozen=True, kw_only=True):
    """One assistant as its file describes it: its settings, its pipeline, where it is served.

    `store`: None for the usual place. `replica` counts where several processes share the store.
    `doors`: options by name of those to open; None for the usual ones. `folder`: where the file
    lies, and so where its modules are looked for. `trusted_proxies`: addresses and networks of
    proxies whose word for a client's address counts. `origins` are the sites
    whose pages may talk to it, `https://example.org`, or `*` for all. `starters` are what the chat
    page proposes to begin with.
    """

    store: str | None = None
    records: RecordSettings | None = RecordSettings()
    replica: ReplicaSettings = REPLICA
    host: str = "127.0.0.1"
    port: Annotated[int, Meta(ge=0, le=65_535)] = 4242
    auth: AuthSettings = AuthSettings()
    origins: list[str] = msgspec.field(default_factory=list)
    limits: ListenerLimits = ListenerLimits()
    trusted_proxies: tuple[str, ...] = ()
    processes: dict[str, ProcessCommand] = msgspec.field(default_factory=dict)
    doors: dict[str, dict[str, Any]] | None = None
    starters: list[str] = msgspec.field(default_factory=list)
    pipeline: Pipeline = Pipeline()
    file: str = ""
    folder: Path = Path()

    def with_urls(self, urls: Mapping[str, str]) -> Pipeline:
        """Return the pipeline with the address of every process put in its services' targets.

        `urls`: the base URL of each process by name; `ConfigError` for one that is missing.
        """
        changes: dict[str, Any] = {}
        for stage in (*ORDER, *SINGLE):
            services = [_with_url(service, urls) for service in self.pipeline.of(stage)]
            if services:
                changes[stage.value] = services
        if last_chance := changes.get("last_chance"):
            changes["last_chance"] = last_chance[0]
        return msgspec.structs.replace(self.pipeline, **changes)


def _with_url(service: Service, urls: Mapping[str, str]) -> Service:
    target = service.target
    if not isinstance(target, ProcessTarget):
        return service
    if target.process not in urls:
        raise ConfigError(f"the process '{target.process}' of '{service.name}' is not running")
    url = f"{urls[target.process].rstrip('/')}/{target.path.lstrip('/')}"
    return msgspec.structs.replace(service, target=url)
