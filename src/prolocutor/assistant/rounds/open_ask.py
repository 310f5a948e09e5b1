"""The meaning of an input while an ask is open."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from typing import Any, Final

from msgspec import structs
from msgspec.structs import replace

from prolocutor.asks.answers import (
    NOT_ASKED,
    NOT_UNDERSTOOD,
    Ambiguous,
    AnswerContext,
    NotUnderstood,
    Outcome,
    Understood,
    UnknownPlace,
)
from prolocutor.asks.controls import (
    correction,
    find_control,
    opens_correction,
    wrapped_answer,
)
from prolocutor.asks.intents import Intent
from prolocutor.asks.kinds import AskKinds, has_trait, telling_kinds
from prolocutor.assistant.rounds import own_words
from prolocutor.assistant.rounds.decision import Decision
from prolocutor.assistant.rounds.program_turns import program_source
from prolocutor.contracts.programs import ProgramStart
from prolocutor.contracts.store import OpenedTurn
from prolocutor.dialog.inputs import DirectReply, TurnInput, TurnStart
from prolocutor.dialog.plain import JsonObject
from prolocutor.dialog.rounds import Ask, NarrowedAsk, OfferedChoice, PendingAsk
from prolocutor.reading.languages import (
    asks,
    denies,
    is_frequent,
    language_of,
    mended_parts,
    orders,
    without_framing,
)
from prolocutor.reading.locales.locale import find_sentences, sentence
from prolocutor.reading.plain_text import plain

_AROUND: Final = ("hesitation", "fillers", "politeness", "closings")
"""The phrases around an answer, as fields of `Words`."""

MOST_DIGRESSIONS: Final = 3
"""Turns in a row about something else after which an ask is over."""

SURE_CONFIDENCE: Final = 0.8
"""The confidence of another skill from which on a text that may be the answer is none."""

_MOST_AMONG: Final = 6
"""Words of a text in which an answer is found among others."""

_COMMANDS: Final = frozenset({"category", "commands", "more", "back", "empty"})


def narrowed_ask(waiting: PendingAsk, outcome: Ambiguous | UnknownPlace) -> PendingAsk:
    """Return the ask for which of several values is meant, or where a place of the person is."""
    ask = waiting.narrowed.ask if waiting.narrowed is not None else waiting.ask
    if isinstance(outcome, UnknownPlace):
        return replace(
            waiting,
            ask="location",
            prompt=[{"type": "text", "text": f"What is your {outcome.name} location?"}],
            choices=[],
            narrowed=NarrowedAsk(ask=ask, place=outcome.name),
        )
    return replace(
        waiting,
        ask="choice",
        prompt=[{"type": "text", "text": outcome.question}],
        choices=[OfferedChoice(title) for title in outcome.titles],
        page=0,
        narrowed=NarrowedAsk(ask=ask, values=outcome.values),
    )


class OpenAsk:
    """An open ask and an input; each method returns a decision for a kind of input.

    `switch_confidence` is the confidence at which another skill may change the subject, and
    `digressions` decides on the ask then. The assistant's own words are in the language of the
    question.
    """

    def __init__(
        self,
        waiting: PendingAsk,
        input: TurnInput,
        opened: OpenedTurn,
        context: Callable[[], AnswerContext],
        *,
        kinds: AskKinds,
        switch_confidence: float,
        digressions: str = "drop",
    ) -> None:
        self.waiting = waiting
        self._kinds = kinds
        self._input = input
        self._opened = opened
        self._context = context
        self._least = switch_confidence
        self._digressions = digressions
        prompt = " ".join(str(one.get("text", "")) for one in waiting.prompt)
        asked = language_of(prompt)
        self._language = asked.code if asked else None
        said = without_framing(input.text, "hesitation")
        self._said = said if asks(said) or orders(said) else input.text

    # -- words ------------------------------------------------------------------------------

    def text(self) -> Decision:
        """Decide on a typed text: an answer, a control command, or something else."""
        text, kind = self._said, self._kind
        if not text.strip():
            return self.again()
        if has_trait(kind, "is_raw"):
            return self._any_text(self._input.text)
        if has_trait(kind, "before_controls"):
            outcome = self._kinds.read(kind, text, self._context())
            if isinstance(outcome, Understood):
                return self._answer(outcome.value)
        control = find_control(text)
        decision = self._follow_control(control) if control is not None else None
        if decision is not None:
            return decision
        if kind == "command":
            return self._free_text(text)
        outcome = self._kinds.read(kind, text, self._context())
        if isinstance(outcome, NotUnderstood):
            outcome = self._framed_answer(text) or outcome
        if isinstance(outcome, NotUnderstood) and (meant := correction(text)) is not None:
            outcome = self._kinds.read(kind, meant, self._context())
            if isinstance(outcome, NotUnderstood) and not asks(meant):
                return self._correct()
        if isinstance(outcome, NotUnderstood) and (offered := wrapped_answer(text)) != text:
            answer = self._kinds.read(kind, offered, self._context())
            outcome = answer if isinstance(answer, Understood) else outcome
        if isinstance(outcome, NotUnderstood):
            outcome = self._answer_among(text) or outcome
        decision = self._decide(outcome, self._switch)
        if (
            has_trait(kind, "is_name")
            and isinstance(outcome, Understood)
            and asks(text.rstrip(" ?"))
        ):
            return self._unless_digressing(decision)
        return decision

    def _framed_answer(self, text: str) -> Understood | None:
        """Return the answer within courtesies, or the corrected answer: "two, no three"."""
        parts = mended_parts(text) or (text,)
        framed = [without_framing(part, *_AROUND) for part in parts]
        if framed == [text]:
            return None
        read = self._kinds.read(self._kind, framed[-1], self._context())
        return read if isinstance(read, Understood) else None

    def _answer_among(self, text: str) -> Understood | None:
        """Return the answer among frequent words and words of the question: "we are two people"."""
        words = text.strip(" .!").split()
        if not has_trait(self._kind, "is_found_among") or len(words) > _MOST_AMONG or denies(text):
            return None
        if asks(text) or orders(text):
            return None
        question_words = {
            plain(word.strip("?¿")) for one in self.waiting.prompt for word in _words(one)
        }
        empty = [plain(word).strip(",") in question_words or is_frequent(word) for word in words]
        spans = [
            (start, end)
            for start, end in combinations(range(len(words) + 1), 2)
            if all((*empty[:start], *empty[end:]))
        ]
        for start, end in sorted(spans, key=lambda span: span[0] - span[1])[1:]:
            phrase = " ".join(words[start:end])
            read = self._kinds.read(self._kind, phrase, self._context())
            if isinstance(read, Understood):
                return read
        return None

    def find_titled(self) -> dict[str, Any] | None:
        """Return the content of the button with the typed title, for clients without buttons."""
        plain_text = plain(self._input.text).strip("[]")
        if has_trait(self._kind, "is_raw") or not plain_text:
            return None
        if any(plain(choice.title) == plain_text for choice in self.waiting.choices):
            return None
        for one in self.waiting.prompt:
            if one["type"] == "button" and plain(one["title"]) == plain_text:
                json = one.get("json")
                return json if isinstance(json, dict) else None
        return None

    def again(self) -> Decision:
        """Repeat the ask: the input was empty."""
        return self._keep(own_words.asks_again(self.waiting))

    # -- what came parsed -------------------------------------------------------------------

    def intent(self, intent: Intent, parsed: dict[str, Any]) -> Decision | None:
        """Decide on a control command or a parsed answer; None if it does not concern the ask."""
        name, kind = intent.name, self.waiting.ask
        if name in ("yes", "no") and kind == "yesno":
            return self._answer(name == "yes")
        if name == "choice":
            return self._take_choice(intent)
        if name == "answer":
            return self._take_value(intent)
        if kind == "command" and name in _COMMANDS:
            return self._answer(parsed)
        if name == "maybe" and self._offers("maybe"):
            return self._answer("maybe")
        decision = self._follow_control(name)
        if decision is not None:
            return decision
        words = self._reply_alone(name)
        return None if words is None else self._keep(words)

    def button(self, skill: str, parsed: dict[str, Any]) -> Decision:
        """Decide on a skill's button: the skill gets it, and the ask is over."""
        answer = button_answer(self._input, parsed)
        if skill == self.waiting.skill:
            return self._to_asking_skill(answer)
        start = to_skill(self._input, skill, answer)
        return Decision(start=start, cancelled_skill=self.waiting.skill or None)

    def program(self, parsed: dict[str, Any]) -> Decision:
        """Decide on a program: it is run and the ask is over, unless a command was asked for."""
        if self.waiting.ask == "command":
            return self._answer(parsed)
        return Decision(
            start=TurnStart(input=self._input),
            cancelled_skill=self.waiting.skill or None,
            program=ProgramStart(opened=self._opened, source=program_source(parsed)),
        )

    @property
    def _kind(self) -> Ask:
        """The kind of value that is asked for; a choice without choices is any text."""
        bare = self.waiting.ask == "choice" and not self.waiting.choices
        return "command" if bare else self.waiting.ask

    # -- what it comes to -------------------------------------------------------------------

    def _follow_control(self, name: str) -> Decision | None:
        waiting = self.waiting
        match name:
            case "yes" | "no" if self._offers(name):
                return self._answer(name == "yes")
            case "yes":
                return self._keep(own_words.asks_again(waiting, own_words.YES_WHAT))
            case "nevermind" | "no":
                return self._cancel()
            case "stop":
                start = TurnStart(input=self._input, say=own_words.SILENCE)
                return Decision(start=start, cancelled_skill=waiting.skill or None, releases=True)
            case "help":
                hint = self._hint(self._kinds.hint(waiting.ask))
                return self._keep(own_words.asks_again(waiting, hint))
            case "again":
                return self._keep(own_words.asks_again(waiting))
            case "unsure":
                hint = self._hint(self._kinds.hint(waiting.ask))
                words = own_words.asks_again(waiting, sentence("unsure", self._language), hint)
                return self._keep(words)
            case "wait":
                words = own_words.ask_choice(waiting, sentence("no_hurry", self._language))
                return self._keep(words)
            case "more" | "back" if own_words.last_page(waiting):
                return self._turn_page(1 if name == "more" else -1)
        return None

    def _turn_page(self, by: int) -> Decision:
        page = self.waiting.page + by
        if not 0 <= page <= own_words.last_page(self.waiting):
            return self._keep(own_words.ask_choice(self.waiting, own_words.NO_MORE))
        turned = structs.replace(self.waiting, page=page)
        return self._keep(own_words.ask_choice(turned), turned)

    def _take_choice(self, intent: Intent) -> Decision:
        waiting = self.waiting
        if waiting.ask != "choice":
            return self._wrong(self._kinds.hint(waiting.ask))
        outcome = self._kinds.take_value("choice", "choice", intent.value, self._context())
        if isinstance(outcome, Understood):
            return self._answer(outcome.value)
        return self._keep(own_words.ask_choice(waiting, own_words.CLICK))

    def _take_value(self, intent: Intent) -> Decision:
        outcome = self._kinds.take_value(self._kind, intent.kind, intent.value, self._context())
        return self._decide(outcome, self._wrong)

    def _decide(self, outcome: Outcome, otherwise: Callable[[str], Decision]) -> Decision:
        """Return the decision on an answer; the rest of the ask is asked next."""
        match outcome:
            case Understood(value):
                return self._answer(value)
            case NotUnderstood(hint):
                return otherwise(hint)
        return self._keep(DirectReply(), narrowed_ask(self.waiting, outcome))

    def _reply_alone(self, name: str) -> DirectReply | None:
        """Return the reply to other control commands; None for a command without effect."""
        waiting = self.waiting
        looked_for = self._kinds.hint(waiting.ask)
        match name:
            case "wakeup":
                return own_words.SILENCE
            case "debug":
                who = waiting.skill or "a program"
                return own_words.asks_again(waiting, f"{who} waits for: {waiting.ask}.")
            case "failed":
                return own_words.ask_choice(waiting, NOT_UNDERSTOOD, looked_for)
            case "more" | "back":
                return own_words.ask_choice(waiting, own_words.NO_MORE)
            case "train":
                return own_words.asks_again(waiting, own_words.NO_TRAINING)
            case "makerule":
                return own_words.asks_again(waiting, own_words.NO_RULES)
            case "hello" | "empty":
                return own_words.asks_again(waiting)
            case "maybe" | "filter":
                return own_words.asks_again(waiting, NOT_ASKED, looked_for)
        return None

    def _answer(self, value: Any) -> Decision:
        waiting = self.waiting
        narrowed, learned, kind = waiting.narrowed, {}, waiting.ask
        if narrowed is not None:
            kind = narrowed.ask
            if narrowed.place:
                learned = self._add_place(narrowed.place, value)
            else:
                value = narrowed.values[value["idx"]]
        decision = self._decide_answer(kind, value)
        return structs.replace(decision, learned=learned) if learned else decision

    def _add_place(self, name: str, place: JsonObject) -> JsonObject:
        return {"locations": {**self._context().places, name: place}}

    def _decide_answer(self, kind: Ask, value: Any) -> Decision:
        waiting = self.waiting
        is_choice = waiting.narrowed is None and self._kind == "choice"
        chosen = value if is_choice and isinstance(value, dict) else None
        if chosen is not None and (forward := waiting.choices[chosen["idx"]].forward):
            return Decision(start=to_skill(self._input, forward.skill, heard=forward.text))
        answer = {"kind": kind, "value": value, "raw": self._input.text}
        if not waiting.skill:
            going_on = ProgramStart(opened=self._opened, context=waiting.context, answer=value)
            return Decision(start=TurnStart(input=self._input), program=going_on)
        if waiting.context is not None:
            answer["context"] = waiting.context
        return self._to_asking_skill(answer)

    def _to_asking_skill(self, answer: dict[str, Any]) -> Decision:
        """Return an answer to the skill that asked; if it fails, the ask is repeated once.

        A skill that says how to answer (a `hint`) may decline any words: then they were none.
        """
        waiting = self.waiting
        start = to_skill(self._input, waiting.skill, answer)
        if waiting.hint and waiting.ask == "command" and answer["kind"] != "cancelled":
            return Decision(start=start, instead=self._switch(""))
        if waiting.repeated:
            return Decision(start=start)
        words = own_words.asks_again(waiting, own_words.NOT_WORKING)
        repeated = structs.replace(waiting, repeated=True)
        return Decision(start=structs.replace(start, otherwise=words), pending=repeated)

    def _cancel(self) -> Decision:
        words = own_words.says(sentence("given_up", self._language or self._context().language))
        if self.waiting.skill:
            start = to_skill(self._input, self.waiting.skill, cancelled_answer(self.waiting))
            start = structs.replace(start, otherwise=words)
        else:
            start = TurnStart(input=self._input, say=words)
        return Decision(start=start, ends=True)

    def _switch(self, hint: str) -> Decision:
        """Decide on a text that is not an answer: another skill may change the subject."""
        waiting = self.waiting
        code = self._language
        what = "not_asked" if self._is_other() else "not_understood"
        words = own_words.asks_again(waiting, sentence(what, code), self._hint(hint))
        start = TurnStart(
            input=self._input,
            excluded=waiting.skill,
            least=self._least,
            otherwise=words,
            heard=self._said if self._said != self._input.text else None,
        )
        if self._digressions == "drop" or waiting.digressions >= MOST_DIGRESSIONS:
            return Decision(start=start, pending=waiting, cancelled_skill=waiting.skill or None)
        kept = structs.replace(waiting, digressions=waiting.digressions + 1)
        returns = self._digressions == "return"
        return Decision(start=start, pending=waiting, kept=kept, returns=returns)

    def _free_text(self, text: str) -> Decision:
        """Decide on words for an ask that nearly any words answer."""
        if opens_correction(text):
            return self._unless_digressing(self._correct())
        meant = correction(text)
        said = text if meant is None else text.strip()[-len(meant) :]
        framed = asks(text) or orders(text)
        return self._any_text(said if framed else without_framing(said, *_AROUND))

    def _any_text(self, text: str) -> Decision:
        """Decide on a text where any is an answer."""
        answer = self._decide(self._kinds.read(self._kind, text, self._context()), self._wrong)
        if self._kind == "password" or answer.program is not None:
            return answer
        return self._unless_digressing(answer)

    def _unless_digressing(self, answer: Decision) -> Decision:
        """Return a decision that lets another skill go first if it surely answers what is clearly a
        question or an order."""
        if not (asks(self._input.text) or orders(self._input.text)):
            return answer
        other = self._switch("")
        start = replace(other.start, least=max(self._least, SURE_CONFIDENCE))
        return replace(other, start=start, instead=answer)

    def _correct(self) -> Decision:
        """Ask all skills: the person corrects the question's subject, or changes the skill."""
        other = self._switch("")
        start = TurnStart(input=self._input, least=None)
        return replace(other, start=start, pending=None, cancelled_skill=self.waiting.skill or None)

    def _is_other(self) -> bool:
        context = self._context()
        return any(
            isinstance(self._kinds.read(kind, self._input.text, context), Understood)
            for kind in telling_kinds()
            if kind != self.waiting.ask
        )

    def _hint(self, hint: str) -> str:
        """Return a hint on how to answer, in the language of the question, with an example."""
        if self.waiting.hint:
            return self.waiting.hint
        code, kind = self._language, self._kind
        told = (
            find_sentences(code or "en").get(f"hint_{kind}") if code not in (None, "en") else hint
        )
        titles = [one.title for one in self.waiting.choices]
        sample = titles[0] if titles else find_sentences(code or "en").get(f"sample_{kind}", "")
        if not sample or (told and sample in told):
            return told or hint
        return f"{told or hint} {sentence('for_example', code).replace('{sample}', sample)}"

    def _wrong(self, hint: str) -> Decision:
        words = sentence("not_asked", self._language)
        return self._keep(own_words.asks_again(self.waiting, words, self._hint(hint)))

    def _keep(self, words: DirectReply, waiting: PendingAsk | None = None) -> Decision:
        """Reply with the assistant's words and keep the ask open."""
        if waiting is not None and waiting.narrowed is not None and not words.messages:
            words = own_words.asks_again(waiting)
        return Decision(
            start=TurnStart(input=self._input, say=words), pending=waiting or self.waiting
        )

    def _offers(self, special: str) -> bool:
        """Return whether a button of the ask's own carries this control command."""
        code = ["bookkeeping", "special", f"special:{special}"]
        buttons = (one.get("json") for one in self.waiting.prompt if one["type"] == "button")
        return any(isinstance(json, dict) and json.get("code") == code for json in buttons)


def _words(message: JsonObject) -> list[str]:
    """Return the words of the text of a message."""
    return str(message.get("text", "")).split()


def to_skill(
    input: TurnInput, skill: str, answer: dict[str, Any] | None = None, heard: str | None = None
) -> TurnStart:
    """Return the start of a turn of a single skill, with an apology if it does not reply."""
    return TurnStart(
        input=input,
        forced_skill=skill,
        extra={} if answer is None else {"answer": answer},
        heard=heard,
        otherwise=own_words.says(own_words.CANNOT_HELP),
    )


def cancelled_answer(waiting: PendingAsk | None) -> dict[str, Any]:
    """Return the answer that tells a skill that its ask is over."""
    if waiting is None or waiting.context is None:
        return {"kind": "cancelled"}
    return {"kind": "cancelled", "context": waiting.context}


def button_answer(input: TurnInput, parsed: dict[str, Any]) -> dict[str, Any]:
    """Return the answer for a press of a skill's own button: the content of the button."""
    own = {key: value for key, value in parsed.items() if key != "skill"}
    return {"kind": "button", "value": parsed.get("payload", own), "raw": input.text}
