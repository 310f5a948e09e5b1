"""Connector: the way to a service.

Life cycle: the assistant makes a connector when it is built (no traffic, no event loop needed),
calls `send` any number of times and from many turns at once, and `aclose` once at the end. `send`
may be cancelled at any await; it must then leave nothing behind to disturb a later call.
A connector whose service streams hands the words on as they come, where the request has `deltas`.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Annotated, Any, ClassVar, Protocol, runtime_checkable

import msgspec

from prolocutor.bounds import about, check_bounds
from prolocutor.contracts.store import RecordStore
from prolocutor.dialog.plain import JsonObject, Plain
from prolocutor.errors import ConfigError, ServiceError

Replies = Sequence[Plain | ServiceError]
"""One checked reply, or one error, for each request of a call, in their order."""

BearerKey = Annotated[str | None, about("Sent as a bearer token.", secret=True, what="a key")]
Headers = Annotated[
    dict[str, str] | None, about("Headers of every request.", what="a map of headers")
]
Confidence = Annotated[float, about("The confidence of a hypothesis that has none of its own.")]


class Caller(Protocol):
    """Calls a service under its guard: time-out, breaker, places in flight."""

    async def call(
        self,
        service: str,
        request: dict[str, Any],
        *,
        timeout: float,
        stage: str | None = None,
        key: str | None = None,
        formatted: bool = False,
    ) -> Any:
        """Ask the service and return its checked reply; raise `ServiceError`.

        Services of several stages may have one name: `stage` says which is meant (as in YAML,
        `annotators`); None: the skill of the name comes first, then the first service in declared
        order. `key` is the `Idempotency-Key` (`<turn id>/<service>[/n]`), the same in a second run;
        None: one of its own. `formatted`: the request is an agent state, for the service's
        formatters.
        """


class DeltaSink(Protocol):
    """Takes the words of a reply while it is made, from a streaming connector.

    The pieces, joined, have to be the beginning of the reply's text; the reply
    itself is given whole in the end, as ever. Pieces are provisional: they may be shown to nobody,
    or taken back. Both methods return at once, raise nothing, and are called in the event loop's
    thread.
    """

    def add(self, text: str, confidence: float | None = None) -> None:
        """Add words; `confidence` is the reply's, where it is known ahead."""

    def restart(self) -> None:
        """Take back all words so far: the reply is made anew."""


class Request(Protocol):
    """A call of a service: the request as data and as JSON, with its ids and time-out."""

    @property
    def service(self) -> str:
        """Name of the service."""

    @property
    def turn_id(self) -> str:
        """The id of the asking turn, 32 hex digits."""

    @property
    def key(self) -> str:
        """`<turn_id>/<service>[/n]`: the same when a turn is run again after a crash."""

    @property
    def timeout(self) -> float:
        """Seconds after which the answer is no longer used."""

    @property
    def deltas(self) -> DeltaSink | None:
        """Where words go while the reply is made; None where nobody could be shown them."""

    def value(self) -> Any:
        """Return a decoded copy of the request, which the caller may change."""

    def body(self) -> bytes:
        """Return the request as JSON."""


ImmediateAnswer = Callable[[Request], Plain | ServiceError]
"""Asks a service and returns its checked answer without waiting."""


class Connector(Protocol):
    """The way to a service of any kind, in this process or elsewhere.

    A connector that never waits may offer `answer` beside `send`, an `ImmediateAnswer`; in one that
    may wait it is None or missing. A connector with a service that gathers requests into batches by
    itself has `gathers_batches = True`: it is sent one request at a time, whatever `batch_size` is.
    A connector with agents that write Markdown has `format = "markdown"`.
    """

    async def send(self, requests: Sequence[Request]) -> Replies:
        """Ask the service and return one answer for each request, in their order.

        There is a single request unless the service has `batch_size > 1`. Every answer has been
        checked to be JSON (`plain.check`, `plain.parse`); an item that is not is a `ServiceError`
        in its place. A fault of all of them is raised as a `ServiceError`; nothing else
        is raised.
        """

    async def aclose(self) -> None:
        """Close connections, and end threads and child processes."""


def _make_own(key: Hashable, make: Callable[[], Any]) -> Any:
    del key  # nobody to share with
    return make()


def _connect_nothing(target: object) -> Connector:
    raise ConfigError(f"nothing reaches {target!r:.80} from here")


class Vocabulary(Protocol):
    """The words of an agent in one language, by which typing mistakes are mended."""

    @property
    def words(self) -> Iterable[str]:
        """The words of the agent, its names of things among them."""

    @property
    def complete(self) -> bool:
        """Whether hardly any word of the language is unknown to it."""

    def knows(self, word: str) -> bool:
        """Return whether another word, in lower case, is right as it is."""


class AgentProfile(msgspec.Struct, frozen=True, kw_only=True):
    """The description of a skill for functions of a pipeline.

    It has the name, the members of the card, the skill's own rule for follow-ups (its arguments
    are those of `continues` of a skill), and its words by language.
    """

    name: str
    card: JsonObject = {}
    continues: Callable[[Any], str | None] | None = None
    vocabulary: Callable[[str], Vocabulary] | None = None


class ServiceContext(msgspec.Struct, frozen=True, kw_only=True):
    """The service for which a connector is made, and its assistant.

    - `batched`: requests come several at once.
    - `together`: the service gives a single reply for all hypotheses of a wave.
    - `max_in_flight`: calls at once.
    - `assistant`: the assistant's name, `broker` the URL of its message broker. `share(key, make)`
      returns an object shared by the connectors of this assistant, such as connections: the result
      of the first `make` with this key.
    - `connect` makes the connector of another target.
    - `skills` are the pipeline's.
    - `records` keeps documents in the assistant's store, such as tokens of people; None where there
      is no assistant.
    """

    name: str
    batched: bool = False
    together: bool = False
    max_in_flight: int = 64
    assistant: str = "assistant"
    broker: str | None = None
    share: Callable[[Hashable, Callable[[], Any]], Any] = _make_own
    connect: Callable[[Any], Connector] = _connect_nothing
    skills: Sequence[AgentProfile] = ()
    records: RecordStore | None = None


@runtime_checkable
class ConnectorOptions(Protocol):
    """The options of a connector, which make it; entry points of `prolocutor.connectors` name them.

    They are a frozen `msgspec.Struct` with keywords only; the annotations of its fields
    (`prolocutor.bounds.about`) are the only place where YAML keys, bounds, defaults and
    descriptions are written. As class variables it may have

    - `main`: the field that a bare `call` stands for; "url" where it has none
    - `beside`: fields that a file may write beside `call`, as keys of the service
    - `folder`, as a hidden field: where the file lies, so that programs are found from there
    - `rest`: the field, a map, that takes all keys that are not fields
    - `recognize(probe)`: an async class method, see `contracts.probe`
    - `guess(call)`, a class method: given a `call` (a text, list or map) that is not valid here,
      return the YAML to write instead, such as "websocket, call: ...", or None

    and as fields `name: str | None`, the service's name where it is made in Python. A connector
    whose agent can describe itself has `describes: ClassVar[bool] = True`.
    """

    def build(self, context: ServiceContext) -> Connector:
        """Make the connector, without any traffic; raise `ConfigError` where that cannot be."""


@runtime_checkable
class ChecksFile(Protocol):
    """Options with a check of other parts of the file."""

    def check(self, broker: str | None) -> None:
        """Raise `ConfigError` if the options need a broker and the file names none."""


class AgentOptions(msgspec.Struct, frozen=True, kw_only=True):
    """Options of a connector whose class `makes` it of them and of the service's name."""

    main: ClassVar[str] = "url"
    beside: ClassVar[tuple[str, ...]] = ()
    rest: ClassVar[str | None] = None
    describes: ClassVar[bool] = False
    makes: ClassVar[Callable[..., Any]]

    name: Annotated[
        str | None, about("The name of the service, where it is made in Python.", hidden=True)
    ] = None

    def build(self, context: ServiceContext) -> Connector:
        """Make the connector; raise `ConfigError` where that cannot be."""
        check_bounds(self)
        made: Connector = type(self).makes(self, name=context.name)
        return made


@runtime_checkable
class DescribingConnector(Connector, Protocol):
    """A connector that asks its agent for a description of itself."""

    async def describe(self) -> JsonObject:
        """Return the members of a card: a `description`, `examples`.

        `ConfigError` if the agent lacks a feature the connector needs, `ServiceError` if it
        does not answer.
        """
