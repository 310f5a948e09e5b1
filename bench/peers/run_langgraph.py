"""Measures LangGraph: ten nodes that answer at once, its in-memory checkpointer keeps the dialog.

    bench/.peers/langgraph/bin/python bench/peers/run_langgraph.py --dialogs 10 --variant all

route   a conditional edge leads to one of the ten nodes
all     all ten are asked in parallel; a node that joins them takes the most confident answer
"""

from __future__ import annotations

import operator
import os
import sys
from collections.abc import Awaitable, Callable
from importlib.metadata import version
from typing import Annotated, Any, TypedDict

os.environ["LANGSMITH_TRACING"] = "false"

from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from load import Turn, WrongReply, load_of, measure, parser, run

AGENTS = [f"agent_{number}" for number in range(10)]
BEST = "agent_7"

Answer = dict[str, Any]


class State(TypedDict):
    """One dialog: what was said, the words of this turn, each agent's last answer, the reply."""

    history: Annotated[list[str], operator.add]
    text: str
    answers: Annotated[dict[str, Answer], operator.or_]
    reply: str


Node = Callable[[State], Awaitable[dict[str, Any]]]


def main() -> None:
    options = parser(["route", "all"]).parse_args()
    load = load_of(options)
    build = all_ten if options.variant == "all" else one_of_ten
    job = measure(load, lambda: make_turn(build, routed=options.variant == "route"))
    run("langgraph", version("langgraph"), options.variant, load, job)


def one_of_ten() -> StateGraph:
    """The graph that asks the one agent that the text names."""
    graph = StateGraph(State)

    def node(name: str) -> Node:
        async def answer(state: State) -> dict[str, Any]:
            reply = f"{name} heard: {state['text']}"
            return {"reply": reply, "history": [state["text"], reply]}

        return answer

    for name in AGENTS:
        graph.add_node(name, node(name))
        graph.add_edge(name, END)
    graph.add_conditional_edges(START, route, AGENTS)
    return graph


def route(state: State) -> str:
    return f"agent_{state['text'].split()[-1]}"


def all_ten() -> StateGraph:
    """The graph that asks all agents and joins their answers."""
    graph = StateGraph(State)

    def node(name: str) -> Node:
        confidence = 0.9 if name == BEST else 0.5

        async def answer(state: State) -> dict[str, Any]:
            text = f"{name} heard: {state['text']}"
            return {"answers": {name: {"text": text, "confidence": confidence}}}

        return answer

    for name in AGENTS:
        graph.add_node(name, node(name))
        graph.add_edge(START, name)
    graph.add_node("join", join)
    graph.add_edge(AGENTS, "join")
    graph.add_edge("join", END)
    return graph


async def join(state: State) -> dict[str, Any]:
    best = max(state["answers"].values(), key=lambda answer: answer["confidence"])
    return {"reply": best["text"], "history": [state["text"], best["text"]]}


def make_turn(build: Callable[[], StateGraph], *, routed: bool) -> Turn:
    """A fresh graph with empty memory, as a function that takes one turn."""
    graph = build().compile(checkpointer=InMemorySaver())

    async def turn(user: str, number: int) -> None:
        text = f"what do you know about {int(user.rsplit('-', 1)[1]) % len(AGENTS)}"
        out = await graph.ainvoke({"text": text}, {"configurable": {"thread_id": user}})
        name = f"agent_{text[-1]}" if routed else BEST
        if out["reply"] != f"{name} heard: {text}" or len(out["history"]) != 2 * number:
            raise WrongReply(f"LangGraph answered {out!r} to {text!r}")

    return turn


if __name__ == "__main__":
    sys.exit(main())
