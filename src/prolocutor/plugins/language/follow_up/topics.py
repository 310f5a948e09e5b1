"""Topics: the subject of the last turn, for words that point to it without naming it."""

from __future__ import annotations

import re
from functools import cache
from itertools import pairwise
from typing import Final

from msgspec.structs import replace

from prolocutor.plugins.language.follow_up.fragments import Continuing, in_text
from prolocutor.plugins.language.follow_up.grammar import (
    FROM,
    OF,
    TO,
    TRIMMED,
    WITHIN,
    LanguageGrammar,
    Part,
    is_courtesy,
    plain_of,
    stems_of,
)
from prolocutor.reading.languages import is_frequent
from prolocutor.reading.locales.locale import codes, find_words

SUM: Final = re.compile(r"\d\s?[-+*/^x×÷]\s?\d")
"""What is no thing that words may point to, though it has no verb."""

_CAPITAL: Final = r"[^\W\d_a-zà-ÿ][\w'’.-]*"


def entity_types(sort: str) -> frozenset[str]:
    """Return the types by which agents may tell entities of a sort: "person", "place" or "time"."""
    return _types(sort, codes())


@cache
def _types(sort: str, every: tuple[str, ...]) -> frozenset[str]:
    known = (words for code in every if (words := find_words(code)))
    named = (one for words in known for one in words.entity_types.get(sort, "").split(","))
    return frozenset(one.strip().lower() for one in named)


@cache
def _names_pattern(every: tuple[str, ...]) -> re.Pattern[str]:
    """Return the pattern of names in any language: "Anna Lind", "the *Isle of Mull*"."""
    known = [words for code in every if (words := find_words(code)) and words.prepositions]
    of = "|".join(
        one for words in known for some in words.prepositions[OF : OF + 1] for one in some
    )
    the = "|".join(one for words in known for one in words.articles if one.isalpha())
    inner = rf"(?:(?:{of}) (?:(?:{the}) )?|(?:{the}) )?"
    return re.compile(rf"{_CAPITAL}(?: {inner}{_CAPITAL})*")


def names_in(text: str, grammar: LanguageGrammar) -> list[str]:
    """Return the names in a text, with their small words; "our" or "two" at its start is none."""
    found = [one[0].strip(" .,") for one in _names_pattern(codes()).finditer(text)]
    if not found or not text.startswith(found[0]):
        return found
    first, _, more = found[0].partition(" ")
    opens = plain_of(first) in grammar.openers
    return [*([more] if more else []), *found[1:]] if opens else found


def topic_of(said: Continuing, *, plural: bool | None = False) -> str:
    """Return the subject of the last turn, with its article; "" if it is not clear.

    That is the answer to a question that asks for a thing or whether there is one, else the main
    phrase of the question, else what the agent named. `plural`: the words that point to it are;
    None where they may be either.
    """
    turn, question = said.turn, said.question
    others = entity_types("person") | entity_types("time")
    things = [name for name, kind in turn.kinds if kind not in others]
    things = without_amounts(things, said.grammar)
    new = [name for name in things if not in_text(name, question)]
    if (
        plural
        and said.grammar.asks_who.match(plain_of(question))
        and (answer := named_person(said))
    ):
        return answer
    asks_for_it = said.grammar.asks_noun.match(plain_of(question)) and not _counted(said)
    if (asked := said.asked_noun) is not None:  # "what time", "which day"
        asks_for_it = asks_for_it and not said.grammar.is_relation(asked.text)
    asks_for_it = asks_for_it or _identifies(said)
    if not plural and _asks_where_one_may(said) and (answer := _answered_place(said, new)):
        return answer
    if asks_for_it and (answer := new[0] if new else _told_of_asked(said)):
        return answer
    slot = (None if plural else said.told_slot) or main_slot(said, plural=plural)
    asks = plain_of(question).partition(" ")[0] in said.grammar.questions
    led = asks and slot is not None and slot.lead >= 0  # "what's on at the Rex"
    led = led and said.grammar.asks_who.match(plain_of(question)) is None
    if led and (answer := new[0] if new else _name_in(said, first=True)):
        return answer
    if slot is not None and slot.article != "the" and (answer := _one_of_kind(said, slot, new)):
        return answer
    main = _phrase(said, slot) if slot is not None else ""
    old = [name for name in things if in_text(name, question)]
    if main and (not old or any(in_text(name, main) for name in things)):
        return main
    if slot is not None and plural and said.grammar.is_plural(slot.text):
        return main
    return _with_article(said, old[0]) if old else new[0] if new else main


def _told_of_asked(said: Continuing) -> str:
    """Return what a reply names of the asked kind ("*Bus 12* goes"), else a name or its subject."""
    asked, reply = said.asked_noun, said.turn.reply
    for one in said.grammar.slots(reply) if asked is not None else ():
        shared = asked is not None and stems_of(asked.text)[-1] in stems_of(one.text)
        if shared and one.kind in _NOUNS and not in_text(one.text, said.question):
            told = reply[one.start : one.span[1]]
            return f"{told[0].lower()}{told[1:]}" if one.start < one.span[0] else told
    return _name_in(said) or (
        "" if asked is None and not _identifies(said) else _subject_told(said)
    )


def _subject_told(said: Continuing) -> str:
    """Return the noun that opens a reply and that the question lacks: "*Our rye loaf* is"."""
    reply = said.turn.reply
    first = next(iter(said.grammar.slots(reply)), None)
    opens = first is not None and first.kind == "noun" and first.article == "the"
    if first is None or not opens or first.start > 0 or in_text(first.text, said.question):
        return ""
    the = next(iter(said.grammar.words.articles), "")
    return (
        f"{the} {first.text}".strip() if said.grammar.words.heads_last else reply[: first.span[1]]
    )


def _identifies(said: Continuing) -> bool:
    """Return whether a question asks what is something, and the reply says it: "X is the Y"."""
    grammar, first = said.grammar, plain_of(said.question).strip(TRIMMED).partition(" ")[0]
    slot = next((one for one in said.slots if one.kind != "verb"), None)
    asks = grammar.heads_be(said.question) or first.endswith("'s")
    if not asks or slot is None or slot.lead >= 0 or first not in grammar.questions:
        return False
    if first in grammar.adverbs:  # "where is the biggest shop": "The biggest shop is Corner Hall"
        told = plain_of(said.turn.reply).partition(plain_of(slot.text))[2].split()
        named = said.turn.reply.partition(slot.text)[2].split()[1:2]
        return bool(named) and told[0] in grammar.be and named[0][:1].isupper()
    return (
        in_text(slot.text, said.turn.reply) or grammar.ranks.match(plain_of(slot.text)) is not None
    )


def _asks_where_one_may(said: Continuing) -> bool:
    """Return whether a question asks for the place where its speaker may do something.

    What is asked then is of the place, unless it is asked of goods: "where can I get *a bike*",
    "how much is it".
    """
    grammar = said.grammar
    if grammar.asks_where.match(plain_of(said.question)) is None:
        return False
    words = [one.strip(TRIMMED) for one in plain_of(said.question).split()[1:4]]
    speakers = grammar.subjects | grammar.plurals
    speaks = any(one.rpartition("-")[2] in speakers for one in words)
    dropped = bool(grammar.words.subjectless) and words[:1] != [] and words[0] in grammar.helpers
    of_goods = said.spoken.of_goods.search(plain_of(said.fragment.clause))
    return (speaks or dropped) and of_goods is None


def _answered_place(said: Continuing, new: list[str]) -> str:
    """Return the place that answers a question, among new entities or in the reply."""
    told = place_told(said)
    return told if not new or any(in_text(one, told) for one in new) else new[0]


def place_told(said: Continuing) -> str:
    """Return the place that only the reply names, with its article and complements, or ""."""
    grammar, reply = said.grammar, said.turn.reply
    slots = grammar.slots(reply, said.turn.entities)
    nouns = [one for one in slots if one.kind in _NOUNS and not one.text.isdecimal()]
    new = [one for one in nouns if _is_new(one, said)]
    led = [one for one in new if one.lead == WITHIN]
    named = [one for one in led if one.kind == "name" and not grammar.words.nouns_capital]
    known = [one for one in new if one.lead < 0 and one.article == "the"]
    found = next(iter([*named, *known, *led]), None)
    for before, after in pairwise(slots):  # "at the kiosk in Bay Road"
        if after is found and before in led and after.whole[0] - before.span[1] == 1:
            found = before
    return "" if found is None else _phrase_of(reply, slots, found, grammar)


def _is_new(slot: Part, said: Continuing) -> bool:
    """Return whether a slot of a reply is not in the question, with its verb neither."""
    first, _, verb = slot.text.rpartition(" ")
    old = first and said.grammar.is_verb(verb) and in_text(first, said.question)
    return not (old or in_text(slot.text, said.question))


def _phrase_of(text: str, slots: list[Part], slot: Part, grammar: LanguageGrammar) -> str:
    """Return a slot of a text with its article and the places after it: "the kiosk in Bay Road"."""
    words = text[slot.whole[0] : slot.start].strip() if slot.lead >= 0 else ""
    article = grammar.uncontracted.get(plain_of(words), "").partition(" ")[2]
    end = slot.span[1]
    for after in slots[slots.index(slot) + 1 :]:
        if after.lead not in (WITHIN, OF) or after.typed or after.whole[0] - end != 1:
            break
        if slot.kind == "name" and not grammar.words.nouns_capital:
            break
        end = after.span[1]
    return f"{article} {text[slot.start : end]}".strip(f'{TRIMMED}"”»')


def pointed_at(said: Continuing, pronoun: str) -> str:
    """Return the thing that an article alone points to, as German "der" and "die" do, or "".

    It is what only the reply names, else the topic.
    """
    others, clause = entity_types("time"), plain_of(said.fragment.clause)
    short = said.spoken.pointer.search(clause)
    before = clause[: short.start()].split()[-1:] if short else []
    if said.spoken.of_goods.search(clause) or not said.spoken.subjects.isdisjoint(before):
        others |= entity_types("person")  # "wie lange dauert die", "kann man den buchen"
    known = [one for one, kind in said.turn.kinds if kind not in others]
    new = without_amounts([one for one in known if not in_text(one, said.question)], said.grammar)
    told = [] if said.turn.entities else [*_things_told(said), topic_of(said)]
    told.sort(key=lambda one: not in_text(stems_of(one)[-1], said.question))  # of the same kind
    for one in [*new, *without_amounts(told, said.grammar)]:
        fits = said.grammar.agrees(pronoun, one.partition(" ")[0]) is not False
        if one and fits and not is_courtesy(one):
            return one
    return topic_of(said)


def without_amounts(names: list[str], grammar: LanguageGrammar) -> list[str]:
    """Return names without dates, hours, measures and numbers; all where there is nothing else."""
    things = [one for one in names if grammar.kinds.fullmatch(plain_of(one)) is None]
    return things or names


def _one_of_kind(said: Continuing, slot: Part, new: list[str]) -> str:
    """Return the part of a reply of the kind that a question asks for: "is there *a pool* in Ayr".

    An agent says so by the type of an entity, or by an entity that ends in the same noun; where
    the question is whether there is such a thing, a name tells it, too.
    """
    if slot.lead >= 0 or slot.kind == "verb":
        return ""
    head = -1 if said.grammar.words.heads_last else 0
    noun = stems_of(slot.text)[head]
    kinds = {name: stems_of(kind)[-1] for name, kind in said.turn.kinds}
    alike = [one for one in new if noun in (kinds.get(one), stems_of(one)[head])]
    alike = alike or [one for one in _things_told(said) if noun == stems_of(one)[-1]]
    if alike or new or not said.grammar.heads_be(said.question):
        return alike[0] if alike else ""
    exists = not said.grammar.here.isdisjoint(plain_of(said.question).split()[1:2])
    return _name_in(said) if exists else ""


def _things_told(said: Continuing) -> list[str]:
    """Return the nouns without a preposition that only the reply names, with their articles."""
    reply = said.turn.reply
    told = [one for one in _without_verb(said.grammar.slots(reply)) if one.kind in _NOUNS]
    told = [one for one in told if one.lead < 0]
    new = [one for one in told if _is_new(one, said) and not said.grammar.is_owner(reply, one)]
    found = [reply[one.start : one.span[1]] for one in new]
    return [
        f"{text[0].lower()}{text[1:]}" if one.article else text
        for one, text in zip(new, found, strict=True)
    ]


def _without_verb(slots: list[Part]) -> list[Part]:
    """Return the slots of a statement without the verb after its name: "Tarn Sports *sells* x"."""
    for n, (name, after) in enumerate(pairwise(slots)):
        bare = after.kind == "noun" and not after.article and after.lead < 0
        if name.kind == "name" and name.lead < 0 and bare and after.start == name.span[1] + 1:
            verb, _, thing = after.text.partition(" ")
            start = after.span[0] + len(verb) + 1
            rest = replace(after, span=(start, after.span[1]), start=start, text=thing)
            return [*slots[: n + 1], *([rest] if thing else []), *slots[n + 2 :]]
    return slots


_NOUNS: Final = frozenset({"noun", "name"})


def main_slot(said: Continuing, *, plural: bool | None = False) -> Part | None:
    """Return the slot that the last question is about, of the number that is asked for if there is
    one; None for a question without nouns."""
    slots = said.slots
    where = said.grammar.asks_where.match(plain_of(said.question)) is not None
    for owned, owner in pairwise(slots) if not where else ():
        named = owner.kind == "name" or owner.entity or _is_property(owned, owner, said)
        whole = owned.entity or owned.article == "a" or said.grammar.is_plural(owner.text)
        larger = (one for one in said.turn.entities if len(one) > len(owned.text))
        whole = whole or any(in_text(owned.text, one) for one in larger)
        of = owner.lead == OF or (owner.lead == WITHIN and said.grammar.is_relation(owned.text))
        if of and named and not whole:
            return owner  # "the population of Peru"
    heads = [one for n, one in enumerate(slots) if _may_be_head(said, n)]
    heads = [o for o in heads if not said.grammar.predicates.fullmatch(plain_of(o.text))]
    heads = [one for one in heads if not SUM.search(one.text)]
    subjects = [one for one in heads if one is not said.asked_noun]
    led = [one for one in slots if one.lead >= 0 and not one.typed and one.kind != "verb"]
    own = not plural and any(is_own(one, said) for one in subjects)
    if own and (elsewhere := [one for one in led if one.kind == "name" or one.entity]):
        return elsewhere[0]  # "may I bring my dog to the Ship"
    for some in (subjects, heads, led):
        fit = [one for one in some if said.grammar.is_plural(one.text) == plural]
        fit = fit or [one for one in some if one.kind == "name" and some is not led]
        if fit:
            return fit[0]
    places = [one for one in led if one.kind == "name"]
    return next(iter([*subjects, *heads, *places]), None)


def is_own(slot: Part, said: Continuing) -> bool:
    """Return whether a slot is a thing of the speaker: "my dog"."""
    article = plain_of(said.question[slot.start : slot.span[0]]).strip()
    return article in said.grammar.possessives


def _is_property(owned: Part, owner: Part, said: Continuing) -> bool:
    """Return whether a noun is a property of a name that is typed in small letters."""
    small = said.question.islower() and owner.kind == "noun" and not owner.article
    return small and owned.article == "the" and said.grammar.is_relation(owned.text)


def of_gender(said: Continuing, pronoun: str, topic: str) -> str:
    """Return a topic that a pronoun agrees with: the one that is given, else another noun.

    It is the given one, too, where the gender of no noun is known.
    """
    grammar = said.grammar
    if not grammar.genders or grammar.agrees(pronoun, topic.partition(" ")[0]) is not False:
        return topic
    nouns = [one for one in said.slots if one.kind in _NOUNS]
    articles = (said.question[one.whole[0] : one.span[0]].split()[-1:] for one in nouns)
    agrees = (grammar.agrees(pronoun, "".join(one)) for one in articles)
    found = next((one for one, fits in zip(nouns, agrees, strict=True) if fits), None)
    return pointed_at(said, pronoun) if found is None else _bare_whole(said, found)


def _may_be_head(said: Continuing, n: int) -> bool:
    """Return whether a slot may be what a question is about: no verb, day or bare number."""
    slot, after = said.slots[n], said.slots[n + 1] if n + 1 < len(said.slots) else None
    if slot.lead >= 0 or slot.kind == "verb" or plain_of(slot.text) in said.grammar.degrees:
        return False
    if slot.article == "" and slot.kind == "noun" and said.grammar.is_verb(slot.text) and after:
        return False  # "how much does it cost to mend a clock"
    if (
        after is not None
        and after.article
        and after.start - slot.span[1] == 1
        and said.grammar.heads_be(said.question)
        and not slot.article
        and slot.kind == "noun"
    ):  # "who is mending the bike"
        return False
    if slot.kind == "hour" and slot.article == "the":
        return True  # "is the 14:05 late"
    return not slot.typed or (slot.kind in ("measure", "number") and _follows(slot, after))


def _follows(slot: Part, after: Part | None) -> bool:
    return after is not None and after.lead < 0 and after.whole[0] - slot.span[1] <= 1


def _phrase(said: Continuing, slot: Part) -> str:
    """Return a slot with its article and its complements: "the ferry from Oban to Mull"."""
    if slot.lead >= 0:
        return _bare_whole(said, slot)
    at = said.slots.index(slot)
    end = slot.span[1]
    for after in said.slots[at + 1 :]:
        counts = (
            slot.kind in ("measure", "number")
            or (slot.kind == "noun" and not slot.article and after.kind == "name")
            or (said.grammar.owning_end.search(plain_of(slot.text)) is not None)
        )
        joins = (after.lead >= 0 and not after.typed) or (counts and _follows(slot, after))
        joins = joins or said.grammar.is_owner(said.question, after)
        receives = after.lead == TO and after.article == "a" and after.kind == "noun"
        if not joins or receives or after.whole[0] - end > 1 or said.grammar.qualities(after.text):
            break  # "the scarf in blue" may be had in green
        end = after.span[1]
    the = said.grammar.words.articles if said.grammar.words.heads_last else []
    if slot.article == "a" and the:  # what has been spoken of is known now
        return f"{the[0]} {said.question[slot.span[0] : end]}".strip(TRIMMED)
    return said.question[slot.whole[0] : end].strip(TRIMMED)


def _counted(said: Continuing) -> bool:
    return said.grammar.counts.match(plain_of(said.question)) is not None


def _bare_whole(said: Continuing, slot: Part) -> str:
    words = said.question[slice(*slot.whole)].split()
    while words and plain_of(words[0]) in said.grammar.leads:
        words = words[1:]
    return " ".join(words)


def _with_article(said: Continuing, name: str) -> str:
    for one in said.slots:
        if plain_of(one.text) == plain_of(name):
            return _bare_whole(said, one) or name
    return name


def person_of(said: Continuing) -> str:
    """Return the person named in the last turn, or else its topic."""
    if person := named_person(said):
        return person
    names = [one for one in said.slots if one.kind == "name" and not one.article]
    asked = [one for one in names if not _says_where(one, said)]
    if asked and not said.grammar.asks_noun.match(plain_of(said.question)):
        return said.grammar.owning_end.sub(lambda _: "", asked[0].text)
    new = _new_names(said)
    things = [one.text for one in said.slots if one.kind == "name" and one.article]
    told = (
        one
        for one in names_in(said.question, said.grammar)
        if one not in things and in_text(one, said.turn.reply)
    )
    return new[0] if new else next(told, "") or _name_in(said, first=True) or topic_of(said)


def named_person(said: Continuing) -> str:
    """Return the person whom the last turn names, or ""; the answer to "who" is a person."""
    people = [name for name, kind in said.turn.kinds if kind in entity_types("person")]
    if people or said.grammar.asks_who.match(plain_of(said.question)) is None:
        return people[0] if people else ""
    new = _new_names(said)
    return new[0] if new else _name_in(said, first=True)


def _new_names(said: Continuing) -> list[str]:
    """Return the entities that only the reply names, without places and times."""
    elsewhere = entity_types("place") | entity_types("time")
    others = [name for name, kind in said.turn.kinds if kind not in elsewhere]
    return [name for name in others if not in_text(name, said.question)]


def _says_where(slot: Part, said: Continuing) -> bool:
    """Return whether a part says where something is: "in Oslo"."""
    lead = said.question[slot.whole[0] : slot.span[0]].split()[:1]
    return lead == [said.grammar.words.place_lead]


def place_of(said: Continuing, *, named: bool = False) -> str:
    """Return the place of the last turn, or ""; with `named` none that is a mere thing."""
    turn = said.turn
    places = [name for name, kind in turn.kinds if kind in entity_types("place")]
    asked = said.grammar.asks_where.match(plain_of(turn.question)) is not None
    is_place = asked and said.grammar.heads_be(turn.question)  # "where is the museum"
    if asked and not is_place:
        places.sort(key=lambda name: in_text(name, turn.question))
    if places:
        return _with_article(said, places[0])
    if said.grammar.asks_noun.match(plain_of(turn.question)) and not _counted(said):
        new = [name for name, _ in turn.kinds if not in_text(name, turn.question)]
        if answer := new[0] if new else _name_in(said):
            return answer
    names = [one for one in said.slots if one.kind == "name" or (one.entity and not named)]
    names = [one for one in names if not one.typed and one is not said.asked_noun]
    led = [one for one in names if one.lead in (WITHIN, TO, FROM)]
    led = led or [one for one in names if one.lead >= 0 and one.kind == "name"]
    names = [one for one in led if one.entity] or led or [o for o in names if o.entity] or names
    goal = [one for one in names if one.lead == TO]
    small = turn.question.islower()  # names are typed in small letters, too
    somewhere = led or (small and any(one.lead == WITHIN for one in said.slots))
    if (asked or not somewhere) and not is_place and (where := place_told(said)):
        return where
    if names:
        return _bare_whole(said, goal[-1] if goal else names[0])
    if named:
        return ""
    ways = (WITHIN, TO, FROM)
    if nouns := [one for one in said.slots if one.kind == "noun" and one.lead in ways]:
        return _bare_whole(said, nouns[-1])
    ordered = said.grammar.commands.match(plain_of(turn.question))
    topic = "" if ordered else topic_of(said)
    return "" if said.grammar.is_plural(topic) else topic


def _name_in(said: Continuing, *, first: bool = False) -> str:
    """Return the first name that a reply gives and the question has not; a single word that opens
    the reply counts where `first` says so."""
    reply, question = said.turn.reply, said.question
    found = names_in(reply, said.grammar)
    for n, one in enumerate(found):
        bare = plain_of(one.rstrip(".,"))
        typed = said.grammar.kinds.fullmatch(bare) or said.grammar.month.match(bare)
        if typed or (" " not in one and is_frequent(one)):
            continue
        opens = n == 0 and reply.startswith(one) and " " not in one
        opens = opens and not (first and reply[len(one) : len(one) + 1].isspace())  # "Noted: ..."
        if in_text(one, question) or opens:
            continue
        return one.rstrip(".,")
    return ""


def complements_of(said: Continuing, noun: str) -> str:
    """Return the place after a noun at the end of the last question: "a holiday *in Peru*"."""
    for owned, owner in pairwise(said.slots):
        ends = owned.text.endswith(noun) and not said.question[owner.span[1] :].strip(TRIMMED)
        if ends and owner.lead >= 0 and not owner.typed and owner.whole[0] - owned.span[1] == 1:
            return said.question[slice(*owner.whole)]
    return ""


def head_noun(said: Continuing) -> str:
    """Return the noun of the last turn's subject, without adjectives; "" for none.

    For a name it is the type that an agent tells of it, else the name.
    """
    slot = main_slot(said)
    if slot is None:
        return ""
    if slot.kind == "noun":
        words = [one for one in slot.text.split() if not said.grammar.qualities(one)]
        return " ".join(words) or slot.text
    kinds = {plain_of(name): kind for name, kind in said.turn.kinds}
    return kinds.get(plain_of(slot.text)) or slot.text
