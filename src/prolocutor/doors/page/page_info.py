"""What the chat page asks once: who can speak, what to begin with, and what is switched on."""

from __future__ import annotations

from collections import Counter
from typing import Annotated, Final

import msgspec
from msgspec import Meta

from prolocutor.plan.pipeline import Stage
from prolocutor.web.door_context import DoorContext
from prolocutor.web.operations import TypedRequest

EXAMPLES: Final = 2
STARTERS: Final = 4
"""Examples that are taken of one agent's card, and starters in all, where the file names none."""


class SpeakingAgent(msgspec.Struct, frozen=True):
    """An agent as the page draws it."""

    name: str
    icon: Annotated[bool, Meta(description="Whether there is a picture at `/icons/<name>`.")]
    markdown: Annotated[bool, Meta(description="Whether its texts are written in Markdown.")]


class PageInfo(msgspec.Struct, frozen=True):
    """What the page needs to know of the assistant."""

    name: str
    agents: list[SpeakingAgent]
    starters: Annotated[list[str], Meta(description="What a person may begin with.")]
    voice: Annotated[bool, Meta(description="Whether words may be spoken into the browser.")]


class PageInfoEndpoint:
    """Answers with what the page asks once.

    Without starters in the file, examples of the agents that were asked most of late are shown.
    """

    def __init__(self, context: DoorContext, *, voice: bool) -> None:
        self._assistant = context.assistant
        self._recent = context.recent
        self._starters = list(context.starters)
        self._voice = voice
        self._cards = context.cards

    async def page_info(self, _: TypedRequest[None, None]) -> PageInfo:
        """Return what the page shows of the assistant before anything is said."""
        markdown = self._assistant.engine.prepared.markdown
        speaking = (Stage.SKILL, Stage.LAST_CHANCE)
        services = [one for one in self._assistant.services() if one.stage in speaking]
        return PageInfo(
            name=self._assistant.name,
            agents=[
                SpeakingAgent(one.name, one.icon is not None, one.name in markdown)
                for one in services
            ],
            starters=self._starters or self._of_cards([one.name for one in services]),
            voice=self._voice,
        )

    def _of_cards(self, names: list[str]) -> list[str]:
        """Return examples of the agents that were asked most of late; else in declared order."""
        records = self._recent.last(len(self._recent)) if self._recent is not None else []
        times = Counter(name for record in records for name in record.asked)
        examples = self._examples()
        with_examples = [name for name in names if examples.get(name)]
        most = sorted(with_examples, key=lambda name: -times[name])
        found = dict.fromkeys(text for name in most for text in examples[name][:EXAMPLES])
        return list(found)[:STARTERS]

    def _examples(self) -> dict[str, list[str]]:
        """Return the examples of the agents' cards, or those that the services have."""
        if self._cards is not None:
            return {name: card.examples for name, card in self._cards.items()}
        cards = {one.name: one.card or {} for one in self._assistant.services()}
        given = {name: card.get("examples") for name, card in cards.items()}
        return {
            name: [text for text in texts if isinstance(text, str)]
            for name, texts in given.items()
            if isinstance(texts, list | tuple)
        }
