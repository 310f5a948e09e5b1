"""Snapshots of a dialog for services: a window of the dialog, and this turn so far.

Everything here is replaced, never changed in place, so a service's view of a moment stays
unchanged. The utterances of a window are decoded once a turn, and each request copies that
(`msgspec.to_builtins` makes new containers around the same strings and costs a third of decoding).
Bytes are joined when they are first asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import pairwise
from operator import or_
from typing import Any, Final

import msgspec

from prolocutor.contracts.store import OpenedTurn, TurnOpening, UtteranceParts
from prolocutor.dialog.dialog import BotBody
from prolocutor.dialog.plain import decode, encode

State = dict[str, Any]

copied: Final = msgspec.to_builtins
"""Copies a JSON value; strings and numbers are shared, containers are not."""

_OF_REQUESTS: Final = dict.fromkeys(
    ("utterances", "turn_id", "service", "human_utterances", "bot_utterances")
)

_bot_body: Final = msgspec.json.Decoder(BotBody).decode


class Template(msgspec.Struct, frozen=True):
    """A JSON object to be copied: its scalars in `flat`, containers in `inner`.

    Copying a flat dict as a whole costs far less than copying it key by key, so `flat` has all
    keys, in their order.
    """

    flat: State
    inner: State


class SnapshotHead:
    """The agent state of a dialog without its utterances: ids, dates, both profiles."""

    def __init__(self, opened: OpenedTurn, human: bytes, bot: bytes) -> None:
        self.human = human
        self.bot = bot
        self.length = opened.length
        self.active_skills = opened.active_skills or ()
        self._opened = opened
        self.opening = opened.opening
        self.dialog_id = opened.dialog_id
        last = None
        for last in reversed(opened.window):
            if last.by_bot:
                break
        self._front = {
            "dialog_id": opened.dialog_id,
            "_id": opened.id,
            "_active": "True",
            "channel_type": opened.opening.channel_type,
            "date_start": opened.date_start,
            "date_finish": _bot_body(last.body).date_time if last and last.by_bot else None,
        }
        self._template: Template | None = None
        self._encoded: bytes | None = None

    def shows(self, opened: OpenedTurn, human: bytes, bot: bytes) -> bool:
        """Return whether it is made of these."""
        return self.human is human and self.bot is bot and self._opened is opened

    def template(self) -> Template:
        """Return the head, to be copied, with members for the additions of a request."""
        if self._template is None:
            inner = {
                "rating": decode(self._opened.rating),
                "attributes": decode(self._opened.dialog_attributes),
                "human": decode(self.human),
                "bot": decode(self.bot),
            }
            flat = {**self._front, **dict.fromkeys(inner), **_OF_REQUESTS}
            self._template = Template(flat, inner)
        return self._template

    @property
    def json_front(self) -> bytes:
        """The head as JSON, open at its end."""
        if self._encoded is None:
            self._encoded = b'%b,"rating":%b,"attributes":%b,"human":%b,"bot":%b' % (
                encode(self._front)[:-1],
                self._opened.rating,
                self._opened.dialog_attributes,
                self.human,
                self.bot,
            )
        return self._encoded


class EarlierTemplates:
    """Templates of earlier utterances, side by side: `flat` and `inner` as in a `Template`.

    `humans` and `bots` are their places, `other_users` the places of utterances with a user other
    than the head's.
    """

    __slots__ = ("bots", "flat", "humans", "inner", "other_users")

    def __init__(self) -> None:
        self.flat: list[State] = []
        self.inner: list[State] = []
        self.humans: list[int] = []
        self.bots: list[int] = []
        self.other_users: list[int] = []

    def add(self, body: State, parts: UtteranceParts, head: SnapshotHead) -> None:
        """Add an utterance, whose body is decoded."""
        if len(body) == (8 if parts.by_bot else 5):  # the keys that we write, and no others
            inner = {"attributes": body["attributes"], "annotations": body["annotations"]}
        else:
            inner = {key: value for key, value in body.items() if isinstance(value, dict | list)}
        flat = body.copy()
        flat["user"] = None
        place = len(self.flat)
        if parts.by_bot:
            self.bots.append(place)
            user = head.bot
        else:
            self.humans.append(place)
            user = head.human
            flat["hypotheses"] = None
            inner["hypotheses"] = [] if parts.hypotheses == b"[]" else decode(parts.hypotheses)
        if parts.user != user:
            self.other_users.append(place)
            inner["user"] = decode(parts.user)
        self.flat.append(flat)
        self.inner.append(inner)

    def last(self, number: int) -> EarlierTemplates:
        """Return so many of the last utterances."""
        first = len(self.flat) - number
        if not first:
            return self
        templates = EarlierTemplates()
        templates.flat, templates.inner = self.flat[first:], self.inner[first:]
        templates.humans = [place - first for place in self.humans if place >= first]
        templates.bots = [place - first for place in self.bots if place >= first]
        templates.other_users = [place - first for place in self.other_users if place >= first]
        return templates


class EarlierUtterances:
    """Utterances before this turn, each decoded once a turn, however many windows show them.

    `every` are the utterances of a window; of these the turns in which the skill `only` spoke
    (None: all).
    """

    __slots__ = ("_bodies", "_made", "every")

    def __init__(self, window: list[UtteranceParts], only: str | None = None) -> None:
        self.every = window if only is None else _skill_turns(only, window)
        self._bodies: list[State] = []
        self._made: tuple[SnapshotHead, EarlierTemplates] | None = None

    def templates(self, head: SnapshotHead, start: int) -> EarlierTemplates:
        """Return the utterances from a place on under this head.

        The most requested are kept; fewer are the last of these.
        """
        parts, cached, bodies = self.every[start:], self._made, self._bodies
        if cached is None or cached[0] is not head or len(cached[1].flat) < len(parts):
            if len(bodies) < len(parts):
                self._bodies = bodies = decode(json_list([part.body for part in parts]))
            cached = head, EarlierTemplates()
            window = self.every[len(self.every) - len(bodies) :]
            for body, one in zip(bodies, window, strict=True):
                cached[1].add(body, one, head)
            self._made = cached  # last of all: a thread may ask meanwhile
        return cached[1].last(len(parts))


def _skill_turns(skill: str, window: list[UtteranceParts]) -> list[UtteranceParts]:
    turns = [
        (before, utterance)
        for before, utterance in pairwise(window)
        if utterance.by_bot
        and not before.by_bot
        and _bot_body(utterance.body).active_skill == skill
    ]
    return [utterance for turn in turns for utterance in turn]


class CurrentUtterance(msgspec.Struct, frozen=True, eq=False):
    """An utterance of this turn as far as it has come: as a template, and as bytes if wanted.

    `user` is the profile (JSON) that it shows.
    """

    flat: State
    inner: State
    user: bytes
    parts: Callable[[], UtteranceParts]


class SplicedState(msgspec.Struct, frozen=True):
    """An agent state as JSON: up to its utterances (open at its end), and the derived members.

    `humans` and `bots` are the split lists, `hypotheses` the hypotheses of the last human
    utterance.
    """

    front: bytes
    humans: bytes
    bots: bytes
    hypotheses: bytes


class DialogSnapshot:
    """The services' view of a dialog at a moment: a window of it, and this turn so far.

    `start` is the place of the window in the loaded utterances.
    """

    def __init__(
        self,
        head: SnapshotHead,
        earlier: EarlierUtterances,
        start: int,
        human: CurrentUtterance,
        bot: CurrentUtterance | None,
    ) -> None:
        self._head = head
        self._earlier = earlier
        self._start = start
        self._human = human
        self._bot = bot
        self._flat: list[State] = []
        self._head_flat: State
        self._inner: list[State]
        self._humans: list[int]
        self._bots: list[int]
        self._other_users: list[int]
        self._shared: State | None = None
        self._spliced: SplicedState | None = None

    @property
    def opening(self) -> TurnOpening:
        """The words of this turn, their speaker and place."""
        return self._head.opening

    @property
    def dialog_id(self) -> str:
        """The id of the dialog."""
        return self._head.dialog_id

    def utterance_counts(self) -> State:
        """Return how many utterances the whole dialog has, and how many of them are human."""
        length = self._head.length
        return {
            "utterances": length + (1 if self._bot is None else 2),
            "human_utterances": (length + 1) // 2 + 1,
        }

    def active_skills(self) -> list[str]:
        """Return who said each bot utterance of the whole dialog before this turn."""
        return list(self._head.active_skills)

    def copy(self) -> State:
        """Return a copy, with the split lists; the caller adds `turn_id` and `service`.

        They share the utterances of the single list, and utterances share equal profiles of their
        user.
        """
        if not self._flat:
            self._prepare()
        return self._join_state(copied(self._inner))

    def copy_human_utterance(self) -> State:
        """Return a copy of the human utterance of this turn."""
        return self._alone(self._human, self._head.human, "human")

    def copy_human_member(self, key: str) -> Any:
        """Return a copy of a member of the human utterance of this turn, not of its user."""
        human = self._human
        return copied(human.inner[key]) if key in human.inner else human.flat[key]

    def copy_bot_utterance(self) -> State | None:
        """Return a copy of the bot utterance of this turn, None before the reply is chosen."""
        return None if self._bot is None else self._alone(self._bot, self._head.bot, "bot")

    def _alone(self, utterance: CurrentUtterance, user: bytes, who: str) -> State:
        """Return a copy of an utterance with its user: `who`, where `user` is that profile."""
        state: State = utterance.flat | copied(utterance.inner)
        same = utterance.user == user
        state["user"] = copied(self._head.template().inner[who]) if same else decode(utterance.user)
        return state

    def shared_state(self) -> State:
        """Return the same with the very parts of the snapshot, for readers that change nothing."""
        if self._shared is None:
            if not self._flat:
                self._prepare()
            self._shared = self._join_state(self._inner)
        return self._shared.copy()

    def _join_state(self, every: list[State]) -> State:
        """Return a state whose inner parts are these."""
        *inner, head = every
        state: State = self._head_flat | head
        state["utterances"] = utterances = list(map(or_, self._flat, inner))
        at = utterances.__getitem__
        humans, bots = list(map(at, self._humans)), list(map(at, self._bots))
        human, bot = head["human"], head["bot"]
        for utterance in humans:
            utterance["user"] = human
        for utterance in bots:
            utterance["user"] = bot
        for place in self._other_users:
            utterances[place]["user"] = inner[place]["user"]
        state["human_utterances"] = humans
        state["bot_utterances"] = bots
        return state

    def _prepare(self) -> None:
        """Work out the common part of all copies once."""
        head, human, bot = self._head, self._human, self._bot
        earlier = self._earlier.templates(head, self._start)
        place, inner = len(earlier.flat), human.inner
        self._humans, self._bots = [*earlier.humans, place], earlier.bots
        self._other_users = earlier.other_users
        if human.user != head.human:
            inner = {**inner, "user": decode(human.user)}
            self._other_users = [*earlier.other_users, place]
        self._head_flat = head.template().flat
        flat = [*earlier.flat, human.flat]
        if bot is None:
            self._inner = [*earlier.inner, inner, head.template().inner]
        else:
            self._bots = [*earlier.bots, place + 1]
            self._inner = [*earlier.inner, inner, bot.inner, head.template().inner]
            flat.append(bot.flat)
        self._flat = flat  # last of all: a thread may ask meanwhile

    def splice_state(self) -> SplicedState:
        """Return the same as JSON, joined from the bytes of its parts."""
        if self._spliced is None:
            every = [*self._earlier.every[self._start :], self._human.parts()]
            hypotheses = every[-1].hypotheses
            if self._bot is not None:
                every.append(self._bot.parts())
            states = [(utterance.by_bot, utterance.state) for utterance in every]
            self._spliced = SplicedState(
                front=b'%b,"utterances":%b'
                % (self._head.json_front, json_list(state for _, state in states)),
                humans=json_list(state for by_bot, state in states if not by_bot),
                bots=json_list(state for by_bot, state in states if by_bot),
                hypotheses=hypotheses,
            )
        return self._spliced


def json_list(items: Iterable[bytes]) -> bytes:
    """Return the JSON list of these items."""
    return b"[%b]" % b",".join(items)
