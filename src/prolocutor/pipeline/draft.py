"""The only file that writes to a dialog: the slots of one turn, kept as the bytes they will be.

Each service owns a slot named after its stage and itself; the order in which replies arrive never
shows. What is written is encoded once: these bytes are what other services are shown, what the
store keeps and what the next turn's window splices.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from prolocutor.contracts.store import (
    NewProfileVersion,
    NewUtterance,
    OpenedTurn,
    TurnOpening,
    UtteranceParts,
)
from prolocutor.dialog.ids import timestamp
from prolocutor.dialog.inputs import DirectReply
from prolocutor.dialog.plain import Plain, decode, encode
from prolocutor.dialog.rendering import plain_text
from prolocutor.pipeline import window
from prolocutor.pipeline.attributes import next_version
from prolocutor.pipeline.replies import Fault, SelectorChoice
from prolocutor.pipeline.requests import Shown

Order = int
"""Position of a service in the declared order."""

Slots = dict[str, bytes]
"""Annotations by name, in declared order, each as a member of a JSON object: `"name":value`."""


class DraftHypothesis:
    """A hypothesis in its slot: `id` is `<skill>.<position>` and nobody else's to give."""

    __slots__ = ("_front", "_slots", "encoded", "id", "skill", "value")

    def __init__(self, skill: str, position: int, value: dict[str, Any]) -> None:
        self.skill = skill
        self.id = f"{skill}.{position}"
        self.value = value
        shown = {"skill_name": skill, **value, "hypothesis_id": self.id}
        self._slots = slots_of(shown.pop("annotations", None) or {})
        self._front = encode(shown)[:-1]
        self._encode()

    @property
    def annotations(self) -> Slots:
        """What candidate annotators (and the skill itself) noted."""
        return self._slots

    def annotate(self, name: str, encoded: bytes, order: dict[str, Order]) -> None:
        """Fill a candidate annotator's slot."""
        self._slots = filled(self._slots, name, encoded, order)
        self._encode()

    def _encode(self) -> None:
        self.encoded = b'%b,"annotations":%b}' % (self._front, object_of(self._slots))


ITSELF: Final = "assistant"
"""What `Reply.by` is where the assistant speaks for itself."""

_RICH: Final = frozenset({"messages", "ask"})


class DraftReply(msgspec.Struct, kw_only=True):
    """The reply as far as it has come; `by` says which way it came about.

    `messages` and `ask` stand in the attributes as well. `silent`: it is not to be spoken.
    """

    by: str
    text: str
    orig_text: str
    active_skill: str
    confidence: float
    chosen: list[str]
    attributes: bytes
    annotations: Slots
    messages: list[dict[str, Any]] = []
    ask: str | None = None
    silent: bool = False

    @property
    def says_something(self) -> bool:
        """Whether there is anything to be spoken."""
        return bool(self.text.strip() or self.messages)


class Draft:
    """One turn's additions to a dialog, as far as they have come.

    `speakers` are the hypotheses that the reply was made of.
    """

    def __init__(
        self,
        begun: OpenedTurn,
        order: dict[str, Order],
        skills: list[str],
        heard: str | None = None,
    ) -> None:
        said = begun.opening
        self.begun = begun
        self.reply: DraftReply | None = None
        self.human: NewProfileVersion | None = None
        self.bot: NewProfileVersion | None = None
        self.speakers: list[DraftHypothesis] = []
        self.abstained = False
        self._order = order
        self._annotations: Slots = {}
        self._candidates: dict[str, list[DraftHypothesis]] = {skill: [] for skill in skills}
        self._encoded_head: bytes | None = None
        self._shown: dict[tuple[int | None, str | None], Shown] = {}
        self._bot_said: UtteranceParts | None = None
        self._learnt: list[dict[str, Any]] = []
        self._told: dict[str, Any] = {}
        self._front = _front(said, said.encoded_text or encode(said.text))
        self._shown_front = self._front if heard is None else _front(said, encode(heard))

    # -- what is known so far ---------------------------------------------------------------

    def candidates(self) -> list[DraftHypothesis]:
        """Return all hypotheses, in declared order of the skills."""
        return [one for each in self._candidates.values() for one in each]

    def candidates_of(self, skill: str) -> list[DraftHypothesis]:
        """Return the hypotheses of one skill."""
        return self._candidates[skill]

    def hypotheses(self) -> list[dict[str, Any]]:
        """Return the agent state of all hypotheses: a copy."""
        return [decode(one.encoded) for one in self.candidates()]

    def find(self, hypothesis_id: str) -> DraftHypothesis | None:
        """Return the hypothesis of this id."""
        each = self._candidates.get(hypothesis_id.rpartition(".")[0], [])
        return next((candidate for candidate in each if candidate.id == hypothesis_id), None)

    def chosen(self, choice: SelectorChoice) -> list[DraftHypothesis]:
        """Return the hypotheses that a response selector's choice means."""
        if choice.named is not None:
            found = [self.find(one) for one in choice.named]
            return [candidate for candidate in found if candidate is not None]
        every = self.candidates()
        of_skill = [one for one in every if one.skill == choice.skill_name] or [
            one for one in every if one.value.get("skill_name") == choice.skill_name
        ]
        for candidate in of_skill:
            if candidate.value["text"] == choice.text:
                return [candidate]
        return [max(of_skill, key=lambda c: c.value["confidence"])] if of_skill else []

    def spoken(self) -> DraftReply:
        """Return the reply, which there must be by now."""
        assert self.reply is not None, "nothing has been said yet"
        return self.reply

    def annotations(self) -> dict[str, Any]:
        """Return the annotations of the human utterance: a copy."""
        return decode(object_of(self._annotations))  # type: ignore[no-any-return]

    def shown(self, size: int | None, only: str | None = None) -> Shown:
        """Return what services see now with a window of `size` utterances (None: all).

        A window never starts with a bot utterance. Of earlier turns it shows those in which the
        skill `only` spoke (None: all of them).
        """
        shown = self._shown.get((size, only))
        if shown is None:
            current = [self._current_human(self._shown_front)]
            if self.reply is not None:
                current.append(self._current_bot())
            room = None if size is None else max(0, size - len(current))
            earlier = window.earlier(self.begun.window, room)
            if only is not None:
                earlier = window.turns_of(only, earlier)
            every = [*earlier, *current]
            bodies = b",".join([said.body for said in every])
            state = b"".join((self._head(), bodies, b"]"))
            shown = Shown(state, every, self._human_state(), self._bot_state())
            self._shown[size, only] = shown
        return shown

    # -- slots ------------------------------------------------------------------------------

    def annotate(self, name: str, reply: Plain) -> None:
        """Fill an annotator's slot of the human utterance."""
        self._annotations = filled(self._annotations, name, reply.encoded, self._order)
        self._human_changed()

    def hypothesize(self, skill: str, values: list[dict[str, Any]]) -> list[DraftHypothesis]:
        """Fill a skill's slot."""
        made = [DraftHypothesis(skill, position, value) for position, value in enumerate(values)]
        self._candidates[skill] = made
        self._human_changed()
        return made

    def withdraw(self, skill: str) -> None:
        """Empty the slot of a skill that was not selected after all."""
        self._candidates[skill] = []
        self._human_changed()

    def annotate_candidate(self, candidate: DraftHypothesis, name: str, reply: Plain) -> None:
        """Fill a candidate annotator's slot of one hypothesis."""
        candidate.annotate(name, reply.encoded, self._order)
        self._human_changed()

    def choose(self, choice: SelectorChoice, max_attributes: int, fault: Fault) -> None:
        """Take a response selector's choice for the reply.

        The chosen hypothesis is the one that was named; else the first whose skill and text are
        equal; else the most confident of that skill. The attributes of all that were named update
        the profiles in that order, then the selector's own.
        """
        self.speakers = chosen = self.chosen(choice)
        first = chosen[0].value if chosen else {}
        attributes = first.get("attributes") if choice.attributes is None else choice.attributes
        messages = choice.messages
        if messages is None:
            messages = first.get("messages")
            if messages and choice.text != first["text"]:
                messages = rewritten(messages, choice.text)
        ask = choice.ask if choice.ask is not None else first.get("ask")
        annotations: Slots = {}
        if choice.annotations is not None:
            annotations = slots_of(choice.annotations)
        elif len(chosen) == 1:
            annotations = chosen[0].annotations
        own = {
            "human_attributes": choice.human_attributes,
            "bot_attributes": choice.bot_attributes,
        }
        values = [one.value for one in chosen]
        self._learn([*self._learnt, *values, own], max_attributes, fault)
        self._speak(
            DraftReply(
                by="selector",
                text=choice.text,
                orig_text=choice.text,
                active_skill=self._slot_of(choice.skill_name, chosen),
                confidence=choice.confidence,
                chosen=[candidate.id for candidate in chosen],
                attributes=encode(attributes_of(attributes, messages, ask)),
                annotations=annotations,
                messages=messages or [],
                ask=ask,
            )
        )

    def choose_most_confident(
        self, preferred: str | None, margin: float, max_attributes: int, fault: Fault
    ) -> bool:
        """Take the most confident hypothesis for the reply, ties by declared order.

        `preferred` is the skill that wins unless another is more confident by more than `margin`.
        False where there is no hypothesis, or none that is good enough.
        """
        candidates = self.candidates()
        if not candidates or self.abstained:
            return False
        best = max(
            [one for one in candidates if _says_something(one)] or candidates,
            key=lambda c: c.value["confidence"] + (margin if c.skill == preferred else 0.0),
        )
        choice = SelectorChoice(
            skill_name=best.skill,
            text=best.value["text"],
            confidence=best.value["confidence"],
            named=[best.id],
        )
        self.choose(choice, max_attributes, fault)
        if self.reply is not None:
            self.reply.by = "confidence"
        return True

    def say(
        self,
        by: str,
        skill: str,
        text: str,
        annotations: dict[str, Any],
        attributes: dict[str, Any] | None = None,
    ) -> None:
        """Reply with words that are no hypothesis: of the last chance, or the fallback text."""
        self.speakers = []
        self._speak(
            DraftReply(
                by=by,
                text=text,
                orig_text=text,
                active_skill=skill,
                confidence=0.0,
                chosen=[],
                attributes=encode(attributes or {}),
                annotations=slots_of(annotations),
            )
        )

    def abstain(self) -> None:
        """Note that no hypothesis is good enough to be said."""
        self.abstained = True

    def say_itself(self, words: DirectReply, attributes: dict[str, Any] | None = None) -> None:
        """Reply with words of the assistant's own; without messages in silence."""
        messages = words.messages
        texts = [one["text"] for one in messages if one["type"] == "text"]
        text = texts[0] if texts else plain_text(messages)
        rich = words.ask is not None or len(messages) > len(texts[:1])
        told = attributes_of(attributes, messages if rich else None, words.ask)
        self.say(ITSELF, words.skill, text, {}, told)
        reply = self.spoken()
        reply.messages, reply.ask, reply.silent = messages, words.ask, not messages

    def show(self, messages: list[dict[str, Any]], ask: str | None) -> None:
        """Return the reply other messages, and another ask; its texts stay."""
        reply = self.spoken()
        reply.messages, reply.ask = messages, ask
        reply.attributes = encode(attributes_of(decode(reply.attributes), messages, ask))
        self._bot_changed()

    def rewrite(self, text: str) -> None:
        """Return the reply another text; `orig_text` stays, and the first text message follows."""
        reply = self.spoken()
        if reply.messages:
            self.show(rewritten(reply.messages, text), reply.ask)
        reply.text = text
        self._bot_changed()

    def know(self, attributes: dict[str, Any], max_attributes: int, fault: Fault) -> None:
        """Take what a client tells of the person: services see it in this turn already."""
        self._told = attributes
        self._learn([], max_attributes, fault)

    def learn(self, value: dict[str, Any], max_attributes: int, fault: Fault) -> None:
        """Let attributes of a skill that does not speak count as well, after all others."""
        self._learn([*self._learnt, value], max_attributes, fault)
        self._encoded_head = None
        self._human_changed()
        self._bot_changed()

    def annotate_reply(self, name: str, reply: Plain) -> None:
        """Fill a response annotator's slot of the bot utterance."""
        spoken = self.spoken()
        spoken.annotations = filled(spoken.annotations, name, reply.encoded, self._order)
        self._bot_changed()

    # -- what is stored ---------------------------------------------------------------------

    def utterances(self) -> list[NewUtterance]:
        """Return both utterances of the turn as the store keeps them."""
        said, reply = self.begun.opening, self.spoken()
        return [
            NewUtterance(
                utt_id=said.utt_id,
                by_bot=False,
                date_time=said.date_time,
                body=self._current_human(self._front).body,
                user_version=(self.human or self.begun.human).number,
                hypotheses=self._encoded_hypotheses(),
            ),
            NewUtterance(
                utt_id=said.bot_utt_id,
                by_bot=True,
                date_time=self._replied_at,
                body=self._current_bot().body,
                user_version=(self.bot or self.begun.bot).number,
                active_skill=reply.active_skill,
            ),
        ]

    def reply_state(self) -> bytes:
        """Return the bot utterance as agent state JSON."""
        return self._current_bot().state

    # -- inside -----------------------------------------------------------------------------

    def _slot_of(self, skill: str, chosen: list[DraftHypothesis]) -> str:
        """Return a skill's own name, where a hypothesis was known by another that it gave
        itself."""
        return skill if skill in self._candidates or not chosen else chosen[0].skill

    def _speak(self, reply: DraftReply) -> None:
        self.reply = reply
        self._replied_at = timestamp()
        self._encoded_head = None
        self._human_changed()
        self._bot_changed()

    def _human_changed(self) -> None:
        self._shown = {}

    def _bot_changed(self) -> None:
        self._bot_said = None
        self._shown = {}

    def _human_state(self) -> bytes:
        return (self.human or self.begun.human).state

    def _bot_state(self) -> bytes:
        return (self.bot or self.begun.bot).state

    def _head(self) -> bytes:
        if self._encoded_head is None:
            states = self._human_state(), self._bot_state()
            self._encoded_head = window.head(self.begun, *states)
        return self._encoded_head

    def _encoded_hypotheses(self) -> bytes:
        return b"[%b]" % b",".join([one.encoded for one in self.candidates()])

    def _current_human(self, front: bytes) -> UtteranceParts:
        body = b'%b,"annotations":%b}' % (front, object_of(self._annotations))
        return UtteranceParts(False, body, self._human_state(), self._encoded_hypotheses())

    def _bot_body(self) -> bytes:
        reply = self.spoken()
        front = encode(
            {
                "utt_id": self.begun.opening.bot_utt_id,
                "text": reply.text,
                "orig_text": reply.orig_text,
                "active_skill": reply.active_skill,
                "confidence": reply.confidence,
                "date_time": self._replied_at,
            }
        )[:-1]
        return b'%b,"attributes":%b,"annotations":%b}' % (
            front,
            reply.attributes,
            object_of(reply.annotations),
        )

    def _current_bot(self) -> UtteranceParts:
        if self._bot_said is None:
            self._bot_said = UtteranceParts(True, self._bot_body(), self._bot_state())
        return self._bot_said

    def _learn(self, every: list[dict[str, Any]], max_attributes: int, fault: Fault) -> None:
        """Change both profiles by what these say of human and bot, one after the other."""
        self._learnt = every
        for_human = [self._told, *(one.get("human_attributes") for one in every)]
        if any(for_human):
            self.human = next_version(self.begun.human, for_human, max_attributes, fault)
        for_bot = [one.get("bot_attributes") for one in every]
        if any(for_bot):
            self.bot = next_version(self.begun.bot, for_bot, max_attributes, fault)


def _front(said: TurnOpening, encoded_text: bytes) -> bytes:
    """Return the front of the human utterance's body."""
    return b'{"utt_id":"%b","text":%b,"date_time":"%b","attributes":%b' % (
        said.utt_id.encode(),
        encoded_text,
        said.date_time.encode(),
        said.attributes,
    )


def _says_something(candidate: DraftHypothesis) -> bool:
    return bool(candidate.value["text"].strip() or candidate.value.get("messages"))


def filled(slots: Slots, name: str, encoded: bytes, order: dict[str, Order]) -> Slots:
    """Fill one slot, keeping declared order whatever the order of arrival."""
    late = slots and order.get(name, -1) < order.get(next(reversed(slots)), -1)
    every = {**slots, name: b"%b:%b" % (encode(name), encoded)}
    if late:
        return dict(sorted(every.items(), key=lambda slot: order.get(slot[0], -1)))
    return every


def slots_of(values: dict[str, Any]) -> Slots:
    """Return the slots that hold these values."""
    return {name: b"%b:%b" % (encode(name), encode(value)) for name, value in values.items()}


def object_of(slots: Slots) -> bytes:
    """Return the JSON object of what the slots hold."""
    return b"{%b}" % b",".join(slots.values())


def attributes_of(
    own: dict[str, Any] | None, messages: list[dict[str, Any]] | None, ask: str | None
) -> dict[str, Any]:
    """Return the attributes of a reply: what there is of messages and ask stands among them."""
    if not own and not messages and ask is None:
        return {}
    attributes = {key: value for key, value in (own or {}).items() if key not in _RICH}
    if messages:
        attributes["messages"] = messages
    if ask is not None:
        attributes["ask"] = ask
    return attributes


def rewritten(messages: list[dict[str, Any]], text: str) -> list[dict[str, Any]]:
    """Return messages whose first text is another."""
    for place, message in enumerate(messages):
        if message["type"] == "text":
            return [*messages[:place], {**message, "text": text}, *messages[place + 1 :]]
    return messages
