"""The annotator `follow_up`: the whole question that the words of a turn mean.

It reads the words and the last turn alone, needs no model and takes well under a millisecond.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, partial
from itertools import islice
from typing import Any, Final

from msgspec.structs import replace

from prolocutor.asks.controls import find_command
from prolocutor.contracts.connector import AgentProfile
from prolocutor.dialog.rounds import FOLLOW_UP
from prolocutor.plugins.language.follow_up.certainty import LIKELY, SURE
from prolocutor.plugins.language.follow_up.fragments import fragment_of
from prolocutor.plugins.language.follow_up.framing import (
    as_direct_question,
    framing_of,
    request_in,
)
from prolocutor.plugins.language.follow_up.general import (
    Meaning,
    continuing,
    meaning_of,
    question_of,
    takes_back,
    undoes,
)
from prolocutor.plugins.language.follow_up.grammar import (
    ENGLISH,
    TRIMMED,
    LanguageGrammar,
    grammar_of,
    grammar_or_english,
    is_courtesy,
    plain_of,
    stems_of,
)
from prolocutor.plugins.language.follow_up.last_turn import (
    LastTurn,
    earlier_turns_of,
    last_turns_of,
)
from prolocutor.plugins.language.follow_up.listed import things_of_reply
from prolocutor.plugins.language.follow_up.normalizing import Normalizer, cut_out
from prolocutor.plugins.language.follow_up.phrasings.reading import SURE_SCORE, PhrasingReader
from prolocutor.plugins.language.follow_up.pronouns import fill_pronoun
from prolocutor.plugins.language.follow_up.rereading import inner_requests, put_topic_first
from prolocutor.plugins.language.follow_up.returning import (
    TWO_TURNS,
    EarlierTurns,
    about,
    annotation_of,
    fitting_turn,
    named_first,
    owning_turn,
    pointed_back,
    resumed,
    returned,
    told_first,
    with_one_list,
)
from prolocutor.plugins.language.follow_up.wordings import mistyped, named_item
from prolocutor.plugins.language.language_wishes import (
    names_language,
    wished_language,
    without_wish,
)
from prolocutor.reading.languages import denies, language_of_request, mended_parts, without_chat
from prolocutor.reading.locales.locale import codes
from prolocutor.reading.plain_text import compile_patterns

MOST_WORDS: Final = 14
LONGEST_TEXT: Final = 160
LONGEST_QUESTION: Final = 400
LONGEST_FRAMED: Final = 300
"""Characters of a text of which the request is found among greetings, thanks and remarks."""
MOST_BEFORE: Final = 4
"""Turns of which the entities may be "both" or "the other one", with the last."""

LEAST_WORDS: Final = 3
"""Words of the shortest text that is a request by itself though it does not begin as one."""

ALONE: Final = 0.6
"""How sure it is that words in another spelling mean the same."""

OwnRule = Callable[[LastTurn], Any]


class FollowUps:
    """The annotator, with the rules that agents bring of their own, by their names."""

    def __init__(self, skills: Sequence[AgentProfile] = ()) -> None:
        self._own: dict[str, OwnRule] = {
            one.name: one.continues for one in skills if one.continues is not None
        }
        self._normalizer = Normalizer(skills)
        self._phrasings = PhrasingReader(skills)
        self._cards: dict[tuple[str, str], frozenset[str]] = {}

    def with_skills(self, skills: Sequence[AgentProfile]) -> FollowUps:
        """Return the annotator that asks these skills' own rules first, ready for any turn.

        What is needed for other languages than English is made ready by a thread, which no turn of
        another language waits for.
        """
        made = FollowUps(skills)
        language_of_request("ready. steady?")
        for code in codes():
            made._normalizer.normalized("ready", code)
            _unframed("ready", code)
            _mended("ready", code)
        made._prepare(ENGLISH)
        threading.Thread(target=made._prepare_every_language, daemon=True).start()
        return made

    def _prepare(self, code: str) -> None:
        """Compile the patterns of a language, and make its model of phrasings."""
        if grammar := grammar_of(code):
            compile_patterns(grammar)
            compile_patterns(framing_of(code))
        self._phrasings.model(code)

    def _prepare_every_language(self) -> None:
        for code in codes():
            self._prepare(code)
            self._phrasings.model(code).read("made ready")  # agents read their tables of names

    def __call__(self, state: Mapping[str, Any]) -> dict[str, Any]:
        """Return `{"text", "of", "confidence", "skill"}`, or `{}` where the words stand alone.

        `text` is the whole question that they mean, `of` the earlier question that it is made from,
        `confidence` how sure it is: from 0.75 on the words can mean nothing else, below they may as
        well stand alone. `skill` is the agent that answered the earlier question, `language` the
        language of the question if the words are in another. `corrects`: what the last turn did was
        not meant; where nothing is meant in its place the `text` are the words. `normalized` are
        the words in the agents' spelling if it differs; where they stand alone they are the `text`,
        and there is no `of`. `state` is agent state JSON.
        """
        utterance = state["human_utterances"][-1]
        said = " ".join(str(utterance.get("text", "")).split())
        if not said or len(said) > LONGEST_FRAMED:
            return {}
        if (noted := (utterance.get("annotations") or {}).get(FOLLOW_UP)) is not None:
            return self._read_again(state, said, noted)
        request, _ = without_wish(said)
        told = language_of_request(request)
        spoken = told.code if told else ""
        if about_named := told_first(request, grammar_or_english(spoken)):
            return about_named
        text = cut_out(grammar_or_english(spoken).hesitation, _unframed(request, spoken))
        if len(text) > LONGEST_TEXT or len(text.split()) > MOST_WORDS:
            bare = self._normalizer.normalized(text, spoken).bare
            return {} if bare == said else {**_alone(bare, said, text), "normalized": bare}
        turns = last_turns_of(state, text)
        spoken = spoken or (turns[-1].spoken if turns else "")
        code = spoken or (turns[-1].language if turns else "")
        text = _mended(text, code, begins=not turns)
        keeps = not text.endswith("?") and _goes_on_from_order(turns)
        meant = self._normalizer.normalized(_mending_first(text, code), code, keeps=keeps)
        if meant.spelled != text:  # courtesies, too, were mistyped
            meant = self._normalizer.normalized(_unframed(meant.spelled, spoken), code, keeps=keeps)
        if meant.spelled != text:
            turns = [replace(one, text=meant.spelled) for one in turns]
        earlier = cache(partial(earlier_turns_of, state, meant.spelled))
        found = self._returned(meant.spelled, turns, earlier, code) if turns else {}
        grammar, own = grammar_or_english(code), partial(self._own_meaning, spoken=code)
        card_of = partial(self.card_of, grammar=grammar)
        found = found or pointed_back(meant.spelled, state, grammar, own, card_of)
        if turns and len(state["utterances"]) >= TWO_TURNS:
            found = found or self._passed_over(meant.spelled, turns, earlier, code)
        turns = _with_turn_before(turns, meant.spelled, earlier, code)
        found = found or self._follow_up(meant.spelled, turns, spoken)
        found = found or resumed(meant.spelled, turns, earlier, grammar, own)
        if meant.bare == said:
            return found
        alone = _alone(meant.bare, said, *{text, meant.spelled})
        return {**(found or alone), "normalized": meant.bare}

    def _read_again(self, state: Mapping[str, Any], said: str, noted: Any) -> dict[str, Any]:
        """Return the next reading of words that no agent has answered; `{}` if there is none."""
        noted = noted if isinstance(noted, Mapping) else {}
        number = noted.get("reading", 0)
        first = self(_saying(state, said)) if number else noted
        every = self._readings(state, said, first)
        found = next(islice(every, number, None), None)
        return {} if found is None else {**found, "reading": number + 1}

    def _readings(
        self, state: Mapping[str, Any], said: str, first: Mapping[str, Any]
    ) -> Iterator[dict[str, Any]]:
        """Return the readings of words but for the first, each once."""
        tried = {_bare(said), _bare(str(first.get("text", "")))}
        for found in self._further(state, said):
            if _bare(found["text"]) not in tried:
                tried.add(_bare(found["text"]))
                yield found

    def _further(self, state: Mapping[str, Any], said: str) -> Iterator[dict[str, Any]]:
        """Return further readings of words, the likeliest first: what they surely mean by the
        phrasings of skills, the request among other words, what is about the subject before.
        """
        request, _ = without_wish(said)
        told = language_of_request(request)
        turns = last_turns_of(state, request)
        code = told.code if told else (turns[-1].spoken or turns[-1].language if turns else "")
        grammar = grammar_or_english(code)
        spelled = self._normalizer.nearest_words(request, code)
        requests = [*self._phrasings.requests(spelled, grammar, turns)]
        sure = [one.text for one in requests if one.score >= SURE_SCORE]
        if each := self._clause_by_clause(spelled, grammar, turns):
            yield _alone(each, said, spelled)
        yield from (self._read_part(state, one) for one in sure)
        for turn in turns:
            if question := self._phrasings.question_of(turn):
                asked = replace(turn, question=question, text=spelled, spoken=code)
                if meant := self._meaning(asked):
                    yield annotation_of(turn, meant[0], LIKELY)
        for part in (spelled, *inner_requests(spelled, grammar)):
            yield self._read_part(state, part)
        for turn in turns:
            if whole := put_topic_first(spelled, turn, grammar):
                yield annotation_of(turn, whole, LIKELY)
        yield from (self._read_part(state, one.text) for one in requests[len(sure) :])

    def _read_part(self, state: Mapping[str, Any], text: str) -> dict[str, Any]:
        """Return what a text means after the turns before, else the text itself."""
        found = self(_saying(state, text))
        return found if found.get("of") else {"text": text, "of": "", "confidence": LIKELY}

    def _clause_by_clause(self, text: str, grammar: LanguageGrammar, turns: list[LastTurn]) -> str:
        """Return a text of several requests with those that are surely read in skills' words."""
        found, parts = text, _parting(grammar.code).split(text)
        for clause in parts if len(parts) > 1 else ():
            told = language_of_request(clause)
            its = grammar_or_english(told.code) if told else grammar
            read = next(self._phrasings.requests(clause, its, turns), None)
            if read is not None and read.score >= SURE_SCORE:
                found = found.replace(clause, read.text)
        return "" if found == text else found

    def _returned(
        self, text: str, last: list[LastTurn], earlier: EarlierTurns, code: str
    ) -> dict[str, Any]:
        """Return the meaning of words that come back to an earlier question than the last."""
        grammar = grammar_or_english(code)
        plain = plain_of(text)
        if not (grammar.coming_back.match(plain) or grammar.recalling.match(plain)):
            return self._named_first(text, last, grammar)
        told_by = partial(self._normalizer.card_text, code=grammar.code)
        back = returned(text, earlier(), grammar, told_by)
        if back is None:
            return {}
        (whole, sure), turn = back
        return annotation_of(turn, whole, sure)

    def _named_first(
        self, text: str, last: list[LastTurn], grammar: LanguageGrammar
    ) -> dict[str, Any]:
        """Return the annotation for a question that names its thing first."""
        found = named_first(text, grammar)
        if found is None:
            return {}
        thing, asked = found
        said = continuing(thing, last[-1], grammar, grammar)
        named = named_item(said) or (fill_pronoun(said) or ("",))[0] if said else ""
        told = question_of(asked, about(last[-1], named or thing))
        return {"text": told[0], "of": "", "confidence": LIKELY} if told else {}

    def _passed_over(
        self, text: str, last: list[LastTurn], earlier: EarlierTurns, code: str
    ) -> dict[str, Any]:
        """Return the meaning of words that go on from an earlier turn than the last."""
        grammar = grammar_or_english(code)
        fragment = fragment_of(text, grammar)
        goes_on = fragment.joined or fragment.closes or fragment.mends or fragment.asks
        turns = earlier()[len(last) :]
        if grammar.opens_request(fragment.rest) or not goes_on:
            card_of = partial(self.card_of, grammar=grammar)
            turn = owning_turn(fragment.rest, last, turns, grammar, card_of)
        else:
            turn = fitting_turn(fragment.rest, last, turns, grammar)
        found = None if turn is None else self._meaning(replace(turn, spoken=code))
        if turn is None or found is None or found[0].startswith(turn.question.rstrip(TRIMMED)):
            return {}
        return annotation_of(turn, found[0], min(found[1], LIKELY))

    def _follow_up(self, text: str, turns: list[LastTurn], spoken: str) -> dict[str, Any]:
        if not turns:
            return {}
        wished = wished_language(text)
        if wished and not any(names_language(one.question) for one in turns):
            spoken = wished
        grammar = grammar_or_english(spoken or turns[-1].language)
        fragment = fragment_of(text, grammar)
        if fragment.joined and is_courtesy(fragment.rest):
            return {}
        if undoes(text, grammar) or _denies_order(text, turns[-1], grammar):
            return {**annotation_of(turns[-1], text, SURE), "corrects": True}
        if not grammar.orders.match(plain_of(text)) and find_command(text) == "nevermind":
            return {}
        best: tuple[Meaning, LastTurn] | None = None
        for turn in _alike(fragment.rest, turns, grammar):
            card = self.card_of(turn.skill, grammar)
            one = self._meaning(replace(turn, spoken=spoken, card=card))
            if one is not None and (best is None or one[1] >= best[0][1]):
                best = one, turn
        if best is None:
            return _taken_back(text, turns[-1], grammar)
        (whole, sure, language), turn = best
        annotation = annotation_of(turn, whole, sure)
        if takes_back(text, grammar, turn):
            annotation["corrects"] = True
        other = language and language != (spoken or turn.language)
        return annotation | ({"language": language} if other else {})

    def card_of(self, skill: str, grammar: LanguageGrammar) -> frozenset[str]:
        """Return the stems of the words of a skill's card."""
        known = self._cards.get((skill, grammar.code))
        if known is None:
            words = stems_of(self._normalizer.card_text(skill, grammar.code))
            known = self._cards[skill, grammar.code] = frozenset(words) - grammar.function
        return known

    def _meaning(self, turn: LastTurn) -> Meaning | None:
        wish = wished_language(turn.text) and not names_language(turn.question)
        turn = with_one_list(turn)
        found = _mended_order(turn) or (None if wish else self._own_meaning(turn))
        found = found or meaning_of(turn)
        if found is None:
            return None
        whole = " ".join(found[0].split())
        fits = whole and len(whole) <= LONGEST_QUESTION and whole.lower() != turn.text.lower()
        return (whole, *found[1:]) if fits else None

    def _own_meaning(self, turn: LastTurn, spoken: str | None = None) -> Meaning | None:
        """Return the meaning of the words, in the language `spoken`, by the agent that answered."""
        turn = turn if spoken is None else replace(turn, spoken=spoken)
        rule = self._own.get(turn.skill)
        given = rule(turn) if rule is not None else None
        if isinstance(given, str) and given:
            return given, SURE, turn.language
        if isinstance(given, Mapping) and isinstance(whole := given.get("text"), str):
            sure = given.get("confidence", SURE)
            return whole, float(sure), str(given.get("language", turn.language))
        return None


@cache
def _parting(code: str) -> re.Pattern[str]:
    """Return the pattern of what may part two requests."""
    joint = re.escape(grammar_or_english(code).words.conjunction)
    return re.compile(rf"[.?!;,]+\s+(?:{joint}\s+)?|\s+{joint}\s+", re.IGNORECASE)


def _bare(text: str) -> str:
    return text.strip(TRIMMED).lower()


def _saying(state: Mapping[str, Any], text: str) -> dict[str, Any]:
    """Return a state in which the person says a text, which nothing has been noted about."""
    said = {**state["human_utterances"][-1], "text": text, "annotations": {}}
    every = [*state["human_utterances"][:-1], said]
    return {**state, "human_utterances": every, "utterances": [*state["utterances"][:-1], said]}


def _alone(bare: str, said: str, *spelled: str) -> dict[str, Any]:
    """Return the annotation for words that stand alone, in another spelling than they were said."""
    sure = ALONE if {*spelled} == {said} else LIKELY
    return {"text": bare, "of": "", "confidence": sure}


def _denies_order(text: str, last: LastTurn, grammar: LanguageGrammar) -> bool:
    """Return whether words deny the order of the last turn in its own words: "don't add wine"."""
    words, question = plain_of(text).strip(TRIMMED).split(), plain_of(last.question)
    if grammar.commands.match(question) is None:
        return False
    denied = next((n for n in (3, 2, 1) if grammar.undoing.fullmatch(" ".join(words[:n]))), 0)
    return denied > 0 and words[denied:] != [] and {*words[denied:]} <= {*question.split()}


def _alike(text: str, turns: list[LastTurn], grammar: LanguageGrammar) -> list[LastTurn]:
    """Return those of several turns with a part of a kind that words have; all where none has."""
    if len(turns) < 2:
        return turns
    kinds = {one.kind for one in grammar.slots(text, inside=True) if one.typed}
    found = [turn for turn in turns if kinds & {one.kind for one in grammar.slots(turn.question)}]
    return found if kinds and found else turns


def _with_turn_before(
    turns: list[LastTurn], text: str, earlier: EarlierTurns, code: str
) -> list[LastTurn]:
    """Return the last turn with the entities of the turn before, where words mean two things."""
    grammar, plain = grammar_or_english(code), plain_of(text)
    if len(turns) != 1 or not (
        grammar.inner_pointing.search(plain) or grammar.ranked_one.search(plain)
    ):
        return turns
    others = earlier()[1:]
    replies = tuple(one.reply for one in others[: MOST_BEFORE - 1])
    lists = (things_of_reply(one, grammar) for one in others)
    listed = next((one for one in lists if len(one) > 1), [])
    before = tuple(kind for one in others[: MOST_BEFORE - 1] for kind in one.kinds)
    return [replace(turns[0], before=before, listed=tuple(listed), replies=replies)]


def _mended_order(turn: LastTurn) -> Meaning | None:
    """Return the order that words mend: what it is about is told by its grammar alone. So is any
    question in which they mend a slip.
    """
    asked = grammar_or_english(turn.language or turn.spoken)
    grammar = grammar_of(turn.spoken) or asked
    mends = fragment_of(turn.text, grammar).mends
    said = continuing(turn.text, turn, asked, grammar) if mends else None
    if said is not None and (slip := mistyped(said)):
        return (*slip, turn.language)
    ordered = asked.commands.match(plain_of(turn.question)) is not None
    found = meaning_of(turn) if ordered and takes_back(turn.text, grammar, turn) else None
    return found if found is not None and found[1] >= SURE else None


def _goes_on_from_order(turns: list[LastTurn]) -> bool:
    grammar = grammar_or_english(turns[-1].language or turns[-1].spoken) if turns else None
    return grammar is not None and bool(grammar.commands.match(plain_of(turns[-1].question)))


def _takes_itself_back(text: str, grammar: LanguageGrammar) -> bool:
    """Return whether an order is taken back by its own last words: "add milk, no, forget it"."""
    plain = plain_of(text).strip(TRIMMED)
    if grammar.commands.match(plain) is None:
        return False
    for gap in _GAP.finditer(plain, max(0, len(plain) - _LONGEST_UNDOING)):
        mend = grammar.mending.match(plain, gap.end())
        if mend and mend.end() > gap.end():
            return find_command(plain[gap.end() :]) == "nevermind"
    return False


_GAP: Final = re.compile(r"[\s,.;!]+")
_LONGEST_UNDOING: Final = 40


def _mended(text: str, code: str, *, begins: bool = False) -> str:
    """Return a request as its own last words mend it: "80 by 0.5, I mean by 5".

    `begins`: there is no turn before that they may mend.
    """
    grammar = grammar_of(code or ENGLISH)
    if grammar is not None and _takes_itself_back(text, grammar):
        return grammar.words.replies["nevermind"].partition(",")[0].strip()
    parts = mended_parts(text)
    if parts is None or grammar is None:
        return text
    objects = {*grammar.subjects, *grammar.things, *grammar.persons, *grammar.words.speakers}
    if plain_of(parts[0]).rpartition(" ")[2] in objects:
        return text  # "they make you wait"
    if not grammar.opens_request(parts[0]) and len(parts[0].split()) < LEAST_WORDS:
        again = begins and len(parts[1].split()) >= len(parts[0].split()) > 1
        return parts[1] if again else text  # it mends the turn before
    told = question_of(text[len(parts[0]) :].lstrip(" ,.;-"), LastTurn(parts[0], "", language=code))
    return told[0] if told is not None and told[1] >= LIKELY else text


def _mending_first(text: str, code: str) -> str:
    """Return a text with the words that mend the last turn before it: "Berlin *meine ich*"."""
    words, grammar = text.rstrip(TRIMMED).split(), grammar_or_english(code)
    if find_command(text):
        return text
    for size in (3, 2, 1):
        head, tail = " ".join(words[:-size]), " ".join(words[-size:])
        if size == 1 and (not head.endswith(",") or denies(tail)):
            continue  # "to inches, oops"
        found = grammar.mending.match(f"{plain_of(tail)} ") if head else None
        asked = plain_of(head).rpartition(" ")[2] in grammar.questions
        if found and found.end() > len(tail) and not (asked or grammar.opens_request(head)):
            return f"{tail} {head.rstrip(TRIMMED)}"
    return text


def _taken_back(text: str, last: LastTurn, grammar: LanguageGrammar) -> dict[str, Any]:
    """Return the whole request in words that take the last turn back and need none of it."""
    if not takes_back(text, grammar):
        return {}
    rest = fragment_of(text, grammar).clause
    if rest == text or not (grammar.opens_request(rest) or _FORMULA.search(rest)):
        return {}
    return {**annotation_of(last, rest, LIKELY), "corrects": True}


def _unframed(text: str, code: str) -> str:
    """Return the request in a text without the greetings, thanks and remarks around it."""
    grammar = grammar_or_english(code)
    return as_direct_question(request_in(without_chat(text, grammar.code), grammar), grammar)


_FORMULA: Final = re.compile(r"\d ?[-+*/^x×÷] ?\d")


annotate: Final = FollowUps()
