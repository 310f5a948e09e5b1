"""Pronouns: the referents of words that only point to the last turn."""

from __future__ import annotations

import re

from prolocutor.plugins.language.follow_up.certainty import SURE, Found
from prolocutor.plugins.language.follow_up.fragments import (
    SIGNS,
    Continuing,
    attach_words,
    in_text,
    put_words,
)
from prolocutor.plugins.language.follow_up.grammar import (
    FROM,
    OF,
    TO,
    TRIMMED,
    WITH,
    LanguageGrammar,
    plain_of,
    unaccented,
)
from prolocutor.plugins.language.follow_up.listed import (
    named_items,
    other_of_kind,
    ranked_hour,
    ranked_item,
    two_things,
)
from prolocutor.plugins.language.follow_up.topics import (
    complements_of,
    head_noun,
    is_own,
    main_slot,
    named_person,
    of_gender,
    person_of,
    place_of,
    pointed_at,
    topic_of,
)
from prolocutor.reading.plain_text import FoldedPattern


def fill_pronoun(said: Continuing) -> Found:
    """ "How long does it last?", "her number": the referent of a pronoun is named."""
    grammar, rest = said.spoken, said.fragment.clause
    plain = plain_of(rest)
    there = any(one.search(plain) for one in (grammar.place, grammar.that_place))
    dummy = grammar.idioms.fullmatch(plain) or grammar.dummies.search(plain)
    goes_on = said.fragment.joined or said.fragment.asks or " " in rest
    if SIGNS.search(rest) or not (goes_on or grammar.opens_clause(rest)):
        return None
    if not said.fragment.asks and plain.partition(" ")[0] in grammar.possessives:
        return None  # "my aunt has lost her bag"
    whole = _fill_item(said, rest)
    if grammar.subjectless.fullmatch(plain.strip(TRIMMED)) and (topic := topic_of(said)):
        return attach_words(rest, topic), SURE
    whole = _fill_clitic(said, whole)
    if dummy and not there and whole == rest:
        return None
    steps = (
        _fill_owner, _fill_person, _fill_day, _fill_that_place, _fill_place, _fill_listed,
        _fill_ranked, _fill_noun, _fill_both
    )  # fmt: skip
    own = False
    for name_it in steps:
        named, before = name_it(said, whole), whole
        whole = named
        if name_it in (_fill_listed, _fill_ranked) and named != before:
            pointer = grammar.thing.search(plain_of(named))
            own = pointer is not None and not before.startswith(named[: pointer.start()])
    if not dummy and not own and (not there or whole == rest or grammar.acts.search(plain)):
        whole = _fill_thing(said, whole)
    if whole == rest:
        return None
    if grammar.owner.match(plain):
        first, second = [*plain_of(said.question).split()[:2], "", ""][:2]
        if first in grammar.questions and (second in grammar.be or first.endswith("s")):
            lead = said.question.split()[: 2 if second in grammar.be else 1]
            whole = f"{' '.join(lead)} {whole}"
    return whole, SURE


def _fill_owner(said: Continuing, text: str) -> str:
    grammar = said.spoken
    found = grammar.owner.search(plain_of(text))
    of_thing = found is not None and said.spoken.is_of_thing(found[0])
    owner = found and ((of_thing and topic_of(said)) or person_of(said) or topic_of(said))
    if not found or not owner:
        return text
    before = grammar.slots(text[: found.start()])
    if any(one.lead < 0 and one.kind == "name" for one in before):
        return text  # "when do Swedes have their national day"
    if _own_thing(text, grammar, grammar.owner):
        return text  # "the capital of Peru and its currency"
    pointers = (grammar.thing, grammar.person)[: 1 if of_thing else 2]
    if any(_find_pronouns(one, text[: found.start()], grammar) for one in pointers):
        return text  # "does it lose its leaves"
    noun = text[slice(*found.span("noun"))]
    if not grammar.function.isdisjoint(plain_of(noun).split()[:1]):
        return text  # "give it to her before four", "habt ihr auch ..."
    head, _, more = noun.partition(" ")
    apart = bool(more) and plain_of(more) in grammar.function
    owned = grammar.words.owned.format(relation=head if apart else noun, owner=owner)
    return put_words(text, found.span(), f"{owned} {more}" if apart else owned)


def _fill_person(said: Continuing, text: str) -> str:
    grammar = said.spoken
    found = _find_pronouns(grammar.person, text, grammar)
    if not found:
        return text
    pronoun = plain_of(found[0][0])
    if pronoun not in grammar.persons_or_things:
        who = person_of(said)
    elif who := named_person(said):
        agrees = grammar.agrees(pronoun, topic_of(said).partition(" ")[0])
        asked = said.grammar.asks_who.match(plain_of(said.question))
        who = who if asked or agrees is False else ""
    return _substitute(grammar.person, text, who, grammar) if who else text


def _fill_that_place(said: Continuing, text: str) -> str:
    """ "In that country": the place of the last turn."""
    found = said.spoken.that_place.search(plain_of(text))
    where = place_of(said) if found else ""
    return put_words(text, found.span(), where) if found and where else text


def _fill_day(said: Continuing, text: str) -> str:
    """ "Until then": the day that the last question names."""
    grammar = said.spoken
    if grammar.until_then.fullmatch(plain_of(text)) is None:
        return text
    day = next((one.text for one in said.slots if one.kind == "date"), "") or topic_of(said)
    return grammar.time.sub(lambda _: day, text) if day else text


def _fill_item(said: Continuing, text: str) -> str:
    """ "Who directed the second one": the item of the last reply in that place."""
    grammar = said.spoken
    if found := grammar.inner_other.search(plain_of(text)):
        items = named_items(said, asked=False)
        others = [one for one in items if not in_text(one, said.question)]
        other = others[0] if len(others) == 1 else other_of_kind(said)
        return put_words(text, found.span(), other) if other else text
    for place, pattern in enumerate(grammar.inner_ordinals):
        if found := pattern.search(plain_of(text)):
            items = named_items(said, asked=False)
            last = grammar.words.last and place == len(grammar.inner_ordinals) - 1
            new = said.turn.listed or any(not in_text(one, said.question) for one in items)
            if new and len(items) > max(1, 0 if last else place):
                text = put_words(text, found.span(), items[-1 if last else place])
    return text


def _fill_listed(said: Continuing, text: str) -> str:
    """ "The blue one", "la bleue": the item of the last reply that has the word."""
    grammar = said.spoken
    described = [*grammar.described_one.finditer(plain_of(text))]
    items = named_items(said, asked=False) if described else []
    for found in described if len(items) > 1 else ():
        word = grammar.bare(found["kind"])
        alike = [one for one in items if word in map(grammar.bare, one.split()[:3])]
        if len(alike) == 1 and len(alike[0].split()) > 1 and not in_text(alike[0], text):
            return put_words(text, (found.start("kind"), found.end()), alike[0])
    return text


def _fill_ranked(said: Continuing, text: str) -> str:
    """ "How heavy is the cheaper one": the item of the last reply with the least of its prices."""
    grammar = said.spoken
    for found in grammar.ranked_one.finditer(plain_of(text)):
        rank = text[slice(*found.span("kind"))]
        if item := ranked_item(said, rank):
            start = found.start("kind" if _has_article(item, said) else 0)
            return put_words(text, (start, found.end()), item)
        if hour := ranked_hour(said, rank):
            led = hour.partition(" ")[0] in grammar.leads
            return put_words(text, found.span(), f"{topic_of(said)} {hour}" if led else hour)
    return text


def _has_article(item: str, said: Continuing) -> bool:
    """Return whether the last reply names an item with its article."""
    before = plain_of(said.turn.reply.partition(item)[0]).split()[-1:]
    return not said.grammar.definite.isdisjoint(before)


def _fill_noun(said: Continuing, text: str) -> str:
    """ "Do you have a cheaper one": the noun that is left out is that of the topic."""
    grammar = said.spoken
    found = grammar.left_out.search(plain_of(text))
    if found is None or found["kind"] in grammar.function:
        return text
    if grammar.inner_other.search(found[0]) or any(
        one.search(found[0]) for one in grammar.inner_ordinals
    ):
        return text
    small = not grammar.words.nouns_capital or text[slice(*found.span("kind"))].islower()
    noun = head_noun(said) if small else ""
    if not noun:
        return text
    end = found.end("kind")
    if grammar.words.ones:
        whole = put_words(text, (end, found.end()), f" {noun}")
        ranked = grammar.ranks.fullmatch(plain_of(found["kind"])) and found.end() == len(text)
        return attach_words(whole, complements_of(said, noun)) if ranked else whole
    if grammar.words.nouns_capital:
        return put_words(text, (end, end), f" {noun}")
    return put_words(text, (found.end("one"), found.end("one")), f" {noun}")


def _fill_both(said: Continuing, text: str) -> str:
    """ "Are both open": the two that the last reply names, or the last two questions."""
    grammar = said.spoken
    found = grammar.inner_both.search(plain_of(text))
    after = said.spoken.slots(text[found.end() :])[:1] if found else []
    if found is None or (after and after[0].whole[0] <= 1 and grammar.is_plural(after[0].text)):
        return text  # "both dogs"
    items = two_things(said)
    if len(items) != 2:
        return text
    return put_words(text, found.span(), f" {grammar.words.conjunction} ".join(items))


def _fill_thing(said: Continuing, text: str) -> str:
    """ "How long does it last": the subject of the last turn; "they" are people in a place."""
    grammar, plain = said.spoken, plain_of(text)
    for pattern, full in grammar.elisions:  # "qu'il": "que le forfait"
        if (short := pattern.search(plain)) and topic_of(said):
            text = put_words(text, short.span(), full)
            plain = plain_of(text)
    short = grammar.pointer.search(plain)
    short = None if _own_thing(text, grammar, grammar.pointer) else short
    if short and (topic := pointed_at(said, short[0])):
        first, _, noun = topic.partition(" ")
        if noun and plain_of(first) in grammar.definite:
            topic = f"{short[0]} {noun}" if grammar.agrees(short[0], first) else topic
        return put_words(text, short.span(), topic)
    found = next(iter(_find_pronouns(grammar.thing, text, grammar)), None)
    if found is None or _own_thing(text, grammar):
        return text
    typed = (one.span() for one in grammar.kinds.finditer(plain))
    if any(a <= found.start() < b for a, b in typed):  # "this week"
        return text
    plural = found[0] in grammar.plurals
    either = None if not plural and plain_of(found[0]) in grammar.demonstratives else plural
    topic = of_gender(said, found[0], topic_of(said, plural=either))
    if topic and (start := _start_of_count(text, found, grammar)) is not None:
        return put_words(text, (start, found.end()), topic)  # "1,000 of those"
    names = plural and any(
        one.kind == "name" or (one.lead == 0 and not one.typed) for one in grammar.slots(text)
    )
    head = main_slot(said, plural=plural)
    owner = said.question[head.start : head.span[0]].lower().strip() if head is not None else ""
    single = head is None or not said.grammar.is_plural(head.text)
    if plural and single:
        items = [one for one in named_items(said, asked=False) if not in_text(one, said.question)]
        if len(items) == 2:
            topic = f" {grammar.words.conjunction} ".join(items)
            return _substitute(grammar.thing, text, topic, grammar)
    if plural and single and head and owner in grammar.possessives and not names:
        return text  # "my contract": "why do they make me wait"
    people = plural and single and not said.turn.entities
    if (names and single) or (people and (head is None or head.lead >= 0)):
        named = any(one.kind == "name" for one in said.slots)
        where = place_of(said) if named and not names else ""
        topic = where and grammar.words.dwellers.format(place=where)
    goal = head is not None and head.lead in (TO, FROM) and in_text(head.text, topic)
    goal = goal and not any(is_own(one, said) for one in said.slots)
    if goal and head is not None and not grammar.commands.match(plain):
        led = any(one.lead == head.lead for one in grammar.slots(text))
        where = said.question[slice(*head.whole)]  # "do you deliver to Bath": "is it free"
        return text if led else attach_words(text, where)
    return _substitute(grammar.thing, text, topic, grammar) if topic else text


def _fill_clitic(said: Continuing, text: str) -> str:
    """ "Quién la vende", "puedo comprarla", "on peut le louer": the thing after the verb."""
    plain = plain_of(text)
    found = next((one for p in said.spoken.clitics if (one := p.search(plain))), None)
    if found is None or not (topic := topic_of(said)):
        return text
    verb = text[slice(*found.span("verb"))].strip() if "verb" in found.re.groupindex else ""
    pronoun = found[0].removesuffix(found["verb"]).strip() if verb else found[0]
    topic = topic_of(said, plural=True) if pronoun.endswith("s") else topic  # "las"
    topic = of_gender(said, pronoun, topic)
    return put_words(text, found.span(), f"{verb} {topic}")


def _start_of_count(text: str, found: re.Match[str], grammar: LanguageGrammar) -> int | None:
    """Return where "of" stands between a number and a pronoun; None if it does not."""
    of = re.search(r"(?<=\d )([\w']+) $", plain_of(text[: found.start()]))
    return of.start() if of is not None and grammar.leads.get(of[1]) == OF else None


def _own_thing(text: str, grammar: LanguageGrammar, pronoun: FoldedPattern | None = None) -> bool:
    """Return whether words name a thing of their own that a later pronoun stands for."""
    found = (pronoun or grammar.thing).search(plain_of(text))
    if found is None:
        return False
    before = text[: found.start()]
    return bool(re.search(r"[,;:.?!]\s", before)) or (
        re.search(rf"\s{re.escape(grammar.words.conjunction)}\s", before) is not None
        and any(
            one.article or one.lead == OF or (one.kind == "name" and one.lead not in (TO, FROM))
            for one in grammar.slots(before)
        )
    )


def _substitute(pattern: FoldedPattern, text: str, new: str, grammar: LanguageGrammar) -> str:
    """Replace pronouns; of "it takes to climb it" the second alone."""
    found = _find_pronouns(pattern, text, grammar)
    if len(found) > 1 and found[0][0] == found[-1][0]:
        infinitive = plain_of(grammar.words.prepositions[TO][0])
        between = plain_of(text[found[0].end() : found[-1].start()]).split()
        found = found[1:] if infinitive in between else found
    pieces, at = [], 0
    for one in found:
        pieces += [text[at : one.start()], new]
        at = one.end()
    return "".join([*pieces, text[at:]])


def _find_pronouns(
    pattern: FoldedPattern, text: str, grammar: LanguageGrammar
) -> list[re.Match[str]]:
    """Return pronouns: no determiners ("that train"), articles, relatives ("a cake that has").

    Nor is a German "Sie" with a capital inside a sentence, which is who is spoken to.
    """
    plain = plain_of(text)
    return [
        one
        for one in pattern.finditer(plain)
        if _stands_alone(one, plain, grammar)
        and not _is_article(one, text, grammar)
        and not (one.start() and grammar.words.nouns_capital and text[one.start()].isupper())
    ]


def _stands_alone(one: re.Match[str], plain: str, grammar: LanguageGrammar) -> bool:
    after = plain[one.end() :].replace("?", " ").split()
    before = plain[: one.start()].split()
    last = before[-1] if before else ""
    if last in grammar.subjects:
        return False
    if plain_of(one[0]) not in grammar.demonstratives or not after:
        return True
    word = after[0]
    if word in grammar.be or word in grammar.helpers:  # "a cake that is ..."
        return not last or (last in grammar.function and last not in grammar.indefinite)
    acts = len(after) == 1 or (grammar.words.heads_last and grammar.is_verb(word))
    if last in grammar.helpers and acts:  # "how long does that take"
        return True
    opens = word in grammar.subjects or word in grammar.definite or word in grammar.indefinite
    return word in grammar.function and not opens


def _is_article(word: re.Match[str], text: str, grammar: LanguageGrammar) -> bool:
    """Return whether a word is an article that differs from a place or pronoun by an accent."""
    said = text[word.start() : word.end()]
    plain = plain_of(said)
    is_article = plain in grammar.definite and plain not in grammar.demonstratives
    return is_article and said.lower() == plain and text[word.end() :].strip(TRIMMED) != ""


def _fill_place(said: Continuing, text: str) -> str:
    grammar, plain = said.spoken, plain_of(text)
    found = [one for one in grammar.place.finditer(plain) if not _is_article(one, text, grammar)]
    who = grammar.person.search(plain_of(said.fragment.clause)) is not None
    where = place_of(said, named=who) if found else ""
    if not where:
        return text
    one = found[-1]
    before, after = text[: one.start()].rstrip(), text[one.end() :]
    words = before.split()
    last = plain_of(words[-1]) if words else ""
    if (
        last in grammar.leads
        and not in_text(where, said.question)
        and (said.grammar.commands.match(plain_of(said.question)))
    ):
        return text  # "on there" after "tell me a joke" is nothing that the joke names
    follows = plain[one.end() :].split()[:1]
    exists = (last in grammar.be and after.strip(TRIMMED)) or (follows and follows[0] in grammar.be)
    if exists or _own_thing(text, grammar, grammar.place):  # "is there a train"
        return text
    stranded = grammar.leads.get(last, WITH) == WITH  # "what do they pay with there"
    lead = grammar.words.place_lead if stranded else ""
    if last in grammar.goes and not grammar.dummies.search(plain):
        lead = grammar.words.prepositions[TO][0]
    if last in grammar.be:
        return f"{before} {unaccented(text)[slice(*one.span())]} {lead} {where}"
    return f"{before} {lead} {where}{after}" if before else f"{lead} {where}{after}"
