"""Settings: everything that a file says about an assistant, checked and with its defaults."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Final, Protocol

import msgspec
from msgspec import Meta

from prolocutor.assistant.assistant_settings import (
    DEFAULTS,
    REPLICA,
    KeptRecords,
    RecordSettings,
    ReplicaSettings,
    TurnSettings,
)
from prolocutor.bounds import Count, about
from prolocutor.errors import ConfigError
from prolocutor.plan.pipeline import (
    PendingTarget,
    Pipeline,
    Skill,
    StageService,
)
from prolocutor.processes.supervisor import ProcessCommand
from prolocutor.web.client_address import read_network
from prolocutor.web.limits import ListenerLimits

LOOPBACK: Final = ("127.", "::1", "localhost")
"""Beginnings of the names of hosts that only this machine can reach."""

NOBODY: Final = Skill(PendingTarget(), name="nobody")
"""The placeholder for the skills of a faulty file."""

ORIGIN: Final = r"\*|https?://[^\s/?#@*]+"


class ProcessTarget(PendingTarget, frozen=True):
    """A path of a process started by the assistant.

    The `target` of a service until the process runs and its address is known.
    """

    process: Annotated[
        str, about("The name of a process under `processes`.", what="the name of a process")
    ]
    path: Annotated[
        str,
        Meta(pattern=r"/\S*"),
        about("The path of the calls at the process.", what="a path that starts with /"),
    ] = "/"


def _read_keys(value: object) -> dict[str, str]:
    """Return the names of operators by their keys, "" for a key without a name."""
    if isinstance(value, dict):
        if not all(isinstance(key, str) and key.strip() for key in value.values()):
            raise ValueError("a key")
        if not all(1 <= len(name) <= 100 for name in value):
            raise ValueError("an operator's name of at most 100 characters")
        return {key: name for name, key in value.items()}
    if not isinstance(value, list):
        raise ValueError("a list of keys, or a map from operators to their keys")
    if any(isinstance(key, int | float) and not isinstance(key, bool) for key in value):
        raise ConfigError("expected a key, found a number: put it in quotes")
    if not all(isinstance(key, str) and key.strip() for key in value):
        raise ValueError("a key")
    return dict.fromkeys(value, "")


class AuthSettings(msgspec.Struct, frozen=True):
    """Who has access: operators by `keys` (key -> name), persons by `tokens` (token -> user).

    `sign_in` are the ways in which people sign in, by the name of the plug-in: its options.
    """

    keys: Annotated[
        dict[str, str],
        about(
            "The keys of operators, who may be any user: a list, or a map from the names that stand"
            " beside what they say and do to their keys.",
            what="a list of keys, or a map from names to keys",
            reads=_read_keys,
            secret=True,
            form={"type": ["array", "object"], "items": {"type": "string"}},
        ),
    ] = {}
    tokens: Annotated[
        dict[Annotated[str, about("", what="a token", secret=True)], str],
        about(
            "The tokens of persons, each with the user's name.",
            what="a map from tokens to users",
            item="a user's name",
        ),
    ] = {}
    anonymous: Annotated[
        bool, about("Whether a caller without key and token becomes a new person.")
    ] = False
    loopback: Annotated[
        bool | None,
        about(
            "Whether a caller on this machine is an operator without a key; by default where there"
            " are no keys, tokens and ways to sign in, and no `anonymous`. `true` is an error"
            " beside `anonymous` or a `host` that others reach."
        ),
    ] = None
    sign_in: Annotated[Mapping[str, Any], about("", hidden=True)] = {}
    everybody: Annotated[bool, about("", hidden=True)] = False

    @property
    def is_closed(self) -> bool:
        """Return whether keys, tokens or a sign-in limit the visitors."""
        return bool(self.keys or self.tokens or self.sign_in)

    def __repr__(self) -> str:
        return f"<Auth: {len(self.keys)} keys, {len(self.tokens)} tokens>"


class Limits(ListenerLimits, frozen=True):
    """How much is taken: by the listener, and by the assistant."""

    text: Annotated[Count, about("The largest input.", unit="characters")] = DEFAULTS.max_text
    queue: Annotated[
        Count, about("The greatest number of waiting inputs of one person.", unit="inputs")
    ] = DEFAULTS.queue_limit


def _read_proxies(value: object) -> tuple[str, ...]:
    """Return addresses and networks of proxies."""
    proxies = []
    for proxy in value if isinstance(value, list) else [value]:
        if not isinstance(proxy, str):
            raise ValueError("a list of addresses and networks such as 10.0.0.0/8")
        read_network(proxy)
        proxies.append(proxy)
    return tuple(proxies)


class Addition(Protocol):
    """What a key of a plug-in, at the top of a file, does to the pipeline."""

    def added_to(self, pipeline: Pipeline) -> Pipeline:
        """Return the pipeline with what the key adds."""


class Settings(TurnSettings, frozen=True, kw_only=True):
    """An assistant as described by its file: settings, pipeline, address."""

    store: Annotated[
        Annotated[str, Meta(pattern=r"memory|[a-z][a-z0-9+.-]*:.*")] | None,
        about(
            "Where dialogs are kept: `sqlite:///dialogs.db` (beside the file),"
            " `sqlite:////var/lib/x.db`, `memory` (until the end of the process), or the URL of"
            " another store; by default one of the file's own in the user's data folder.",
            what="a store's URL such as sqlite:///dialogs.db",
        ),
    ] = None
    records: KeptRecords = RecordSettings()
    replica: Annotated[
        ReplicaSettings, about("The settings of this process where several share a store.")
    ] = REPLICA
    host: Annotated[
        str,
        Meta(pattern=r"[^\s/]+"),
        about("The address to listen on.", what="a host's name or address"),
    ] = "127.0.0.1"
    port: Annotated[
        int, Meta(ge=0, le=65_535), about("The port; 0 takes a free one.", what="a port")
    ] = 4242
    metrics_host: Annotated[
        str,
        Meta(pattern=r"[^\s/]+"),
        about(
            "The address of `metrics_port`. No key is needed there: let only monitoring reach it.",
            what="a host's name or address",
        ),
    ] = "127.0.0.1"
    metrics_port: Annotated[
        Annotated[int, Meta(ge=0, le=65_535)] | None,
        about(
            "A port that serves `/metrics`, `/health/live` and `/health/ready`, and nothing else;"
            " 0 takes a free one.",
            what="a port",
        ),
    ] = None
    auth: Annotated[AuthSettings, about("Keys, tokens and other ways to sign in.")] = AuthSettings()
    origins: Annotated[
        list[Annotated[str, Meta(pattern=ORIGIN)]],
        about(
            "The sites whose web pages may talk to this assistant, by requests (CORS) and"
            ' WebSockets, such as `https://chat.example.org`, or `"*"` for all. A page of `"*"`'
            " needs a key or a token, also on this machine.",
            what="a list of origins",
            item="an origin such as https://example.org, or *",
            single=True,
        ),
    ] = msgspec.field(default_factory=list)
    limits: Annotated[Limits, about("Limits to the size and number of requests.")] = Limits()
    trusted_proxies: Annotated[
        tuple[str, ...],
        about(
            "Proxies whose `X-Forwarded-For` or `Forwarded` says who the client is, for limits and"
            " logs: the right-most address that is not a trusted proxy's. No connection from there"
            " is an operator without a key.",
            what="a list of addresses and networks",
            reads=_read_proxies,
            form={"type": ["array", "string"], "items": {"type": "string"}},
        ),
    ] = ()
    processes: Annotated[
        dict[
            Annotated[
                str,
                Meta(pattern=r"[\w-]+"),
                about("", what="a name of letters, digits, _ and -"),
            ],
            ProcessCommand,
        ],
        about(
            "Programs that the assistant starts, watches and ends.",
            what="a map from names to processes",
        ),
    ] = msgspec.field(default_factory=dict)
    doors: Annotated[
        dict[str, Any] | None,
        about("The doors to open, with their options; by default the usual ones."),
    ] = None
    languages: Annotated[
        str | None,
        about(
            "A folder of further languages: one folder each, with `words.yaml` and"
            " `sentences.yaml`.",
            what="a folder",
        ),
    ] = None
    starters: Annotated[
        list[str],
        about(
            "The suggestions of the chat page; by default two examples of the cards of "
            "the skills that were asked most of late.",
            item="a text to begin with",
        ),
    ] = msgspec.field(default_factory=list)
    pipeline: Annotated[Pipeline, about("", hidden=True)]
    additions: Annotated[Sequence[Addition], about("", hidden=True)] = ()
    file: Annotated[str, about("", hidden=True)] = ""
    folder: Annotated[
        Path, about("The folder of the file, in which its modules are looked for.", hidden=True)
    ] = Path()

    def resolve_processes(self, urls: Mapping[str, str]) -> Pipeline:
        """Return the pipeline with the addresses of processes in its services' targets.

        `urls`: the base URL of each process by name; `ConfigError` for one that is missing.
        """
        return self.pipeline.change_services(lambda one: _resolve_process(one, urls))


def _resolve_process(service: StageService, urls: Mapping[str, str]) -> StageService:
    target = service.call.target
    if not isinstance(target, ProcessTarget):
        return service
    if target.process not in urls:
        raise ConfigError(f"the process '{target.process}' of '{service.name}' is not running")
    url = f"{urls[target.process].rstrip('/')}/{target.path.lstrip('/')}"
    return service.calling(url)
