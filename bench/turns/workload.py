"""The pipelines that are measured: the neighbours' services in our form, as little work as can be.

They say what `bench/peers/services.py` says, so that the same replies can be checked. The plain
functions are for `inline=True`; the async ones never wait.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial, wraps
from typing import Any

from bench.peers.services import CONFIDENCES, expected
from prolocutor import Hypothesis, Pipeline, SelectorReply, Service, TurnRequest

Request = dict[str, Any]
Function = Callable[[Request], Any]

AGENTS = [f"agent_{number}" for number in range(10)]
BEST = "agent_7"


def annotate(request: Request) -> dict[str, list[str]]:
    return {"tokens": request["human_utterances"][-1]["text"].split()}


def select_skills(request: Request) -> list[str]:
    return list(CONFIDENCES)


def answer(name: str, request: Request) -> list[dict[str, Any]]:
    text = request["human_utterances"][-1]["text"]
    return [{"text": f"{name} heard: {text} ", "confidence": CONFIDENCES[name]}]


skill_0, skill_1, skill_2 = (partial(answer, name) for name in CONFIDENCES)


def annotate_hypotheses(request: Request) -> list[dict[str, list[str]]]:
    return [{"tokens": hypothesis["text"].split()} for hypothesis in request["hypotheses"]]


def select_response(request: Request) -> dict[str, Any]:
    best = max(request["hypotheses"], key=lambda hypothesis: hypothesis["confidence"])
    return {key: best[key] for key in ("skill_name", "text", "confidence")}


def strip(request: Request) -> str:
    return request["utterances"][-1]["text"].strip()


def name_agent(request: Request) -> list[str]:
    return [f"agent_{request['human_utterances'][-1]['text'].split()[-1]}"]


def know(name: str, request: Request) -> list[dict[str, Any]]:
    text = f"{name} heard: {request['human_utterances'][-1]['text']}"
    return [{"text": text, "confidence": 0.9 if name == BEST else 0.5}]


def make_pipeline(variant: str, url: str | None = None) -> Pipeline:
    """The pipeline of a variant; with the URL of `slow_services.py`, the standard one over HTTP."""
    if url is not None:
        return remote(url)
    kind, _, way = variant.rpartition("-")
    if way == "typed":
        return typed()
    make = asynchronous if way == "async" else inline
    return {"turn": standard, "route": one_of_ten, "all": all_ten}[kind](make)


def inline(name: str, function: Function, **options: Any) -> Service:
    return Service(name, function, inline=True, **options)


def asynchronous(name: str, function: Function, **options: Any) -> Service:
    return Service(name, awaited(function), **options)


def awaited(function: Function) -> Callable[[Request], Awaitable[Any]]:
    @wraps(getattr(function, "func", function))
    async def call(request: Request) -> Any:
        return function(request)

    return call


def standard(make: Callable[..., Service]) -> Pipeline:
    """Nine services, nine calls a turn: the three hypotheses are annotated together, as there."""
    return Pipeline(
        annotators=[make("tokens", annotate), make("words", annotate)],
        skill_selector=make("rules", select_skills),
        skills=[make(name, partial(answer, name)) for name in CONFIDENCES],
        candidate_annotators=[make("length", annotate_hypotheses, together=True)],
        response_selector=make("best", select_response),
        postprocessors=[make("strip", strip)],
    )


def typed() -> Pipeline:
    """The standard pipeline of functions that declare what they take, which read what they need."""

    def annotate(turn: TurnRequest) -> dict[str, list[str]]:
        return {"tokens": turn.text.split()}

    def select_skills(turn: TurnRequest) -> list[str]:
        return list(CONFIDENCES)

    def answer(name: str, turn: TurnRequest) -> Hypothesis:
        return Hypothesis(f"{name} heard: {turn.text} ", CONFIDENCES[name])

    def annotate_hypotheses(turn: TurnRequest) -> list[dict[str, list[str]]]:
        return [{"tokens": hypothesis.text.split()} for hypothesis in turn.hypotheses]

    def select_response(turn: TurnRequest) -> SelectorReply:
        best = max(turn.hypotheses, key=lambda hypothesis: hypothesis.confidence)
        return SelectorReply(best.skill_name or "", best.text, best.confidence)

    def strip(turn: TurnRequest) -> str:
        assert turn.reply is not None
        return turn.reply.text.strip()

    return Pipeline(
        annotators=[inline("tokens", annotate), inline("words", annotate)],
        skill_selector=inline("rules", select_skills),
        skills=[inline(name, partial(answer, name)) for name in CONFIDENCES],
        candidate_annotators=[inline("length", annotate_hypotheses, together=True)],
        response_selector=inline("best", select_response),
        postprocessors=[inline("strip", strip)],
    )


def one_of_ten(make: Callable[..., Service]) -> Pipeline:
    """A selector that names one of ten agents."""
    return Pipeline(
        skill_selector=make("rules", name_agent),
        skills=[make(name, partial(know, name)) for name in AGENTS],
    )


def all_ten(make: Callable[..., Service]) -> Pipeline:
    """All ten agents are asked, the most confident wins."""
    return Pipeline(skills=[make(name, partial(know, name)) for name in AGENTS])


def remote(url: str) -> Pipeline:
    """The standard pipeline over `bench/peers/slow_services.py`, which speaks DeepPavlov's wire."""

    def make(name: str, **options: Any) -> Service:
        options.setdefault("formatter", "base_last_utterances_formatter_in")
        target = f"{url}/{name}"
        return Service(name, target, wire="deeppavlov", max_in_flight=1000, **options)

    return Pipeline(
        annotators=[make("tokens"), make("words")],
        skill_selector=make("rules"),
        skills=[make(name) for name in CONFIDENCES],
        candidate_annotators=[
            make(
                "length",
                together=True,
                formatter=lambda state: {"hypotheses": state["hypotheses"]},
                response_formatter=lambda reply: reply["batch"],
            )
        ],
        response_selector=make("best", formatter=lambda state: {"hypotheses": state["hypotheses"]}),
        postprocessors=[make("strip")],
    )


def said(variant: str, user: str, number: int) -> tuple[str, str]:
    """What a person says in a turn, and the reply that has to come."""
    if variant.startswith("turn-"):
        text = f"what is {number} percent of eighty"
        return text, expected(text)
    topic = int(user.rsplit("-", 1)[1]) % len(AGENTS)
    text = f"what do you know about {topic}"
    name = f"agent_{topic}" if variant.startswith("route-") else BEST
    return text, f"{name} heard: {text}"
