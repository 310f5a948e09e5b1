"""Measures Agent Squad: its classifier replaced by a rule, ten agents that answer at once.

    bench/.peers/agent-squad/bin/python bench/peers/run_agent_squad.py --dialogs 10

route   each dialog keeps to one of the ten agents
mixed   each turn of a dialog goes to the next of the ten agents
"""

from __future__ import annotations

import sys
from importlib.metadata import version
from typing import Any

from agent_squad.agents import Agent, AgentOptions
from agent_squad.classifiers import Classifier, ClassifierResult
from agent_squad.orchestrator import AgentSquad
from agent_squad.storage import InMemoryChatStorage
from agent_squad.types import ConversationMessage, ParticipantRole
from load import Turn, WrongReply, load_of, measure, parser, run

AGENTS = 10


class InstantAgent(Agent):
    """Answers at once."""

    async def process_request(
        self,
        input_text: str,
        user_id: str,
        session_id: str,
        chat_history: list[ConversationMessage],
        additional_params: dict[str, Any] | None = None,
    ) -> ConversationMessage:
        text = f"{self.id} heard: {input_text}"
        return ConversationMessage(role=ParticipantRole.ASSISTANT.value, content=[{"text": text}])


class RuleClassifier(Classifier):
    """Picks the agent that the text names; the prompt before it is made as shipped."""

    async def process_request(
        self, input_text: str, chat_history: list[ConversationMessage]
    ) -> ClassifierResult:
        return ClassifierResult(self.agents[f"agent-{input_text.split()[-1]}"], 1.0)


def main() -> None:
    options = parser(["route", "mixed"]).parse_args()
    load = load_of(options)
    job = measure(load, lambda: make_turn(mixed=options.variant == "mixed"))
    run("agent-squad", version("agent-squad"), options.variant, load, job)


def make_turn(*, mixed: bool) -> Turn:
    """A fresh squad with an empty storage, as a function that takes one turn."""
    squad = AgentSquad(classifier=RuleClassifier(), storage=InMemoryChatStorage())
    for number in range(AGENTS):
        squad.add_agent(InstantAgent(AgentOptions(f"agent {number}", f"knows about {number}")))

    async def turn(user: str, number: int) -> None:
        topic = number % AGENTS if mixed else int(user.rsplit("-", 1)[1]) % AGENTS
        text = f"what do you know about {topic}"
        response = await squad.route_request(text, user, "session")
        if response.output.content[0]["text"] != f"agent-{topic} heard: {text}":
            raise WrongReply(f"Agent Squad answered {response.output!r} to {text!r}")

    return turn


if __name__ == "__main__":
    sys.exit(main())
