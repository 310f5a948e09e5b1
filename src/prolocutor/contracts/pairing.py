"""Pairing: which agent to ask (router), whose answer is best (ranker), and their training data.

Life cycle: a router or ranker is made ready (from cards, or from a model's folder) before the first
turn; `route` and `rank` are then called by many turns at once, are read-only, and raise nothing for
any text. Methods with waiting in them (a chat endpoint chooses) are async; callers take either.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Hashable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, Protocol, TypeVar

import msgspec

from prolocutor.bounds import about
from prolocutor.contracts.observer import Observer
from prolocutor.dialog.plain import JsonObject

Role = Literal["router", "ranker"]
"""A router chooses the agents to ask, a ranker the best answer."""

Complete = Callable[[list[dict[str, str]]], Awaitable[str]]
"""A chat endpoint: takes messages, each with `role` and `content`; returns the reply's text."""


class Card(msgspec.Struct, frozen=True, kw_only=True):
    """The description of an agent before it is asked; its `name` is the name of its service."""

    name: Annotated[str, about("The name of its service.", hidden=True)] = ""
    description: Annotated[str, about("The abilities of the agent, in sentences.")] = ""
    examples: Annotated[list[str], about("Questions that people ask it.")] = []
    languages: Annotated[
        list[str],
        about(
            "The languages that it speaks; by default all.",
            item="the code of a language, such as en",
        ),
    ] = []
    translations: Annotated[
        dict[str, str],
        about(
            'Its abilities by language, as a phrase after "I can": `{en: tell jokes}`.',
            what="a map of texts",
        ),
    ] = {}
    hidden: Annotated[bool, about("Whether lists of what the assistant can do leave it out.")] = (
        False
    )
    price: Annotated[
        float | None, about("The price of a call, in any one currency; by default 0.")
    ] = None
    latency: Annotated[
        float | None, about("The usual time until its answer; by default 0.", unit="seconds")
    ] = None
    quota: Annotated[
        int | None,
        about("The most calls in a minute; by default no limit.", unit="calls"),
    ] = None

    @property
    def members(self) -> JsonObject:
        """The non-empty values of the card, by key."""
        said = msgspec.to_builtins(self)
        empty: tuple[object, ...] = (None, "", [], {})
        return {key: one for key, one in said.items() if one not in empty and one is not False}


class UserQuestion(msgspec.Struct, frozen=True, kw_only=True):
    """The user's present text, and apart from it the turn before: its input, reply and agent.

    The three fields of the turn before are empty at the beginning of a dialog. `meant` is the whole
    question a follow-up stands for, "" where the words stand alone, and `meant_surely` (0 to 1) its
    confidence.
    """

    text: str
    said_before: str = ""
    answered_before: str = ""
    agent_before: str | None = None
    meant: str = ""
    meant_surely: float = 0.0


class AgentAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """An answer of an agent; `confidence` is its own estimate, `seconds` how long it took."""

    agent: str
    text: str
    confidence: float | None = None
    seconds: float | None = None


class Pairing(msgspec.Struct, frozen=True):
    """The estimate that an agent, or its answer, is right for a question.

    - `probability` is calibrated: of pairings with .7, seven in ten are right.
    - `reason` says in a few words why.
    - `position` is the answer's among the agent's own, from 0.
    - `fault`, of the first pairing, is the fault in estimating, such as a failed encoder: the rest
      was used.
    - `doubt` is the standard deviation of the probability's logit for a new agent, 0 for others.
    """

    agent: str
    probability: float
    reason: str = ""
    position: int = 0
    fault: str = ""
    doubt: float = 0.0


class LabelledQuestion(msgspec.Struct, frozen=True, kw_only=True):
    """A question and how right each agent is for it, 0 to 1: the share of votes.

    Unnamed agents have 0.

    - `answers` are the responses by agent, where they were asked.
    - `gold` are the agents counted as right in measuring.
    - `weight` discounts a doubtful label.
    """

    question: UserQuestion
    agents: dict[str, float]
    gold: frozenset[str] = frozenset()
    answers: dict[str, str] = {}
    domain: str = ""
    weight: float = 1.0


class TrainingData(msgspec.Struct, frozen=True, kw_only=True):
    """The material to make a router or ranker ready from.

    A method without labels gets `labelled` with `agents` and `gold` empty: questions and answers,
    as a log holds them. Questions without `answers` teach routers only. `priors` are a router's
    probabilities for each of `labelled`, from a router untrained on this question; {}
    where there are none, and nothing at all for a method without labels. `seconds` is how long
    a turn may wait for `complete` or `encoder`; None is the method's default.
    """

    cards: Sequence[Card] = ()
    labelled: Sequence[LabelledQuestion] = ()
    priors: Sequence[Mapping[str, float]] = ()
    encoder: Encoder | None = None
    complete: Complete | None = None
    seconds: float | None = None
    seed: int = 0


class Router(Protocol):
    """Question-agent pairing: estimates from the question alone, before any agent is called."""

    def route(self, question: UserQuestion) -> Sequence[Pairing] | Awaitable[Sequence[Pairing]]:
        """Return a pairing for every known agent, the best first; several agents may be right."""


class Ranker(Protocol):
    """Question-response pairing: estimates from the question and the answers."""

    def rank(
        self, question: UserQuestion, answers: Sequence[AgentAnswer], prior: Mapping[str, float]
    ) -> Sequence[Pairing] | Awaitable[Sequence[Pairing]]:
        """Return a pairing for every answer, the best first.

        `prior` has the router's probabilities by agent.
        """


Method = TypeVar("Method", Router, Ranker, covariant=True)


class Fit(Protocol[Method]):
    """Makes a router or ranker ready; the catalog of pairing names a maker for each method."""

    def __call__(self, training: TrainingData) -> Method | Awaitable[Method]:
        """Return the method, trained; `BadInput` names a missing part, such as a second agent."""


class Encoder(Protocol):
    """Turns texts into vectors of equal length, of norm 1.

    An optional attribute `name` is its name for people.
    """

    async def encode(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """Return a vector for each text, in order."""


class SelectorContext(msgspec.Struct, frozen=True, kw_only=True):
    """The surroundings of a selector: its pipeline and its file.

    - `name` is the name of its service, `cards` are the skills' cards, `folder` is the folder of
      the file, `skill_seconds` the end of the skills' time, from the turn's start.
    - `others` are the options of all selectors of the pipeline, its own included. `share(key,
      make)` returns the result of `make` for the first selector to ask with this key.
    - `observe` takes an observer of the turns, `offer` a trainable model.
    """

    name: str
    cards: Sequence[Card]
    folder: Path
    skill_seconds: float
    others: Sequence[Any]
    share: Callable[[Hashable, Callable[[], Any]], Any]
    observe: Callable[[Observer], None]
    offer: Callable[[Any], None]


class SelectorOptions(Protocol):
    """The options of a selector, which a file names by a key of its own in place of `call`.

    An entry point of the group `prolocutor.selectors` has the key's name, and the options have a
    field of that name. They are a frozen Struct that extends `plan.PendingTarget`. With a field
    `endpoint`, a `connector` and `call` beside the key say how a model is reached. With a method
    `within(timeout)` they are told the service's time-out in the file, in seconds.
    """

    stage: ClassVar[str]
    """The stage at which the key is known: "skill_selector" or "response_selector"."""

    def build(self, context: SelectorContext) -> Any:
        """Return the target of the service: a function or a connector.

        Raise `ConfigError` where that cannot be.
        """
