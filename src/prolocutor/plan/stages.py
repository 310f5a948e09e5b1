"""The stages of a pipeline, and the options of their services."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from enum import StrEnum
from typing import Annotated, Any, ClassVar, Final, Literal, Self

import msgspec
from msgspec import Meta

from prolocutor.bounds import Count, PositiveSeconds, Seconds, about
from prolocutor.contracts.connector import Connector, ConnectorOptions
from prolocutor.contracts.pairing import Card
from prolocutor.dialog.dialog import Hypothesis
from prolocutor.dialog.plain import JsonObject

SERVICE_NAME: Final = r"\w[\w .:@+-]{0,98}\w|\w"
"""The pattern of service names, which go into headers, metrics and the ids of hypotheses."""

NAME_RULE: Final = "a name of up to 100 letters, digits, spaces within and . _ - : + @"

_AWAITED: Final = "the name of a service or stage"
_FORMATTER: Final = "a formatter's name or module:function"

Commit = Literal["first_good", "last", "only", "never"]
"""When a skill's words may be shown before the turn is over."""

TextFormat = Literal["plain", "markdown"]

OnUnknown = Literal["ask_person", "ask_operator", "retry", "give_up"]
"""Ways to go on when nobody knows whether an action was carried out."""

ASKED: Final = "module:function, a URL or {call: ..., connector: ...}"

Function = Callable[..., Any]
Formatter = Callable[..., Any]
SkillReturn = Hypothesis | JsonObject | Sequence[Hypothesis | JsonObject]
"""The replies allowed to a skill: one hypothesis or several, typed or as plain data."""

SpokenReturn = AsyncIterator[str | SkillReturn] | Iterator[str | SkillReturn]
"""The items yielded by a streaming skill: the words of its reply, and the reply itself."""


class Stage(StrEnum):
    """A stage; its value is its key in YAML and the name by which `after` may call it."""

    ANNOTATOR = "annotators"
    SKILL_SELECTOR = "skill_selector"
    SKILL = "skills"
    CANDIDATE_ANNOTATOR = "candidate_annotators"
    RESPONSE_SELECTOR = "response_selector"
    POSTPROCESSOR = "postprocessors"
    RESPONSE_ANNOTATOR = "response_annotators"
    LAST_CHANCE = "last_chance"
    """A stage outside of the ordinary turn: the first fallback when the ordinary turn fails."""


ORDER: tuple[Stage, ...] = tuple(stage for stage in Stage if stage is not Stage.LAST_CHANCE)
SINGLE: frozenset[Stage] = frozenset(
    {Stage.SKILL_SELECTOR, Stage.RESPONSE_SELECTOR, Stage.LAST_CHANCE}
)
"""Stages that mostly have a single service: YAML gives it without a map of names."""


class PendingTarget(msgspec.Struct, frozen=True):
    """A target of a file that is known when the assistant is built, which puts it in its place."""


class Call(msgspec.Struct, frozen=True):
    """How a service is called: the target, the connector to it, and the connector's options.

    Without a `connector` the form of the target decides. The options are checked by the connector
    only.
    """

    target: Callable[..., Any] | str | Connector | ConnectorOptions | PendingTarget
    connector: str | None = None
    options: JsonObject = {}


Target = Callable[..., Any] | str | Call | Connector | ConnectorOptions | PendingTarget
"""A Python function, its dotted name `module:function`, a URL, a connector or a connector's
options, or a `Call` with details.
"""


def _read_asked(value: object) -> object:
    """Return the persons or service to ask beside a skill, as given in a file."""
    if isinstance(value, str) and ":" in value:
        return value
    if isinstance(value, dict) and ("call" in value or "connector" in value):
        return value
    raise ValueError(ASKED)


class Breaker(msgspec.Struct, frozen=True, kw_only=True):
    """When to leave a failing service alone."""

    failures: Annotated[
        Count, about("The number of failures in a row that opens the breaker.", unit="failures")
    ] = 5
    window: Annotated[PositiveSeconds, about("The time within which these failures happen.")] = 30.0
    cooldown: Annotated[Seconds, about("The time without calls; then one call is tried.")] = 10.0


class _Named(msgspec.Struct, frozen=True, kw_only=True):
    name: Annotated[
        str, Meta(pattern=SERVICE_NAME), about("Its name; by default its target's.", what=NAME_RULE)
    ] = ""


class _Called(_Named, frozen=True):
    target: Annotated[Target, about("The target of the calls.", hidden=True)]


class Canary(msgspec.Struct, frozen=True, kw_only=True):
    """The persons for whom a new service takes the place of another service of its stage."""

    expected: ClassVar[str] = "a canary ({instead_of: ..., share: ...})"

    agent: Annotated[
        str, about("The new skill; by default the service itself.", what="the name of a skill")
    ] = ""
    instead_of: Annotated[
        str, about("The service in whose place it is asked.", what="the name of a service")
    ]
    share: Annotated[
        float,
        Meta(ge=0, le=1),
        about(
            "The share of persons who get the new skill; the choice for a person does not change."
        ),
    ] = 0.1


class Shadow(msgspec.Struct, frozen=True, kw_only=True):
    """How often a service is asked without being shown; each process counts by itself."""

    expected: ClassVar[str] = "true or false, or its caps ({calls_per_minute: ...})"

    calls_per_minute: Annotated[
        Count, about("The greatest number of calls a minute.", unit="calls")
    ] = 60
    cost_per_day: Annotated[
        float,
        Meta(ge=0),
        about("The highest cost of the calls in 24 hours, by the price on the service's card."),
    ] = 1.0

    @classmethod
    def from_short(cls, value: object) -> Shadow | None:
        """Return the default caps for true, None (no shadow) for false."""
        if not isinstance(value, bool):
            raise ValueError(cls.expected)
        return cls() if value else None


class StageService(_Called, frozen=True, kw_only=True):
    """A service at some stage: its target, requests, predecessors and time-outs."""

    after: Annotated[
        Sequence[str] | None,
        about(
            "Services or stages to wait for, whatever becomes of them; by default the previous"
            " stage that is not empty. An empty list starts at once.",
            item=_AWAITED,
            single=True,
        ),
    ] = None
    requires: Annotated[
        Sequence[str],
        about(
            "Services or stages to wait for; this service is skipped unless all of them are done.",
            item=_AWAITED,
            single=True,
        ),
    ] = ()
    timeout: Annotated[PositiveSeconds, about("The time for one call, retries included.")] = 2.0
    window: Annotated[
        Count | Literal["all"] | None,
        about(
            "The number of utterances that the service is shown.",
            unit="utterances",
            words={"all": None},
        ),
    ] = 5
    context: Annotated[
        Literal["own", "all", "none"],
        about(
            "The turns of the window that the service is shown: those in which it spoke, "
            "all, or the present turn alone."
        ),
    ] = "all"
    formatter: Annotated[
        Formatter | str | None,
        about("The formatter, which makes the request out of the agent state.", what=_FORMATTER),
    ] = None
    formatter_options: Annotated[
        JsonObject | None, about("Further arguments of the formatter.", what="a map of arguments")
    ] = None
    response_formatter: Annotated[
        Formatter | str | None,
        about(
            "The formatter of replies, which brings a reply into the shape of the stage, or "
            "returns effects.",
            what=_FORMATTER,
        ),
    ] = None
    response_formatter_options: Annotated[
        JsonObject | None,
        about("Further arguments of the response formatter.", what="a map of arguments"),
    ] = None
    fan_out: Annotated[
        bool,
        about("Whether the formatter returns a list with the request of each of several calls."),
    ] = False
    rewrites: Annotated[
        bool,
        about(
            "Whether a follow-up is shown as the whole question, with the person's words as "
            "`orig_text`."
        ),
    ] = False
    lingers: Annotated[
        Seconds,
        about(
            "The longest time that the service, otherwise ready, waits for annotations "
            "of the previous reply."
        ),
    ] = 0.0
    batch_size: Annotated[
        int,
        Meta(ge=1, le=10_000),
        about(
            "The greatest number of requests in one call; above 1 the service takes and "
            "gives lists.",
            unit="requests",
        ),
    ] = 1
    retries: Annotated[
        int,
        Meta(ge=0, le=1_000),
        about(
            "The number of further attempts after an error, with growing pauses.", unit="attempts"
        ),
    ] = 0
    max_in_flight: Annotated[
        int,
        Meta(ge=1, le=100_000),
        about("The greatest number of calls running at once; as many more may wait.", unit="calls"),
    ] = 64
    rerun: Annotated[
        bool,
        about("Whether the service may be called again when a turn is run again after a crash."),
    ] = True
    breaker: Annotated[
        Breaker, about("The circuit breaker: when a failing service is no longer called.")
    ] = Breaker()
    label: Annotated[
        str | None,
        about(
            "The label of its replies and annotations, by which selectors name the "
            "service; by default its name.",
            what="the name of an annotation",
        ),
    ] = None
    card: Annotated[
        Card | JsonObject | None,
        about(
            "The abilities of the service and the cost of a call, for selectors by "
            "pairing and for people.",
            json=True,
        ),
    ] = None

    def __post_init__(self) -> None:
        if self.window == "all":
            msgspec.structs.force_setattr(self, "window", None)
        if not self.name:
            msgspec.structs.force_setattr(self, "name", target_name(self.target))

    @property
    def call(self) -> Call:
        """How it is called."""
        return self.target if isinstance(self.target, Call) else Call(self.target)

    @property
    def card_members(self) -> JsonObject:
        """The members of the card by key; empty without a card."""
        return self.card.members if isinstance(self.card, Card) else self.card or {}

    @property
    def last(self) -> int | None:
        """The number of last utterances in the requests; None: all."""
        return None if self.window == "all" else self.window

    def calling(self, target: Target) -> Self:
        """Return the same with another target, which is called in the same way."""
        if isinstance(self.target, Call) and not isinstance(target, Call):
            target = msgspec.structs.replace(self.target, target=target)
        return msgspec.structs.replace(self, target=target)


class Annotator(StageService, frozen=True, kw_only=True):
    """Annotates the human's words before the skills are asked."""

    readings: Annotated[
        int,
        Meta(ge=0, le=10),
        about(
            "Of the first annotator with the label `follow_up`: the most readings of the words "
            "that it is asked for after the first, when no skill answers.",
            unit="readings",
        ),
    ] = 3


class TriedService(StageService, frozen=True, kw_only=True):
    """A service that may be tried out beside another service of its stage."""

    canary: Annotated[
        Canary | None,
        about("The canary: the service takes the place of another service for a share of persons."),
    ] = None
    shadow: Annotated[
        Shadow | None,
        about(
            "The shadow: the service is asked after the reply, and its answer is not shown; "
            "true, or the limits."
        ),
    ] = None

    def __post_init__(self) -> None:
        super().__post_init__()
        shadow: object = self.shadow
        if isinstance(shadow, bool):
            msgspec.structs.force_setattr(self, "shadow", Shadow.from_short(shadow))


class SkillSelector(TriedService, frozen=True, kw_only=True):
    """Chooses the skills to ask."""

    empty: Annotated[
        Literal["nobody", "all"] | None,
        about("The meaning of an empty list: no skills, or, with `wire: deeppavlov`, all skills."),
    ] = None
    commit: Annotated[
        Commit | None,
        about(
            "When words are shown before the turn is over; by default as at the top of the file."
        ),
    ] = None

    @property
    def empty_means_all(self) -> bool:
        """Whether an empty list of names means all skills."""
        target = self.call.target
        wire = self.call.options.get("wire", getattr(target, "wire", "native"))
        return wire == "deeppavlov" if self.empty is None else self.empty == "all"


class Skill(TriedService, frozen=True, kw_only=True):
    """A way to an agent, which answers with hypotheses."""

    always: Annotated[
        bool, about("Whether the skill is asked whatever the skill selectors say.")
    ] = False
    continues: Annotated[
        Function | str | None,
        about(
            "The skill's own rule for follow-ups: a function of the turn that returns "
            "the whole question, or None.",
            what="module:function",
        ),
    ] = None
    vocabulary: Annotated[
        Function | str | None,
        about(
            "The words by which typing mistakes are mended: a function of the code of a language.",
            what="module:function",
        ),
    ] = None
    icon: Annotated[str | None, about("The icon: a file or URL.", what="a file or URL")] = None
    format: Annotated[
        TextFormat | None, about("The markup of its texts; by default as its connector says.")
    ] = None
    acts: Annotated[
        bool,
        about(
            "Whether its calls do something, such as a booking: each is an effect, which is kept in"
            " the ledger and never started twice on its own."
        ),
    ] = False
    idempotent: Annotated[
        bool,
        about(
            "Whether the service does a thing only once when it is asked twice with the "
            "same key. Then it is simply asked again."
        ),
    ] = False
    reconcile: Annotated[
        Function | str | JsonObject | None,
        about(
            "Who knows what became of an effect: it gets `{key, service, turn_id}` and gives"
            ' `{"state": "done" | "not_done" | "unknown"}`.',
            what=ASKED,
            reads=_read_asked,
            form={"type": ["string", "object"]},
        ),
    ] = None
    on_unknown: Annotated[
        OnUnknown,
        about("The reaction when it is unknown whether an effect took place."),
    ] = "ask_person"
    approve: Annotated[
        Literal["person", "operator", "rule"] | None,
        about(
            "Who approves an effect before it is started; where a `rule` does not, the "
            "person is asked."
        ),
    ] = None
    rule: Annotated[
        str | None,
        about(
            "The effects that need no further approval: a comparison of their fields.",
            what="a comparison such as amount < 20",
        ),
    ] = None
    preview: Annotated[
        Function | str | JsonObject | None,
        about(
            "The function that describes an effect before it is approved: it gets the "
            "request and returns `{fields: {...}, title?}`, or null if there would be "
            "no effect.",
            what=ASKED,
            reads=_read_asked,
            form={"type": ["string", "object"]},
        ),
    ] = None
    approve_within: Annotated[
        PositiveSeconds, about("The time for which an effect waits for its approval.")
    ] = 86_400.0


class CandidateAnnotator(StageService, frozen=True, kw_only=True):
    """Annotates each hypothesis."""

    together: Annotated[
        bool,
        about(
            "Whether the annotator is asked once for all hypotheses of a wave, and returns a list."
        ),
    ] = False


class ResponseSelector(TriedService, frozen=True, kw_only=True):
    """Chooses the reply among the hypotheses, or composes it from them."""

    commit: Annotated[
        Commit | None,
        about(
            "When words are shown before the turn is over; by default as at the top of the file."
        ),
    ] = None


class Postprocessor(StageService, frozen=True, kw_only=True):
    """Changes the text of the reply."""


class ResponseAnnotator(StageService, frozen=True, kw_only=True):
    """Annotates the reply before it is stored."""


class LastChance(StageService, frozen=True, kw_only=True):
    """Replies when the ordinary turn has no reply."""

    before_confidence: Annotated[
        bool,
        about(
            "Whether the service is asked before the most confident hypothesis is "
            "taken, not only if there is none."
        ),
    ] = True
    icon: Annotated[str | None, about("The icon: a file or URL.", what="a file or URL")] = None
    format: Annotated[
        TextFormat | None, about("The markup of its texts; by default as its connector says.")
    ] = None


STAGE_TYPES: Final[dict[Stage, type[StageService]]] = {
    Stage.ANNOTATOR: Annotator,
    Stage.SKILL_SELECTOR: SkillSelector,
    Stage.SKILL: Skill,
    Stage.CANDIDATE_ANNOTATOR: CandidateAnnotator,
    Stage.RESPONSE_SELECTOR: ResponseSelector,
    Stage.POSTPROCESSOR: Postprocessor,
    Stage.RESPONSE_ANNOTATOR: ResponseAnnotator,
    Stage.LAST_CHANCE: LastChance,
}


class CallOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The options of calling a target, given to a `Service` beside the target.

    Each is documented at the options of the connectors.
    """

    connector: str | None = None
    wire: Literal["native", "deeppavlov"] = "native"
    inline: bool = False
    process: bool = False
    instead: str | None = None
    worker: str | None = None


def target_name(target: object) -> str:
    """Return the name of a target: a function's name, or the target's own; "" without a name."""
    if isinstance(target, Call):
        return target_name(target.target)
    if isinstance(target, str):
        name: object = target.rpartition(":")[2].rpartition(".")[2] if "//" not in target else ""
    else:
        name = getattr(target, "__name__", None) or getattr(target, "name", "")
    return name if isinstance(name, str) and name.isidentifier() else ""
