"""What services see of a dialog at one moment: a window of it, and this turn so far.

Everything here is replaced, never changed in place, so that what a service was shown at one moment
stays as it was. The utterances of a window are decoded once a turn, and each request copies that
(`msgspec.to_builtins` makes new containers around the same strings and costs a third of decoding).
Bytes are joined when they are first asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from operator import or_
from typing import Any, Final

import msgspec

from prolocutor.contracts.store import OpenedTurn, UtteranceParts
from prolocutor.dialog.plain import decode, encode
from prolocutor.dialog.utterances import BotBody

State = dict[str, Any]

copied: Final = msgspec.to_builtins
"""Copies what JSON can say; strings and numbers are shared, containers are not."""


class Template(msgspec.Struct, frozen=True):
    """A JSON object to be copied: its scalars in `flat`, what holds others in `inner`.

    Copying a flat dict as a whole costs far less than copying it key by key, so `flat` has all
    keys, in their order.
    """

    flat: State
    inner: State


_bot_body: Final = msgspec.json.Decoder(BotBody).decode


class SnapshotHead:
    """The agent state of a dialog without its utterances: ids, dates, both profiles."""

    __slots__ = (
        "_encoded",
        "_front",
        "_opened",
        "_template",
        "active_skills",
        "bot",
        "human",
        "length",
    )

    def __init__(self, opened: OpenedTurn, human: bytes, bot: bytes) -> None:
        self.human = human
        self.bot = bot
        self.length = opened.length
        self.active_skills = opened.active_skills or ()
        self._opened = opened
        last = next((one for one in reversed(opened.window) if one.by_bot), None)
        self._front = {
            "dialog_id": opened.dialog_id,
            "_id": opened.id,
            "_active": "True",
            "channel_type": opened.opening.channel_type,
            "date_start": opened.date_start,
            "date_finish": None if last is None else _bot_body(last.body).date_time,
        }
        self._template: Template | None = None
        self._encoded: bytes | None = None

    @property
    def template(self) -> Template:
        """The head, to be copied."""
        if self._template is None:
            inner = {
                "rating": decode(self._opened.rating),
                "attributes": decode(self._opened.dialog_attributes),
                "human": decode(self.human),
                "bot": decode(self.bot),
            }
            flat = {**self._front, **dict.fromkeys(inner), "utterances": None}
            self._template = Template(flat, inner)
        return self._template

    @property
    def encoded(self) -> bytes:
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

    `humans` and `bots` are their places, `other_users` the places of those whose user is not the
    one that the head shows.
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
        flat = {**body, "user": None}
        place = len(self.flat)
        if parts.by_bot:
            self.bots.append(place)
        else:
            self.humans.append(place)
            flat["hypotheses"] = None
            inner["hypotheses"] = [] if parts.hypotheses == b"[]" else decode(parts.hypotheses)
        if parts.user != (head.bot if parts.by_bot else head.human):
            self.other_users.append(place)
            inner["user"] = decode(parts.user)
        self.flat.append(flat)
        self.inner.append(inner)


class EarlierUtterances:
    """The utterances before this turn that one window shows, each decoded once a turn.

    `parts` are the last `size` (None: all) of the window that was loaded, from a human utterance
    on; of these the turns in which the skill `only` spoke (None: all turns).
    """

    __slots__ = ("_bodies", "_made", "parts")

    def __init__(
        self, window: list[UtteranceParts], size: int | None, only: str | None = None
    ) -> None:
        if size is not None and len(window) > size:
            window = window[len(window) - size :]
        while window and window[0].by_bot:
            window = window[1:]
        self.parts = window if only is None else _turns_of(only, window)
        self._bodies: list[State] | None = None
        self._made: tuple[SnapshotHead, EarlierTemplates] | None = None

    def templates(self, head: SnapshotHead) -> EarlierTemplates:
        """Return the utterances under this head."""
        made = self._made
        if made is None or made[0] is not head:
            if self._bodies is None:
                self._bodies = decode(list_of([one.body for one in self.parts]))
            made = head, EarlierTemplates()
            for body, parts in zip(self._bodies, self.parts, strict=True):
                made[1].add(body, parts, head)
            self._made = made
        return made[1]


def _turns_of(skill: str, window: list[UtteranceParts]) -> list[UtteranceParts]:
    turns = [
        (before, said)
        for before, said in pairwise(window)
        if said.by_bot and not before.by_bot and _bot_body(said.body).active_skill == skill
    ]
    return [said for turn in turns for said in turn]


class CurrentUtterance:
    """An utterance of this turn as far as it has come: as a template, and as bytes if wanted.

    `user` is the profile (JSON) that it shows.
    """

    __slots__ = ("parts", "template", "user")

    def __init__(
        self, template: Template, parts: Callable[[], UtteranceParts], user: bytes
    ) -> None:
        self.template = template
        self.parts = parts
        self.user = user


class SplicedState(msgspec.Struct, frozen=True):
    """An agent state as JSON: up to its utterances (open at its end), and what follows from them.

    `humans` and `bots` are the split lists, `hypotheses` those of the last human utterance.
    """

    front: bytes
    humans: bytes
    bots: bytes
    hypotheses: bytes


class DialogSnapshot:
    """What services see of a dialog at one moment: a window of it, and this turn so far."""

    __slots__ = (
        "_bots",
        "_current",
        "_earlier",
        "_flat",
        "_head",
        "_head_flat",
        "_humans",
        "_inner",
        "_other_users",
        "_shared",
        "_spliced",
    )

    def __init__(
        self, head: SnapshotHead, earlier: EarlierUtterances, current: Sequence[CurrentUtterance]
    ) -> None:
        self._head = head
        self._earlier = earlier
        self._current = current
        self._flat: list[State] = []
        self._head_flat: State
        self._inner: list[State]
        self._humans: list[int]
        self._bots: list[int]
        self._other_users: list[int]
        self._shared: State | None = None
        self._spliced: SplicedState | None = None

    def utterance_counts(self) -> State:
        """Return how many utterances the whole dialog has, and how many of them are human."""
        length = self._head.length
        return {
            "utterances": length + len(self._current),
            "human_utterances": (length + 1) // 2 + 1,
        }

    def active_skills(self) -> list[str]:
        """Return who said each bot utterance of the whole dialog before this turn."""
        return list(self._head.active_skills)

    def copy(self, own: State) -> State:
        """Return a copy with members of one request's `own`, and the split lists.

        They share the utterances of the one list, and utterances the profile of their user where
        it was the same.
        """
        if not self._flat:
            self._prepare()
        return self._joined(copied(self._inner), own)

    def heard(self) -> State:
        """Return a copy of the human utterance of this turn."""
        human = self._current[0]
        inner = human.template.inner
        head = self._head.human
        user = copied(self._head.template.inner["human"]) if human.user == head else None
        state: State = human.template.flat | copied(inner)
        state["user"] = decode(human.user) if user is None else user
        return state

    def shared(self, own: State) -> State:
        """Return the same made of the very parts of the snapshot, for one who changes nothing."""
        if self._shared is None:
            if not self._flat:
                self._prepare()
            self._shared = self._joined(self._inner, {})
        return self._shared | own

    def _joined(self, every: list[State], own: State) -> State:
        """Return a state whose inner parts are these."""
        *inner, head = every
        state: State = self._head_flat | head
        state["utterances"] = utterances = list(map(or_, self._flat, inner))
        humans = list(map(utterances.__getitem__, self._humans))
        bots = list(map(utterances.__getitem__, self._bots))
        human, bot = state["human"], state["bot"]
        for utterance in humans:
            utterance["user"] = human
        for utterance in bots:
            utterance["user"] = bot
        for place in self._other_users:
            utterances[place]["user"] = inner[place]["user"]
        state |= own
        state["human_utterances"] = humans
        state["bot_utterances"] = bots
        return state

    def _prepare(self) -> None:
        """Work out once what all copies have in common."""
        earlier, (human, *bots) = self._earlier.templates(self._head), self._current
        head = self._head.template
        self._head_flat = head.flat
        flat = [*earlier.flat, human.template.flat]
        inner = human.template.inner
        if human.user != self._head.human:
            inner = {**inner, "user": decode(human.user)}
        self._humans = [*earlier.humans, len(earlier.flat)]
        self._bots = earlier.bots
        self._other_users = earlier.other_users
        if "user" in inner:
            self._other_users = [*earlier.other_users, len(earlier.flat)]
        self._inner = [*earlier.inner, inner]
        for bot in bots:
            self._bots = [*earlier.bots, len(flat)]
            flat.append(bot.template.flat)
            self._inner.append(bot.template.inner)
        self._inner.append(head.inner)
        self._flat = flat  # last of all: a thread may ask meanwhile

    def spliced(self) -> SplicedState:
        """Return the same as JSON, joined from the bytes of its parts."""
        if self._spliced is None:
            every = [*self._earlier.parts, *(one.parts() for one in self._current)]
            states = [(one.by_bot, one.state) for one in every]
            self._spliced = SplicedState(
                front=b'%b,"utterances":%b'
                % (self._head.encoded, list_of(state for _, state in states)),
                humans=list_of(state for by_bot, state in states if not by_bot),
                bots=list_of(state for by_bot, state in states if by_bot),
                hypotheses=[one.hypotheses for one in every if not one.by_bot][-1],
            )
        return self._spliced


def list_of(items: Iterable[bytes]) -> bytes:
    """Return the JSON list of these items."""
    return b"[%b]" % b",".join(items)
