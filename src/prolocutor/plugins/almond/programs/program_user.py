"""The user of a program: their identity, words and time."""

from __future__ import annotations

import datetime as dt
import re
from typing import Any, Final

import msgspec

from prolocutor.asks.answers import Contact
from prolocutor.assistant.rounds.answer_context import client_place, read_contacts
from prolocutor.contracts.store import OpenedTurn
from prolocutor.dialog import plain
from prolocutor.dialog.ids import format_time
from prolocutor.dialog.schedules import find_zone

_ANONYMOUS: Final = re.compile(r"(?:[a-z0-9_]+:)?anonymous-")
"""The beginning of the names that doors give to anonymous visitors."""


class ProgramUser(msgspec.Struct, kw_only=True):
    """The person for whom a program runs. `human` and `bot` are agent state; `at` is UNIX seconds.

    - `run_id` (a turn's id, or an id of the program's run) is the same in a second run.
    - `text` are the person's words.
    - `is_again`: this is a second run after an interrupted first run.
    - `size` is the number of characters of the program.
    """

    user: str
    dialog_name: str
    run_id: str
    at: float
    text: str
    human: dict[str, Any]
    bot: dict[str, Any]
    contacts: list[Contact] = []
    dialog_id: str = ""
    is_again: bool = False
    size: int = 0

    @property
    def is_anonymous(self) -> bool:
        """Whether the person is unknown; such a person may ask, but not act."""
        return _ANONYMOUS.match(self.user) is not None

    @property
    def attributes(self) -> dict[str, Any]:
        """The attributes of the person."""
        known: dict[str, Any] = self.human.setdefault("attributes", {})
        return known

    @property
    def timezone(self) -> str | None:
        """The name of the person's time zone; None if unknown or invalid."""
        name = self.attributes.get("timezone")
        try:
            find_zone(name)
        except (ValueError, TypeError):
            return None
        return name

    @property
    def now(self) -> dt.datetime:
        """The moment in the person's time zone, else in the server's."""
        moment = dt.datetime.fromtimestamp(self.at, dt.UTC)
        return moment.astimezone(find_zone(self.timezone) if self.timezone else None)

    def state(self) -> dict[str, Any]:
        """Return an agent state with the person's words as its only utterance."""
        said = {
            "utt_id": f"{self.run_id}",
            "text": self.text,
            "user": self.human,
            "annotations": {},
            "hypotheses": [],
            "date_time": format_time(self.at),
            "attributes": {},
        }
        return {
            "dialog_id": self.dialog_id,
            "human": self.human,
            "bot": self.bot,
            "utterances": [said],
            "human_utterances": [said],
            "bot_utterances": [],
            "attributes": {},
            "turn_id": self.run_id,
        }


def turn_user(opened: OpenedTurn) -> ProgramUser:
    """Return the person of a turn, at the place given by their client."""
    opening = opened.opening
    human = plain.decode(opened.human.state)
    sent = plain.decode(opening.attributes).get("platformData")
    here = client_place(sent)
    if here is not None:
        human.setdefault("attributes", {})["location"] = here
    return ProgramUser(
        user=opening.user,
        dialog_name=opening.dialog_name,
        run_id=opening.turn_id,
        at=opening.started,
        text=opening.text,
        human=human,
        contacts=read_contacts(human.get("attributes") or {}, sent),
        bot=plain.decode(opened.bot.state),
        dialog_id=opened.dialog_id,
        is_again=opened.attempt > 1,
    )


def idle_user(
    user: str, dialog_name: str, run_id: str, at: float, timezone: str | None, text: str = ""
) -> ProgramUser:
    """Return a person outside of a turn, with only the time zone known."""
    return ProgramUser(
        user=user,
        dialog_name=dialog_name,
        run_id=run_id,
        at=at,
        text=text,
        human={
            "id": "",
            "user_external_id": user,
            "user_type": "human",
            "persona": [],
            "profile": {},
            "attributes": {"timezone": timezone} if timezone else {},
        },
        bot={"id": "", "user_type": "bot", "persona": [], "attributes": {}},
    )
