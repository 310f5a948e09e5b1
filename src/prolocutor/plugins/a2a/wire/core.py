"""The objects of A2A 1.0 as Structs, in its JSON form.

Source: the A2A protocol, version 1.0 (`a2a.proto` and its ProtoJSON). Names of fields are written
in camel case, defaults are left out, unknown fields are ignored.
"""

from __future__ import annotations

import re
from typing import Any, Final

import msgspec
from msgspec import UNSET, UnsetType

from prolocutor.dialog.plain import JsonObject

VERSION: Final = "1.0"
LEGACY_VERSION: Final = "0.3"
JSONRPC: Final = "JSONRPC"
REST: Final = "HTTP+JSON"
CARD_PATH: Final = "/.well-known/agent-card.json"
VERSION_HEADER: Final = "A2A-Version"

USER: Final = "ROLE_USER"
AGENT: Final = "ROLE_AGENT"

SUBMITTED: Final = "TASK_STATE_SUBMITTED"
WORKING: Final = "TASK_STATE_WORKING"
COMPLETED: Final = "TASK_STATE_COMPLETED"
FAILED: Final = "TASK_STATE_FAILED"
CANCELED: Final = "TASK_STATE_CANCELED"
INPUT_REQUIRED: Final = "TASK_STATE_INPUT_REQUIRED"
REJECTED: Final = "TASK_STATE_REJECTED"
AUTH_REQUIRED: Final = "TASK_STATE_AUTH_REQUIRED"

STATES: Final = frozenset(
    {
        SUBMITTED,
        WORKING,
        COMPLETED,
        FAILED,
        CANCELED,
        INPUT_REQUIRED,
        REJECTED,
        AUTH_REQUIRED,
    }
)
TERMINAL: Final = frozenset({COMPLETED, FAILED, CANCELED, REJECTED})
RUNNING: Final = frozenset({SUBMITTED, WORKING})

_BASE64: Final = re.compile(r"[A-Za-z0-9+/_-]*={0,2}")

_FREE: Final = frozenset({"data", "metadata", "params", "header"})
"""Fields whose values are any JSON."""


class _Wire(msgspec.Struct, kw_only=True, rename="camel", omit_defaults=True):
    """An object of the protocol."""


class A2aPart(_Wire):
    """A part: exactly one of `text`, `raw` (base64), `url` and `data` (any JSON)."""

    text: str | None = None
    raw: str | None = None
    url: str | None = None
    data: Any | UnsetType = UNSET
    filename: str | None = None
    media_type: str | None = None
    metadata: JsonObject | None = None

    @property
    def has_content(self) -> bool:
        """Whether exactly one of the four contents is set."""
        given = (self.text, self.raw, self.url)
        return sum(one is not None for one in given) + (self.data is not UNSET) == 1

    @property
    def is_encoded(self) -> bool:
        """Whether `raw`, if set, is base64 of either alphabet."""
        return self.raw is None or (
            len(self.raw.rstrip("=")) % 4 != 1 and _BASE64.fullmatch(self.raw) is not None
        )


class A2aMessage(_Wire):
    """A message of a client or an agent."""

    message_id: str = ""
    context_id: str = ""
    task_id: str = ""
    role: str = ""
    parts: list[A2aPart] = []
    metadata: JsonObject | None = None
    extensions: list[str] = []
    reference_task_ids: list[str] = []


class A2aStatus(_Wire):
    """The state of a task (`TASK_STATE_...`), its time, and the agent's message about it."""

    state: str = ""
    message: A2aMessage | None = None
    timestamp: str | None = None


class A2aArtifact(_Wire):
    """A result of a task."""

    artifact_id: str = ""
    name: str = ""
    description: str = ""
    parts: list[A2aPart] = []
    metadata: JsonObject | None = None
    extensions: list[str] = []


class A2aTask(_Wire):
    """A task: its state, its results, and the messages so far."""

    id: str = ""
    context_id: str = ""
    status: A2aStatus = msgspec.field(default_factory=A2aStatus)
    artifacts: list[A2aArtifact] = []
    history: list[A2aMessage] = []
    metadata: JsonObject | None = None


class A2aStatusUpdate(_Wire):
    """An event of a stream: the state of a task has changed."""

    task_id: str = ""
    context_id: str = ""
    status: A2aStatus = msgspec.field(default_factory=A2aStatus)
    metadata: JsonObject | None = None


class A2aArtifactUpdate(_Wire):
    """An event of a stream: an artifact, or more parts of it (`append`)."""

    task_id: str = ""
    context_id: str = ""
    artifact: A2aArtifact = msgspec.field(default_factory=A2aArtifact)
    append: bool = False
    last_chunk: bool = False
    metadata: JsonObject | None = None


class A2aEvent(_Wire):
    """The result of sending a message, or an event of a stream: exactly one of the four fields."""

    task: A2aTask | None = None
    message: A2aMessage | None = None
    status_update: A2aStatusUpdate | None = None
    artifact_update: A2aArtifactUpdate | None = None


class A2aAuthentication(_Wire):
    """The authentication at a webhook: a scheme of HTTP and its credentials."""

    scheme: str = ""
    credentials: str = ""


class A2aPushConfig(_Wire):
    """A webhook that receives the updates of a task."""

    tenant: str = ""
    id: str = ""
    task_id: str = ""
    url: str = ""
    token: str = ""
    authentication: A2aAuthentication | None = None


class A2aConfiguration(_Wire):
    """The way in which a client wants its message answered."""

    accepted_output_modes: list[str] = []
    task_push_notification_config: A2aPushConfig | None = None
    history_length: int | None = None
    return_immediately: bool = False


class A2aSendParams(_Wire):
    """The request to send a message."""

    tenant: str = ""
    message: A2aMessage | None = None
    configuration: A2aConfiguration = msgspec.field(default_factory=A2aConfiguration)
    metadata: JsonObject | None = None


class A2aTaskParams(_Wire):
    """A request about one task."""

    tenant: str = ""
    id: str = ""
    history_length: int | None = None
    metadata: JsonObject | None = None


class A2aListParams(_Wire):
    """A request for tasks, the latest first."""

    tenant: str = ""
    context_id: str = ""
    status: str = ""
    page_size: int | None = None
    page_token: str = ""
    history_length: int | None = None
    status_timestamp_after: str | None = None
    include_artifacts: bool = False


class A2aTaskList(msgspec.Struct, kw_only=True, rename="camel"):
    """One page of tasks; every field is written."""

    tasks: list[A2aTask] = []
    next_page_token: str = ""
    page_size: int = 0
    total_size: int = 0


class A2aPushParams(_Wire):
    """A request about the webhooks of a task; `id` is the webhook's."""

    tenant: str = ""
    task_id: str = ""
    id: str = ""
    page_size: int | None = None
    page_token: str = ""


class A2aPushList(_Wire):
    """The webhooks of a task."""

    configs: list[A2aPushConfig] = []
    next_page_token: str = ""


def parts_text(parts: list[A2aPart]) -> str:
    """Return the texts of parts, joined as the pieces of one text."""
    return "".join([part.text for part in parts if part.text is not None])


def drop_nulls(value: Any) -> Any:
    """Return a JSON value without null members, except in data, where null may have a meaning."""
    if isinstance(value, dict):
        return {
            key: one if key in _FREE else drop_nulls(one)
            for key, one in value.items()
            if one is not None or key == "data"
        }
    if isinstance(value, list):
        return [drop_nulls(one) for one in value]
    return value
