"""The views of a draft: the snapshots for services, and the utterances for the store.

Each part is encoded once: services behind a wire, the store and the next turn's window use the same
bytes.
"""

from __future__ import annotations

from functools import partial
from typing import Final, Literal

import msgspec

from prolocutor.contracts.store import (
    NewProfileVersion,
    NewUtterance,
    ProfileVersion,
    TurnOpening,
    UtteranceParts,
)
from prolocutor.dialog.agent_state import profile_as_now
from prolocutor.dialog.dialog import BotBody
from prolocutor.dialog.plain import decode, encode
from prolocutor.dialog.rounds import read_follow_up
from prolocutor.pipeline.draft import (
    Draft,
    DraftHypothesis,
    DraftReply,
    Slots,
    encoded_slots,
    slot_values,
)
from prolocutor.pipeline.snapshot import (
    CurrentUtterance,
    DialogSnapshot,
    EarlierUtterances,
    SnapshotHead,
    State,
)
from prolocutor.plan.formatters import Widening

_bot_body: Final = msgspec.json.Decoder(BotBody).decode


class HumanInput:
    """The input of this turn, unchanged: the front of the human utterance's body."""

    __slots__ = ("attributes", "encoded", "flat")

    def __init__(
        self, opening: TurnOpening, text: str, encoded_text: bytes, said: str | None = None
    ) -> None:
        """`said`: the original words, if `text` is their meaning."""
        self.attributes = {} if opening.attributes == b"{}" else decode(opening.attributes)
        self.flat = {
            "utt_id": opening.utt_id,
            "text": text,
            "date_time": opening.date_time,
            "attributes": None,
            "annotations": None,
            "user": None,
            "hypotheses": None,
        }
        self.encoded = b'{"utt_id":"%b","text":%b,"date_time":"%b","attributes":%b' % (
            opening.utt_id.encode(),
            encoded_text or encode(text),
            opening.date_time.encode(),
            opening.attributes,
        )
        if said is not None:
            self.flat["orig_text"] = said
            self.encoded += b',"orig_text":%b' % encode(said)


class DraftView:
    """The current view of a draft.

    `heard` are the words for services in place of the input's words (None: the same words).
    """

    def __init__(
        self,
        draft: Draft,
        heard: str | None = None,
        user_snapshot: Literal["before", "after", "current"] = "after",
    ) -> None:
        opening = draft.opened.opening
        self._draft = draft
        self._user_snapshot = user_snapshot
        self._profiles: CurrentProfiles | None = None
        self._input = HumanInput(opening, opening.text, opening.encoded_text)
        self._shown_input = self._input if heard is None else HumanInput(opening, heard, b"")
        self._changes = draft.changes
        self._slots: Slots = {}
        self._annotations: State = {}
        self._drafted: list[DraftHypothesis] = []
        self._hypotheses: list[State] = []
        self._cached_head: SnapshotHead | None = None
        self._opened = draft.opened
        self._every: EarlierUtterances | None = None
        self._earlier: dict[tuple[int | None, str | None], tuple[EarlierUtterances, int]] = {}
        self._snapshots: dict[tuple[int | None, str | None, bool], DialogSnapshot] = {}
        self._bot: UtteranceParts | None = None
        self._marked: dict[tuple[str, int], bool] = {}

    def snapshot(
        self,
        size: int | None,
        only: str | None = None,
        rewritten: bool = False,
        widens: Widening | None = None,
    ) -> DialogSnapshot:
        """Return the current snapshot with a window of `size` utterances (None: all).

        A window never starts with a bot utterance. It shows only the earlier turns in which the
        skill `only` spoke (None: all turns). `rewritten`: the annotation `follow_up`, if it has a
        whole question, replaces the words of this turn. With `widens`, the window is at most of the
        usual size unless a text has the mark.
        """
        if widens is not None and not self._has(widens.mark, widens.usual):
            size = widens.usual if size is None else min(size, widens.usual)
        if self._changes != self._draft.changes:
            self._look_again()
        meant = self._meant() if rewritten else None
        key = size, only, meant is None
        snapshot = self._snapshots.get(key)
        if snapshot is None:
            head, reply = self._head(), self._draft.reply
            bot = None if reply is None else self._current_bot(reply)
            room = None if size is None else max(0, size - (1 if bot is None else 2))
            utterances = self._earlier.get((room, only))
            if utterances is None:
                utterances = self._earlier[room, only] = self._earlier_utterances(room, only)
            earlier, start = utterances
            human = self._current_human(meant)
            snapshot = self._snapshots[key] = DialogSnapshot(head, earlier, start, human, bot)
        return snapshot

    def _has(self, mark: str, size: int) -> bool:
        """Return whether a text of this turn or of the last `size` utterances may have the mark."""
        draft, is_marked = self._draft, self._marked.get((mark, size))
        if is_marked is None:
            sought, last = encode(mark)[1:-1], draft.opened.window[-size:]
            is_marked = mark in str(self._shown_input.flat["text"]) or any(
                sought in one.body for one in last
            )
            self._marked[mark, size] = is_marked
        return is_marked or (draft.reply is not None and mark in draft.reply.text)

    def last_speaker(self) -> str:
        """Return the skill of the previous reply, "" if no skill spoke."""
        window = self._draft.opened.window
        last = window[-1] if window and window[-1].by_bot else None
        return "" if last is None else _bot_body(last.body).active_skill

    def drop_snapshots(self) -> None:
        """Drop the snapshots and their parts; they can be made again.

        A turn that waits for the store is alive, so the garbage collector traverses all its
        objects.
        """
        self._cached_head = self._every = None
        self._earlier = {}
        self._snapshots = {}
        self._annotations, self._hypotheses, self._slots, self._drafted = {}, [], {}, []

    def utterances(self) -> list[NewUtterance]:
        """Return both utterances of the turn, for the store."""
        draft = self._draft
        opening, reply = draft.opened.opening, draft.final_reply()
        return [
            NewUtterance(
                utt_id=opening.utt_id,
                by_bot=False,
                date_time=opening.date_time,
                body=_human_body(self._input, draft.annotation_slots),
                user_version=self._stored_human().number,
                hypotheses=_encoded_hypotheses(draft.all_hypotheses()),
            ),
            NewUtterance(
                utt_id=opening.bot_utt_id,
                by_bot=True,
                date_time=reply.said_at,
                body=self._bot_parts().body,
                user_version=draft.newest_bot.number,
                active_skill=reply.active_skill,
            ),
        ]

    def reply_state(self) -> bytes:
        """Return the bot utterance as agent state JSON."""
        return self._bot_parts().state

    # -- inside -----------------------------------------------------------------------------

    def _look_again(self) -> None:
        """Drop the parts outdated by a change of the draft."""
        self._changes = self._draft.changes
        self._snapshots = {}
        self._bot = None

    def _head(self) -> SnapshotHead:
        draft, head = self._draft, self._cached_head
        human, bot = draft.newest_human.state, draft.newest_bot.state
        if head is None or not head.shows(draft.opened, human, bot):
            head = self._cached_head = SnapshotHead(draft.opened, human, bot)
            if self._user_snapshot == "current" or self._opened is not draft.opened:
                self._opened = draft.opened
                self._every = None
                self._earlier = {}
        return head

    def _earlier_utterances(
        self, room: int | None, only: str | None
    ) -> tuple[EarlierUtterances, int]:
        """Return the utterances before this turn, and the start of a window of `room` in them."""
        every = self._every
        if every is None:
            every = self._every = EarlierUtterances(self._loaded_window())
        start = _window_start(every.every, room)
        return (every, start) if only is None else (EarlierUtterances(every.every[start:], only), 0)

    def _loaded_window(self) -> list[UtteranceParts]:
        """Return the utterances before this turn, with the profiles that services see."""
        draft = self._draft
        window = draft.opened.window
        if self._user_snapshot != "current":
            return window
        human, bot = draft.newest_human.state, draft.newest_bot.state
        profiles = self._profiles = self._profiles or CurrentProfiles()
        return [
            msgspec.structs.replace(
                utterance,
                user=profiles.shown_profile(utterance.user, bot if utterance.by_bot else human),
            )
            for utterance in window
        ]

    def _meant(self) -> HumanInput | None:
        """Return the input with its whole question; None if the input is complete."""
        follow_up = read_follow_up(slot_values(self._draft.annotation_slots))
        text = self._shown_input.flat["text"]
        if follow_up is None or follow_up.text == text:
            return None
        return HumanInput(self._draft.opened.opening, follow_up.text, b"", text)

    def _current_human(self, meant: HumanInput | None = None) -> CurrentUtterance:
        draft, spoken = self._draft, meant or self._shown_input
        slots, hypotheses = draft.annotation_slots, draft.all_hypotheses()
        if slots is not self._slots:
            self._slots, self._annotations = slots, slot_values(slots) if slots else {}
        if hypotheses is not self._drafted:
            self._drafted, self._hypotheses = (
                hypotheses,
                [hypothesis.template for hypothesis in hypotheses],
            )
        inner = {
            "attributes": spoken.attributes,
            "annotations": self._annotations,
            "hypotheses": self._hypotheses,
        }
        user = self._stored_human().state
        parts = partial(_human_parts, spoken, slots, user, hypotheses)
        return CurrentUtterance(spoken.flat, inner, user, parts)

    def _stored_human(self) -> ProfileVersion | NewProfileVersion:
        """Return the stored profile of the human utterance."""
        draft = self._draft
        if self._user_snapshot == "before":
            return draft.opened.human
        # A reset leaves the utterance what it had. Both profiles have the number of the turn's
        # version, so what is stored then has attributes where the utterance had some.
        kept = draft.human_before_reset if self._user_snapshot == "current" else None
        return kept or draft.newest_human

    def _current_bot(self, reply: DraftReply) -> CurrentUtterance:
        inner = {
            "attributes": decode(reply.attributes),
            "annotations": slot_values(reply.annotations),
        }
        user = self._draft.newest_bot.state
        front = _bot_front(self._draft.opened.opening.bot_utt_id, reply)
        flat = {**front, **dict.fromkeys(inner), "user": None}
        parts = partial(_bot_parts, front, reply.attributes, reply.annotations, user)
        return CurrentUtterance(flat, inner, user, parts)

    def _bot_parts(self) -> UtteranceParts:
        if self._changes != self._draft.changes:
            self._look_again()
        if self._bot is None:
            draft = self._draft
            reply, user = draft.final_reply(), draft.newest_bot.state
            front = _bot_front(draft.opened.opening.bot_utt_id, reply)
            self._bot = _bot_parts(front, reply.attributes, reply.annotations, user)
        return self._bot


class CurrentProfiles:
    """The current profiles in a turn's utterances, each made once.

    Of a stored profile, only its persona matters and whether it has attributes, so most of a
    window's utterances show the same profile.
    """

    def __init__(self) -> None:
        self._kinds: dict[bytes, tuple[bytes, bool]] = {}
        self._shown: dict[tuple[bytes, bytes, bool], bytes] = {}

    def shown_profile(self, stored: bytes, now: bytes) -> bytes:
        """Return the profile for an utterance: `now`, adapted to the `stored` profile."""
        if stored == now:
            return now
        kind = self._kinds.get(stored)
        if kind is None:
            state = decode(stored)
            kind = encode(state["persona"]), bool(state["attributes"])
            self._kinds[stored] = kind
        key = (now, *kind)
        profile = self._shown.get(key)
        if profile is None:
            profile = self._shown[key] = encode(profile_as_now(decode(stored), decode(now)))
        return profile


def _window_start(window: list[UtteranceParts], size: int | None) -> int:
    """Return the start of the last `size` utterances (None: all), at a human utterance."""
    start = 0 if size is None else max(0, len(window) - size)
    while start < len(window) and window[start].by_bot:
        start += 1
    return start


def _human_body(human_input: HumanInput, slots: Slots) -> bytes:
    return b'%b,"annotations":%b}' % (human_input.encoded, encoded_slots(slots))


def _human_parts(
    human_input: HumanInput, slots: Slots, user: bytes, hypotheses: list[DraftHypothesis]
) -> UtteranceParts:
    encoded = _encoded_hypotheses(hypotheses)
    return UtteranceParts(False, _human_body(human_input, slots), user, encoded)


def _encoded_hypotheses(hypotheses: list[DraftHypothesis]) -> bytes:
    return b"[%b]" % b",".join([hypothesis.json_bytes for hypothesis in hypotheses])


def _bot_front(utt_id: str, reply: DraftReply) -> State:
    return {
        "utt_id": utt_id,
        "text": reply.text,
        "orig_text": reply.orig_text,
        "active_skill": reply.active_skill,
        "confidence": reply.confidence,
        "date_time": reply.said_at,
    }


def _bot_parts(front: State, attributes: bytes, annotations: Slots, user: bytes) -> UtteranceParts:
    body = b'%b,"attributes":%b,"annotations":%b}' % (
        encode(front)[:-1],
        attributes,
        encoded_slots(annotations),
    )
    return UtteranceParts(True, body, user)
