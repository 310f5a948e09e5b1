"""Crowd: many simulated people talk to an assistant; dialogs that break a law are shrunk."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Sequence
from time import monotonic
from typing import Final

import msgspec

from prolocutor.assistant.assistant import Assistant
from prolocutor.dialog.ids import new_id
from prolocutor.errors import ProlocutorError
from prolocutor.plugins.cassettes.people import (
    BrokenLaw,
    ModelPerson,
    RulePerson,
    SaidTurn,
    broken_laws,
)

AT_ONCE: Final = 8
"""People who talk at the same time."""

MOST_TURNS: Final = 60
MOST_TRIES: Final = 200
"""Dialogs that are tried to shorten one."""


class BrokenDialog(msgspec.Struct, frozen=True, kw_only=True):
    """A dialog that breaks a law: its person, the law, and the shortest such dialog."""

    person: str
    broken: BrokenLaw
    said: list[SaidTurn]
    shortest: list[SaidTurn]


class Crowd:
    """Lets people talk to an assistant, `AT_ONCE` at a time, and collects broken laws.

    `found` has the first broken dialog for each law and agent; `count` counts by law.
    """

    def __init__(self, assistant: Assistant, people: Sequence[RulePerson], deadline: float) -> None:
        self.found: list[BrokenDialog] = []
        self.count: dict[str, int] = {}
        self.turns = 0
        self._assistant = assistant
        self._people = people
        self._deadline = deadline
        self._words = frozenset(person.word for person in people)

    async def run(self, told: Callable[[BrokenDialog], None]) -> None:
        """Let all people talk, and shrink the broken dialogs."""
        places = asyncio.Semaphore(AT_ONCE)
        seen: dict[tuple[str, str], tuple[RulePerson, list[SaidTurn], BrokenLaw]] = {}

        async def talk(person: RulePerson) -> list[SaidTurn]:
            async with places:
                return await self._talk(person)

        for person, said in zip(
            self._people, await asyncio.gather(*map(talk, self._people)), strict=True
        ):
            self.turns += len(said)
            for law in broken_laws(said, person.word, self._words, self._deadline):
                self.count[law.law] = self.count.get(law.law, 0) + 1
                seen.setdefault((law.law, said[law.turn - 1].agent), (person, said, law))
        for person, said, law in seen.values():
            shortest = await self._shortest(said[: law.turn], law.law, person.word)
            found = BrokenDialog(person=person.name, broken=law, said=said, shortest=shortest)
            self.found.append(found)
            told(found)

    async def _talk(self, person: RulePerson) -> list[SaidTurn]:
        said: list[SaidTurn] = []
        while len(said) < MOST_TURNS and (turn := person.next(said)) is not None:
            if isinstance(person, ModelPerson):
                turn = await person.rephrase(turn, said)
            said.append(await self._say(person.name, turn))
        return said

    async def _say(self, user: str, turn: SaidTurn) -> SaidTurn:
        began = monotonic()
        try:
            result = await self._assistant.turn(turn.says, user)
        except ProlocutorError as error:
            return msgspec.structs.replace(turn, error=f"{type(error).__name__}: {error}")
        messages = (result.state.get("attributes") or {}).get("messages")
        return msgspec.structs.replace(
            turn,
            reply=result.reply.text,
            agent=result.reply.active_skill,
            asks=result.ask,
            seconds=monotonic() - began,
            silent=not (result.reply.text.strip() or messages),
        )

    async def _shortest(self, said: Sequence[SaidTurn], law: str, word: str) -> list[SaidTurn]:
        """Return the shortest dialog that breaks the law, by leaving out turns, then words."""
        tries = MOST_TRIES
        best = await self._find_break([one.says for one in said], law, word)
        if best is None:
            return [*said]  # it took others at the same time, or chance
        changed = True
        while changed and tries > 0:
            changed = False
            texts = [one.says for one in best]
            for shorter in (*_fewer_turns(texts), *_fewer_words(texts)):
                tries -= 1
                if tries <= 0:
                    break
                if (found := await self._find_break(shorter, law, word)) is not None:
                    best, changed = found, True
                    break
        return best

    async def _find_break(self, texts: Sequence[str], law: str, word: str) -> list[SaidTurn] | None:
        """Say some texts as a new person; return the dialog up to the turn that breaks the law."""
        user, said = f"shrinking-{new_id()}", list[SaidTurn]()
        for text in texts:
            said.append(await self._say(user, SaidTurn(says=text)))
        for broken in broken_laws(said, word, self._words, self._deadline):
            if broken.law == law:
                return said[: broken.turn]
        return None


def _fewer_turns(texts: Sequence[str]) -> list[list[str]]:
    """Yield the texts without half of them, then without a quarter, and so on, down to one."""
    shorter, size = [], len(texts) // 2
    while size:
        shorter += [[*texts[:at], *texts[at + size :]] for at in range(0, len(texts), size)]
        size //= 2
    return [one for one in shorter if one and len(one) < len(texts)]


_WORD: Final = re.compile(r"\S+")


def _fewer_words(texts: Sequence[str]) -> list[list[str]]:
    """Yield the texts with one word left out."""
    shorter = []
    for place, text in enumerate(texts):
        words = _WORD.findall(text)
        if len(words) < 2:
            continue
        for at in range(len(words)):
            less = " ".join([*words[:at], *words[at + 1 :]])
            shorter.append([*texts[:place], less, *texts[place + 1 :]])
    return shorter
