"""Grammar: the slots of a question, found with the words of a locale and no words of any agent."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import cache, lru_cache
from typing import Final

import msgspec

from prolocutor.reading.locales.locale import Words, codes, find_words
from prolocutor.reading.plain_text import FoldedPattern, fold_text, strip_accents

TRIMMED: Final = " \t?!.,;:¿¡"
MOST_KEPT: Final = 1_000
"""Texts of which it is kept whether they describe a noun."""

MOST_FOLDED: Final = 4_000
"""Texts and words of which the plain form is kept."""

SHORT: Final = 3
"""Letters of a short word: "one", "you"."""

Span = tuple[int, int]
WITHIN, OF, TO, FROM, FOR, WITH, BETWEEN = 0, 1, 2, 3, 4, 5, 8
"""The places of some classes of prepositions among those of a language."""


_NUMBER: Final = r"(?:[$€£¥]\s?)?(?:-|(?<![\w)%] )minus )?\d+(?:[.,:]\d+)*(?:k|m)?(?![\w])"
_WITH_UNIT: Final = r"(?P<joined>\d+(?:[.,]\d+)*(?:[a-z]{2,5}|[f-z]))"
"""A number and its unit in one word: "5km", "20min"; "4b" is a code."""

_CODE: Final = r"(?=[\w-]*\d)(?=[\w-]*[^\W\d_])\w[\w-]*"
_HOUSE: Final = re.compile(r"\d+[a-z]?(?: [A-Z][\w'-]+){2,3}(?![\w-])")
_HOUSE_NAME: Final = re.compile(r"^\d+[a-z]?(?: [A-Z][\w'’.-]*)+$")
_WORDS: Final = re.compile(r"\S+")
_STEMMED: Final = re.compile(r"[\w'-]+")
_TOKEN: Final = re.compile(r"[^\s?!,;:¿¡\"“”()]+|[,;:?!¿¡]")
_ABBREVIATED: Final = re.compile(r"[A-Z][a-z]{0,3}\.(?= [A-Z\d])")
"""A word with the dot of its abbreviation before a name: "Dr. Patel", "St. Ives"."""

_DIGIT_DATE: Final = r"\d{4}-\d\d-\d\d|\d{1,2}[./]\d{1,2}[./]\d{2,4}"


MOST_READ: Final = 128
"""Texts whose parts are kept: the rules of a turn read the same few texts again and again."""

ENGLISH: Final = "en"


class Part(msgspec.Struct, frozen=True):
    """A part of a question that other words may take the place of.

    `span` is its object, `whole` also its preposition and article. `kind` is "date", "hour",
    "number", "measure", "name", "noun" or "verb"; `lead` the class of its preposition, -1 without a
    preposition; `article` how it is introduced: "the", "a" or "", and `start` where, with it.
    `entity`: an agent has named it, or its `core`. `headless`: it describes a noun left out, as in
    "a red one".
    """

    span: Span
    whole: Span
    kind: str
    text: str
    lead: int = -1
    article: str = ""
    entity: bool = False
    start: int = 0
    core: Span | None = None
    headless: bool = False

    @property
    def typed(self) -> bool:
        """Whether only a slot of the same kind fits it."""
        return self.kind in TYPED


TYPED: Final = frozenset({"date", "hour", "number", "measure"})


class Token(msgspec.Struct, frozen=True):
    """A word: what it is by itself, and where."""

    start: int
    end: int
    text: str
    kind: str
    lead: int = -1


class LanguageGrammar:
    """The words of a language, compiled."""

    def __init__(self, code: str, words: Words) -> None:
        """Compile the patterns."""
        self.code, self.words = code, words
        self.leads = {
            phrase: place
            for place, one in enumerate(words.prepositions)
            for phrase in map(plain_of, one)
        }
        self.definite, self.indefinite = _set(words.articles), _set(words.indefinite)
        self.possessives, self.owning = _set(words.possessives), _set(words.owning)
        self.openers = (
            self.possessives | self.indefinite | _set(words.numbers) | _set(words.subjects)
        )
        self.elided = tuple(one for one in (*self.definite, *self.leads) if one.endswith("'"))
        long_leads = (one.replace(" ", r"\s+") for one in self.leads if " " in one)
        self.long_leads = pattern_of(rf"(?:{any_of(long_leads)})(?![\w'-])")
        self.any_article = self.definite | self.indefinite
        self.be, self.helpers = _set(words.forms_of_be), _set(words.helpers)
        self.questions, self.subjects = _set(words.questions), _set(words.subjects)
        self.auxiliaries = self.be | self.helpers
        self.asking_words = self.auxiliaries | self.questions
        self.accented = {one for one in words.questions if not one.isascii()}
        self.determining = _set(words.determiners)
        self.plurals = _set(words.plurals)
        self.plural_noun = pattern_of(rf"(?<![\w'-])(?:{any_of(words.plural_nouns)})\Z")
        self.demonstratives = _set(words.demonstratives)
        self.verbs, self.units = _set("|".join(words.verbs).split("|")), _set(words.units)
        self.relations = _set("|".join(words.relations).split("|"))
        self.particles = _set(words.particles)
        self.goes, self.degrees = _set(words.goes), _set(words.degrees)
        self.counts = pattern_of(rf"(?:{any_of(words.counts)})\b")
        joins = rf"(?:{words.conjunction or '(?!)'}|{re.escape(words.choice)})"
        item = r"(?:(?-i:[A-Z][a-z]{0,3})\. )?[\w'’-]+(?: [\w'’-]+){0,5}"
        self.listed = re.compile(rf"{item}(?: \w+)?(?:, {item})*,? {joins} {item}", re.IGNORECASE)
        self.joining = {plain_of(words.conjunction), plain_of(words.choice)}
        self.gap = re.compile(rf"\s*(?:,|;|\b{joins}\b)\s*", re.IGNORECASE)
        self.small, self.numbers = _set(words.small), _set(words.numbers)
        self.things, self.persons = _set(words.things), _set(words.persons)
        self.function = (
            self.any_article | self.asking_words
            | self.subjects | self.small | self.things | self.persons | set(self.leads)
            | _set(words.owners) | _set(words.places)
        )  # fmt: skip
        self._kinds = {
            **dict.fromkeys((*self.function, "'s"), ("word", -1)),
            **dict.fromkeys(self.indefinite, ("a", -1)),
            **dict.fromkeys(self.definite | self.possessives, ("the", -1)),
            **{word: ("lead", place) for word, place in self.leads.items()},
        }
        months = "|".join(words.months)
        ordinal = r"\d{1,2}(?:st|nd|rd|th|\.|er|º|°)?"
        until = r"(?: ?[-–] ?| (?:to|and|until|bis|und|au|et|al?|y|e) )"
        named_days = (
            rf"(?:{ordinal}{until})?{ordinal}(?: of| de| di)? (?:{months})"
            r"(?:,?(?: de| di)? \d{4})?"
            rf"|(?:{months})(?: the)? {ordinal}(?:,? \d{{4}})?(?!\w)|(?:{months}) \d{{4}}"
            if months
            else r"(?!)"
        )
        dates = "|".join([_DIGIT_DATE, named_days, *words.days])
        hours = "|".join([*words.hours, r"\d{1,2}[:h]\d\d"])
        self.feast = pattern_of(rf"(?:{any_of(words.feasts)})")
        self.month = pattern_of(rf"(?:{months or '(?!)'})\Z")
        self.bare_days = _whole(words.bare_days)
        self.daytime = _whole(words.daytimes)
        self.daytime_tail = pattern_of(
            rf"(?: (?:{any_of(words.daytimes)})|(?<=\w)(?:{any_of(words.daytimes)}))\Z"
        )
        number = any_of(words.numbers)
        worded = rf"\b(?:{number})(?:(?:[ -]| {words.conjunction or '(?!)'} )(?:{number}))*\b"
        self.amount = pattern_of(rf"-?\d[\d.,]*+|{worded}(?=\s)|[^\W\d_]++(?=\s)")
        unit = rf"(?!(?:{dates})(?![\w-]))[^\W\d_°]*°?[^\W\d_]+"
        self.kinds = pattern_of(
            rf"(?<![\w.])(?:(?P<date>{dates})|(?P<hour>{hours})"
            rf"|(?P<measure>(?:{_NUMBER}|{worded})\s?(?:%|-?(?P<unit>{unit}))|{_WITH_UNIT})"
            rf"|(?P<number>{_NUMBER}|{worded})|(?P<code>{_CODE}))(?![\w-])"
        )
        self.counted = re.compile(
            r"[a-z]\w* (?P<noun>[A-Z]\w+)"
            if words.nouns_capital
            else r"[a-z]+s (?P<noun>[a-z]+s)(?![\w'])"
            if not words.heads_last
            else r"[a-z-]*[a-rt-z-] (?P<noun>[a-z]+s)(?![\w'])"
        )
        filler = "|".join([*words.fillers, *words.politeness])
        gap = r"[\s,.!:;]+"
        joints = any_of(words.joints)
        hesitates = any_of(words.hesitation)
        polite, openers = any_of(words.politeness), any_of(words.openers)
        self.hesitation = pattern_of(rf"(?<![\w'-])(?:{hesitates})(?![\w'-])[,.…]*\s*")
        self.polite = pattern_of(rf"(?<![\w'])(?:{hesitates}|{polite}|{openers})(?![\w'])")
        self.polite_lead = pattern_of(rf"(?:(?:{openers}|{hesitates}|{polite}){gap})+(?=\S)")
        softeners = any_of(words.softeners)
        self.softening = pattern_of(rf"(?<=\s)(?:{softeners})(?:[\s,]+|$)(?![^\"]*\"$)")
        self.polite_tail = pattern_of(rf"(?:[\s,]+(?:{polite}))+[\s.!?]*$")
        self.joint = pattern_of(
            rf"(?:(?:{filler}){gap})*(?P<joint>(?:{joints})(?:{gap}|$|(?<='))"
            rf"(?:(?:{filler}|{joints}){gap})*)?"
        )
        self.mending = pattern_of(rf"(?:(?:{any_of(words.mends)})(?:{gap}|$|(?<=')))+")
        self.closing = pattern_of(
            rf"(?P<tail>(?:[\s,]+(?:{any_of(words.closings)}|{filler}))*)[\s?!.,;]*$"
        )
        self.meant_closing = pattern_of(rf"(?<![\w'])(?:{any_of(words.closings)})(?!\w)")
        self.instead = pattern_of(rf"(?<![\w'])(?:{any_of(words.instead)})[\s.!]*$")
        self.another = pattern_of(rf"(?<![\w'])(?:{any_of(words.another)})(?![\w'])")
        self.coming_back = pattern_of(rf"(?:{any_of(words.returns)})(?![\w'])")
        asked = [re.escape(one) for one in words.questions]
        asking = any_of(asked)
        self.inner_question = pattern_of(rf"\s+(?=(?:{asking})(?![\w']))")
        dangling = any_of([*words.articles, *words.indefinite, *words.possessives])
        contracted = any_of([one for one in asked if one.endswith("'s")])
        self.broken_off = pattern_of(
            rf"(?:{asking})(?: (?:{any_of([*words.forms_of_be, *words.helpers])}))?"
            rf"(?: (?:{any_of(words.subjects)}))?(?: (?:{dangling})[\s,.…]+(?=(?:{asking}) \w)"
            rf"|[\s,.…]+(?=(?:{contracted}) \w))"
        )
        self.recalling = _whole(words.recalls)
        after = any_of([one for one in words.earlier if not one.isalpha()])
        before = any_of([one for one in words.earlier if one.isalpha()])
        the = any_of([*words.articles, *words.demonstratives])
        sorts = words.entity_types.get("place", "").replace(" ", "").replace(",", "|")
        self.that_place = pattern_of(
            rf"(?<![\w'])(?:{any_of(words.demonstratives)}) (?:{sorts or '(?!)'})(?!\w)"
        )
        points = any_of([*words.demonstratives, *words.articles])
        self.that_number = pattern_of(rf"(?:{points}) (?P<number>\d[\d.,]*)(?!\S)(?=.)")
        # "The word from before", "that last word"
        self.earlier = pattern_of(
            rf"(?<![\w'])(?:{the}) (?:(?P<noun>[\w-]+) (?:{after})(?!\w)[,;]?"
            rf"|(?:{before}) (?P<last>[^\W\d_]+)(?=\W*$))"
        )
        self.undoing = _whole(words.undo)
        self.undo_words = pattern_of(rf"(?<![\w'])(?:{any_of(words.undo)})\W*$")
        no, yes = any_of(words.negation), any_of(words.contrast)
        self.contrasts = [
            pattern_of(
                rf"(?:\w+ ){{,3}}?(?:{no}) (?P<old>[^,.;]+?)(?:,? (?:{yes})|[,.;]) (?P<new>.+)"
            ),
            pattern_of(rf"(?P<new>[^,]+?),? (?:{no}) (?P<old>[^,]+)"),
            pattern_of(r"(?P<old>[^,]+?),? no[nt]?[,;:] (?P<new>.+)"),
            pattern_of(rf"(?P<new>[^,]+?) (?:{any_of(words.in_place_of)}) (?P<old>[^,]+)"),
        ]
        self.contrasting = pattern_of(rf"(?:{no})|no[nt]?[,;:]|(?:{any_of(words.in_place_of)})")
        polite_words = [*words.courtesy, words.conjunction or "(?!)"]
        self.courtesy = _whole(polite_words, rf"(?:{gap}|$)", many=True)
        self.again, self.returning = _whole(words.again), _whole(words.back)
        self.both, self.other = _whole(words.both), _whole(words.other)
        around = rf"(?:(?:{filler}|{joints}){gap})*"
        closes = rf"(?:[\s,]+(?:{filler}))*\W*"
        self.suppositions = [
            pattern_of(rf"{around}{one.replace('{part}', '(?P<part>.+?)')}{closes}")
            for one in words.suppositions
        ]
        told = [one.partition("{part}") for one in words.suppositions]
        self.supposing = pattern_of(any_of([before or after for before, _, after in told]))
        self.orders = pattern_of(rf"(?:{any_of([*words.orders, *words.statements])})(?![\w])")
        self.commands = pattern_of(rf"(?:{any_of(words.orders)})(?![\w])")
        self.idioms = _whole(words.idioms)
        self.dummies = pattern_of("|".join(f"(?:{one})" for one in words.dummies) or r"(?!)")
        subjects = any_of([re.escape(one) for one in words.subjects])
        self.condition = pattern_of(
            rf"(?<![\w'])(?:{any_of(words.conditions)}) (?=(?:{subjects})(?!\w))"
        )
        first = {one.partition(" ")[0] for one in words.how_much}
        self.measuring = _set(words.determiners) | {plain_of(one) for one in first}
        self.adverbs = _set(words.adverbs)
        self.how_much = _whole(words.how_much)
        ones = "|".join(words.ones)
        self.ordinals = [
            pattern_of(rf"(?:{any_of(words.articles)})?\s?(?:{'|'.join(one)})(?: (?:{ones}))?")
            for one in [*words.ordinals, *([words.last] if words.last else [])]
        ]
        choosing = [self.both, self.other, *self.ordinals]
        self.choosing = pattern_of(any_of([one.pattern for one in choosing]))
        rank = any_of(words.superlatives)
        self.ranked = pattern_of(
            rf"(?P<the>(?:{any_of(words.articles)}) )?(?P<rank>{rank})"
            rf"(?(the)(?: (?:{ones or '(?!)'}))?| (?:{ones or '(?!)'}))"
        )
        ones = any_of(words.ones)
        the = rf"(?:{any_of(words.articles)}) "
        the = the if words.ones else rf"(?:{the})?"  # else the ordinals have their articles
        leads = "|".join(phrase for one in words.prepositions for phrase in one) or "(?!)"
        some = any_of(words.indefinite)
        own = any_of([*words.articles, *words.possessives])
        self.headed = pattern_of(
            rf"(?:(?P<lead>{leads}) )?(?:(?P<the>{own}) |(?P<a>{some}) )?"
            rf"(?:(?P<more>(?:{any_of(words.comparing)}) [\w'-]+)"
            rf"|(?P<kind>[\w'-]+(?: [\w'-]+)?) (?:{ones})"
            rf"|(?:{any_of(words.something)}) (?P<sort>(?:(?:{any_of(words.comparing)}) )?[\w'-]+))"
        )
        self.headless = pattern_of(
            rf"(?:(?:{ones})$|\b(?:{any_of([*words.comparing, *words.something])}) )"
        )
        self.ranks = pattern_of(rf"(?<![\w'])(?:{rank})(?![\w'])")
        self.genitive = pattern_of(rf"(?<![\w'-])(?:{any_of(words.genitives)})(?![\w'])")
        self.inner_ordinals = [
            pattern_of(rf"(?<![\w']){the}(?:{any_of(one)})(?: (?:{ones})(?![\w'])|(?=\W*$))")
            for one in [*words.ordinals, *([words.last] if words.last else [])]
        ]
        some = any_of([*words.indefinite, *words.articles, *words.possessives])
        more = rf"(?:{any_of(words.comparing)}) [\w'-]+"
        # "A cheaper one", "un moins cher", "ein größeres"
        self.left_out = pattern_of(
            rf"(?<![\w'-])(?:(?P<one>{some}) )?(?P<kind>[\w'-]+) (?:{any_of(words.ones)})(?![\w'-])"
            if words.ones
            else rf"(?<![\w'-])(?P<one>{some}) (?P<kind>{more})(?=\W*$|\W+(?:{leads}) )"
            if words.comparing
            else rf"(?<![\w'-])(?P<one>{some}) (?P<kind>{any_of(words.comparatives)})"
            rf"(?=\W*$|\W+(?:{leads}) )"
        )
        ends = rf"(?: (?:{ones})(?!\w)|(?=\W*$))" if words.ones else r"(?=\W*$)"
        self.described_one = pattern_of(
            rf"(?<![\w'])(?:{any_of(words.articles)}) (?P<kind>[\w'-]+){ends}"
        )
        more = rf"(?:(?:{any_of(words.comparing)}) )?"
        of = any_of([one for some in words.prepositions[OF : OF + 1] for one in some])
        one = rf"(?: (?:{ones})(?!\w)|(?=\W*$))" if words.ones else r"(?![\w-])"
        one = rf"(?: (?:{of}) (?:{any_of([*words.both, *words.things])})(?!\w)|{one})"
        self.ranked_one = pattern_of(
            rf"(?<![\w'])(?:{any_of(words.articles)}) (?P<kind>{more}[\w'-]+){one}"
        )
        self.inner_both = pattern_of(rf"(?<![\w'])(?:{any_of(words.both[:1])})(?![\w'])")
        self.inner_other = pattern_of(rf"(?<![\w'])(?:{any_of(words.other)})(?![\w'])")
        pointing = [self.inner_both, self.inner_other, *self.inner_ordinals]
        self.inner_pointing = pattern_of(any_of([one.pattern for one in pointing]))
        self.afterwards = _whole(words.afterwards)
        self.predicates, self.comparing = _whole(words.predicates), _set(words.comparing)
        self.inflected = pattern_of(rf"(?:{any_of(words.inflections)})$")
        self.agreeing = _whole(words.agreeing)
        self.less = _set(words.less)
        self.ranking = {
            self.bare(word): (n == 0, least)
            for n, pair in enumerate(words.ranking)
            for least, side in zip((True, False), pair, strict=True)
            for word in side.split("|")
        }
        self.described: dict[str, set[int]] = {}
        self.qualities = lru_cache(MOST_KEPT)(self._qualities)
        classes = words.sizes if any("|" in one for one in words.sizes) else ["|".join(words.sizes)]
        for place, one in enumerate(classes):
            for word in one.split("|"):
                self.described.setdefault(self.bare(word), set()).add(place)
        self.here = _set(words.places)
        self.owning_end = pattern_of(r"(?<=\w)['’]s\Z" if words.genitives else r"(?!)")
        self.one = {one.rstrip("?s") for one in words.ones}
        self.ends_in_one = pattern_of(rf" (?:{any_of(words.ones)})\Z")
        self.thing = _words_pattern(words.things)
        helpers = any_of([re.escape(one) for one in words.helpers])
        self.acts = pattern_of(rf"(?<![\w'])(?:{helpers}) (?:{any_of(words.things)})(?!\w)")
        self.exists = pattern_of(rf"(?:{any_of(words.exists)}) (?=\w)")
        self.predicated = pattern_of(rf"(?<=\w )(?:{any_of(words.predicates)})(?=\W*$)")
        pronouns = any_of([*words.things, *words.persons])
        self.elisions = [
            (pattern_of(rf"(?<!\w){a}(?=(?:{pronouns})(?!\w))"), b) for a, b in words.elisions
        ]
        self.pointer = _words_pattern(words.pointers)
        self.clitics = [pattern_of(one) for one in words.clitics]
        self.subjectless = _whole(words.subjectless)
        self.person = _words_pattern(words.persons)
        self.persons_or_things = self.things & self.persons
        self.clausal = self.things | (self.small - self.possessives - self.joining)
        self.asks_who = pattern_of(rf"\W*(?:{any_of(words.asks_who)})(?![\w'])")
        self.asks_where = pattern_of(rf"\W*(?:{any_of(words.asks_where)})(?![\w'])")
        self.of_goods = pattern_of(rf"(?<![\w'])(?:{any_of(words.of_goods)})(?![\w'])")
        self.genders = [(_set(one.pronouns), _set(one.articles)) for one in words.genders]
        inverts = words.inversion or "(?!)"
        self.inverted = pattern_of(rf"(?<=\w)(?:{inverts})(?=(?:{pronouns})(?![\w-]))")
        self.place = _words_pattern(words.places)
        self.there_at = pattern_of(rf"(?:{any_of(words.places)}) (?=(?:{leads}) )")
        self.time = pattern_of(rf"(?<=\w )(?:{any_of(words.times)})(?![\w])")
        self.until_then = pattern_of(rf".*\b(?:{leads}) (?:{any_of(words.times)})\W*")
        self.owner = pattern_of(
            rf"(?<![\w'-])(?:{any_of(words.owners)}) (?P<noun>[^\W\d_]+(?: [^\W\d_]+)?)"
        )
        verbs = any_of([re.escape(one) for one in [*words.forms_of_be, *words.helpers]])
        determined = rf"(?:{any_of(words.determiners)}) (?!(?:{verbs})(?!\w))(?P<noun>[^\W\d_]+)"
        self.determined = pattern_of(determined)
        self.asks_noun = pattern_of(rf"\W*{determined}")
        self.asking = pattern_of(rf"\W*(?:(?:{leads}) )?{determined}")
        self.uncontracted = {
            plain_of(one): apart
            for apart, one in words.contractions
            if apart.count(" ") == 1
            and apart.replace(" ", "").isalpha()
            and one not in apart.split()
        }
        self.contractions = [(pattern_of(rf"\b{a}\b(?!')"), b) for a, b in words.contractions]
        self._tokens_read = lru_cache(MOST_READ)(self._read_tokens)
        self._slots_read = lru_cache(MOST_READ)(self._read_slots)

    def tokens(
        self, text: str, entities: Sequence[str] = (), *, inside: bool = False
    ) -> list[Token]:
        """Return the words of a text with what each is, typed parts and entities as one word.

        `inside`: something was said before, so that a capital at the start makes a name.
        """
        plain = plain_of(text)
        named = tuple([one for one in entities if plain_of(one) in plain])
        inside = inside or not text.lstrip(TRIMMED)[:1].isupper()
        return [*self._tokens_read(text, named, inside)]

    def _read_tokens(self, text: str, entities: tuple[str, ...], inside: bool) -> list[Token]:
        plain = plain_of(text)
        typed = self.typed_parts(text)
        fixed: list[tuple[int, int, str]] = []
        for entity in entities:
            if self._has_parts(entity):
                continue
            start = plain.find(plain_of(entity))
            end = start + len(entity)
            if (
                start >= 0
                and _stands_alone(plain, start, end)
                # A day that an agent names among its entities stays a day.
                and not any(a <= start and end <= b for a, b, _ in typed)
            ):
                counted = any(a == start and kind in ("number", "measure") for a, _, kind in typed)
                counted = counted and not (plain[start].isdigit() and _HOUSE_NAME.search(entity))
                named = any(one.isupper() or one.isdigit() for one in entity)
                kind = "measure" if counted else "entity" if named else "thing"
                first, *more = plain_of(entity).split()
                described = kind != "measure" and entity[0].islower() and first not in self.leads
                if described and not self.leads.keys().isdisjoint(more):
                    continue  # "pista de tenis" has parts
                fixed.append((start, end, kind))
        for part in typed:
            if not any(a < part[1] and part[0] < b for a, b, _ in fixed):
                fixed.append(part)
        fixed.sort()
        found: list[Token] = []
        place = 0
        for start, end, kind in [*fixed, (len(text), len(text), "")]:
            for one in self._plain_tokens(text, plain, place, start, inside):
                month = one.kind == "word" and found and found[-1].kind == "lead"
                if month and self.month.match(plain[one.start : one.end]):  # "in May"
                    one = msgspec.structs.replace(one, kind="date")
                found.append(one)
            if kind:
                found.append(Token(start, end, text[start:end], kind))
            place = end
        return found

    def _has_parts(self, entity: str) -> bool:
        """Return whether an entity is read by its words: "a night", "the autumn", "class 3c"."""
        words = plain_of(entity).split()
        if len(words) < 2:
            return False
        if words[0] in self.any_article:
            rest = " ".join(words[1:])
            timed = rest in self.units or self.kinds.fullmatch(rest)
            return bool(timed or self.feast.fullmatch(rest))
        labelled = words[-1].isalnum() and not words[-1].isalpha() and not words[-1].isdigit()
        return labelled and all(one.islower() and one.isalpha() for one in entity.split()[:-1])

    def typed_parts(self, text: str) -> list[tuple[int, int, str]]:
        """Return start, end and kind of the dates, hours, measures, numbers and codes of a text."""
        found: list[tuple[int, int, str]] = []
        plain = unaccented(text)
        for one in self.kinds.finditer(plain_of(text)):
            kind, (start, end) = str(one.lastgroup), one.span()
            if found and start < found[-1][1]:
                continue
            if kind == "measure" and (unit := one["unit"]):
                if self._is_no_unit(unit):
                    kind, end = "number", start + len(plain[start : one.start("unit")].rstrip(" -"))
                elif (house := self._house(plain, start)) is not None:
                    kind, end = "code", house
                elif more := self.counted.match(plain, one.start("unit")):
                    end = end if self._is_no_unit(more["noun"]) else more.end()
            if one["joined"] and not plain[start:end].islower():
                kind = "code"  # "3D"
            if kind == "date" and self._opens_name(plain, one):
                continue
            if kind != "number" or self._is_amount(plain, one):
                found.append((start, end, kind))
        return found

    def _opens_name(self, plain: str, one: re.Match[str]) -> bool:
        """Return whether a day is a part of a name: "the *Winter* Key", not "on Friday"."""
        after = plain[one.end() : one.end() + 2]
        within = plain[one.start()].isupper() and after[:1] == " " and after[1:].isupper()
        return within and not self.words.nouns_capital and " " not in one[0]

    def _is_amount(self, plain: str, one: re.Match[str]) -> bool:
        """Return whether a word for a number is no article: "for one", at the end."""
        if plain_of(one[0]) not in self.indefinite:
            return True
        before = plain_of(plain[: one.start()]).split()
        return bool(before) and before[-1] in self.leads and not plain[one.end() :].strip(TRIMMED)

    def _house(self, plain: str, start: int) -> int | None:
        """Return where an address ends that opens with its number: "12 Elm Street"."""
        found = None if self.words.nouns_capital else _HOUSE.match(plain, start)
        return found.end() if found else None

    def _is_no_unit(self, word: str) -> bool:
        plain = plain_of(word)
        if plain in self.subjects and len(plain) > SHORT:  # "two people"
            return False
        if self.words.heads_last and self.predicates.fullmatch(plain):
            return True  # "is tram 4 running"
        return plain in self.function or (self.is_verb(word) and plain_of(word) not in self.units)

    def _plain_tokens(
        self, text: str, plain: str, start: int, end: int, inside: bool
    ) -> Iterable[Token]:
        for one in _TOKEN.finditer(plain, start, end):
            at, stop = one.span()
            if at < start:
                continue
            if phrase := self.long_leads.match(plain, at, end):
                start = phrase.end()
                lead = " ".join(phrase[0].split())
                yield Token(at, start, text[at:start], "lead", self.leads[lead])
                continue
            if one[0] in ",;:?!¿¡":
                yield Token(at, stop, one[0], "mark")
                continue
            if not _ABBREVIATED.match(text, at):
                stop = at + len(one[0].rstrip("."))
            if stop == at:
                continue
            word = plain[at:stop]
            if word.startswith(self.elided) and (
                lead := next((e for e in self.elided if word.startswith(e) and word != e), "")
            ):
                yield Token(at, at + len(lead), text[at : at + len(lead)], *self._kind(lead, ""))
                at, word = at + len(lead), word[len(lead) :]
            opens = not (inside or plain[:at].strip(TRIMMED))
            yield Token(at, stop, text[at:stop], *self._kind(word, "" if opens else text[at]))

    def _kind(self, word: str, first: str) -> tuple[str, int]:
        return self._kinds.get(word) or ("name" if first.isupper() else "content", -1)

    def opens_clause(self, text: str) -> bool:
        """Return whether a text begins as a whole question, order or statement does."""
        plain = plain_of(text)
        first, *_ = plain.split(maxsplit=1) or ("",)
        return (
            first in self.asking_words or first in self.subjects
            or self.orders.match(plain) is not None
        )  # fmt: skip

    def opens_request(self, text: str) -> bool:
        """Return whether a text begins as a question or an order does, after its opening words."""
        plain = plain_of(text).strip(TRIMMED)
        opened = self.joint.match(plain)
        plain = plain[opened.end() :] if opened else plain
        first, *_ = plain.split(maxsplit=1) or ("",)
        return first.rstrip(",") in self.asking_words or self.commands.match(plain) is not None

    def slots(self, text: str, entities: Sequence[str] = (), *, inside: bool = False) -> list[Part]:
        """Return the slots of a question, in their order."""
        return [*self._slots_read(text, (*entities,), inside)]

    def _read_slots(self, text: str, entities: tuple[str, ...], inside: bool) -> list[Part]:
        tokens = self.tokens(text, entities, inside=inside)
        if (
            len(tokens) > 1
            and plain_of(tokens[1].text) in self.particles
            and self.commands.match(plain_of(tokens[0].text))
        ):  # "turn on the light"
            tokens[1] = msgspec.structs.replace(tokens[1], kind="word", lead=-1)
        slots: list[Part] = []
        at = 0
        while at < len(tokens):
            first = tokens[at]
            if first.kind in ("mark", "word"):
                at += 1
                continue
            if self._is_degree(tokens, at):
                at += 1
                continue
            lead, article, start, place = -1, "", first.start, at
            if tokens[place].kind == "lead":
                lead, place = tokens[place].lead, place + 1
            opens = tokens[place].start if place < len(tokens) else start
            while place < len(tokens) and tokens[place].kind in ("the", "a"):
                article, place = tokens[place].kind, place + 1
            end = place
            while (
                end < len(tokens)
                and tokens[end].kind in _HELD
                and not _splits(tokens, place, end)
                and not (end > place and self._ends_noun(tokens[end - 1], tokens[end]))
            ):
                end += 1
            if place == end or place >= len(tokens):
                at = max(place, at + 1)
                continue
            chunk = tokens[place:end]
            noun = self._slot(text, (start, opens), lead, article, chunk)
            slots.append(noun)
            at = end
        slots = self._with_verb(text, tokens, _numbered(text, slots), inside)
        acts = (n for n, one in enumerate(slots) if self._is_relative(text, one))
        if (n := next(acts, None)) is not None:
            slots = _split_first(text, slots, n)
        return self._with_ranges(text, _numbered(text, slots))

    def _is_relative(self, text: str, slot: Part) -> bool:
        """Return whether a slot is a verb with its object: "somebody who *mends kites*"."""
        before = plain_of(text[: slot.start]).split()
        bare = slot.kind == "noun" and slot.lead < 0 and not slot.article and " " in slot.text
        if not (self.words.heads_last and bare and len(before) > 1):
            return False
        return before[-2] in self.subjects and self.asks_who.fullmatch(before[-1]) is not None

    def _ends_noun(self, noun: Token, after: Token) -> bool:
        """Return whether a noun ends before a word: a German noun before a word that is none."""
        names = self.words.nouns_capital and noun.text[:1].isupper()
        return names and after.kind == "content" and noun.kind != "measure"

    def _with_ranges(self, text: str, slots: list[Part]) -> list[Part]:
        """Join "between 1" and "10"."""
        joined: list[Part] = []
        for one in slots:
            last = joined[-1] if joined else None
            bounds = last is not None and last.lead >= 0 and last.kind == one.kind == "number"
            between = plain_of(text[last.span[1] : one.span[0]]).strip() if last and bounds else ""
            if last is not None and between and between == self.words.conjunction:
                span, whole = (last.span[0], one.span[1]), (last.whole[0], one.span[1])
                joined[-1] = msgspec.structs.replace(
                    last, span=span, whole=whole, text=text[slice(*span)]
                )
            else:
                joined.append(one)
        return joined

    def _is_degree(self, tokens: list[Token], at: int) -> bool:
        """Return whether a word names the asked measure: "how deep is"."""
        if at == 0 or at + 1 >= len(tokens) or tokens[at].kind != "content":
            return False
        before = plain_of(tokens[at - 1].text)
        if before not in self.questions or before in self.determining:
            return False
        far = tokens[at + 1].kind == "word" and at + 2 < len(tokens)  # "how far away is"
        after = {plain_of(one.text) for one in tokens[at + 1 : at + 2 + far]}
        return not after.isdisjoint(self.auxiliaries)

    def _slot(
        self, text: str, starts: Span, lead: int, article: str, chunk: Sequence[Token]
    ) -> Part:
        a, b = chunk[0].start, chunk[-1].end
        kinds = {one.kind for one in chunk}
        typed = next((one.kind for one in chunk if one.kind in TYPED), None)
        unit = article == "a" and len(chunk) == 1 and plain_of(text[a:b]) in self.units
        feast = lead >= 0 and self.feast.fullmatch(plain_of(text[a:b])) is not None
        month = len(chunk) == 1 and self.month.match(plain_of(text[a:b])) is not None
        kind = (
            "date" if month or feast
            else "measure" if unit
            else typed if typed and len(chunk) == 1
            else "name" if kinds & {"name", "code", "entity"}
            else "verb"
            if lead == TO and not article and len(chunk) == 1 and self.is_verb(text[a:b])
            else "verb"
            if self.words.nouns_capital and text[a:b].islower() and not text.islower()
            else "noun"
        )  # fmt: skip
        inner = next((one for one in chunk if one.kind in _TOLD), None)
        named = inner is not None
        core = None if inner is None or len(chunk) == 1 else (inner.start, inner.end)
        names = [one for one in chunk if one.kind == "name"]
        if inner is None and 0 < len(names) < len(chunk) and chunk[0] is names[0]:
            core = (names[0].start, names[-1].end)  # "the Islay ferry"
        whole = (starts[0], b)
        return Part((a, b), whole, kind, text[a:b], lead, article, named, starts[1], core)

    def _with_verb(
        self, text: str, tokens: list[Token], slots: list[Part], inside: bool
    ) -> list[Part]:
        """Take the verb out of the slot that it stands in: "the ferry leave", "Boots sell x"."""
        if not tokens:
            return slots
        said = [one for one in tokens if one.kind != "mark"]
        if len(said) > 1 and said[0].kind == "lead" and plain_of(said[1].text) in self.questions:
            said = said[1:]  # "at what time ..."
        words = [plain_of(one.text) for one in said]
        if not words:
            return slots
        if not inside and tokens[0].kind == "content" and self.orders.match(words[0]):
            return _split_first(text, slots, 0) if slots and slots[0].span[0] == 0 else slots
        acts = self.words.subjectless and tokens[0].kind == "mark" and said[0].kind == "content"
        if acts and slots and slots[0].start == said[0].start:  # "¿Tenéis la ...?"
            return _split_first(text, slots, 0)
        if self.heads_be(text):
            return self._without_predicate(text, tokens, slots)
        helper = next((n for n, word in enumerate(words[:9]) if word in self.helpers), None)
        asks = words[0] in self.questions
        if helper is None:
            degree = not self.be.isdisjoint(words[2:4])
            if asks and slots and self._has_determiner(words) and not self.be & {*words}:
                fits = slots[0].lead < 0 and not slots[0].typed and " " in slots[0].text
                return self._split_at_verb(text, slots) if fits else slots
            if (
                asks
                and len(words) > 1
                and words[1] not in self.function
                and not (degree or self._counts(text))
            ):
                return self._verb_first(text, slots)
            return slots
        helps = said[helper]
        own = len(words) > helper + 1 and words[helper + 1] in self.subjects
        if own and len(words) > helper + 2 and words[helper + 2] in self.helpers:
            return slots  # "do you have ..."
        if not own:
            for n in range(len(slots) - 1, -1, -1):
                slot = slots[n]
                ends = slot.text.rpartition(" ")[2]
                may_act = slot.whole[0] >= helps.end and not slot.typed
                acts = may_act and ends.islower() and self.is_verb(ends)
                if acts and (n or ends != slot.text):
                    return _split_last(text, slots, n, self.is_plural)
                if may_act and (at := self._inner_verb(slot)) is not None:
                    return [*slots[:n], *_split_around(text, slot, at), *slots[n + 1 :]]
        for n, slot in enumerate(slots):
            if slot.whole[0] < helps.end or slot.lead >= 0 or slot.typed:
                continue
            if own:
                return slots if slot.article else _split_first(text, slots, n)
            after = slots[n + 1] if n + 1 < len(slots) else None
            adverbial = asks and words[0] != "who" and not self._has_determiner(words)
            rests = [plain_of(text[one.span[1] :]).split(maxsplit=1) for one in slots[n:]]
            if any(one and one[0] in self.auxiliaries for one in rests):
                return slots  # "will my coat be ready"
            if " " not in slot.text or (slot.entity and slot.core is None):
                if after is not None and after.lead >= 0:
                    return _verb_after_name(text, slots, n, self.is_plural, asks=asks)
                if (
                    after is not None
                    and after.lead < 0
                    and not after.typed
                    and after.kind == "noun"
                    and not after.article
                ):
                    return _split_first(text, slots, n + 1)
                return slots
            last_is_verb = after is None or after.lead >= 0 or after.typed or after.article
            if not asks and after is None and not slot.article:
                return _split_second(text, slots, n)
            return (
                _split_last(text, slots, n, self.is_plural) if last_is_verb or adverbial else slots
            )
        return slots

    def heads_be(self, text: str) -> bool:
        """Return whether a form of *be* opens a question, possibly after a question word."""
        first, second, *_ = [*plain_of(text).split(maxsplit=2), "", ""]
        return first in self.be or (first in self.questions and second in self.be)

    def _inner_verb(self, slot: Part) -> Span | None:
        """Return where a known verb stands inside a slot: "the gospel choir *need* tenors"."""
        inner = list(_WORDS.finditer(slot.text))[1:-1]
        known = (one for one in reversed(inner) if one[0].islower() and self.is_verb(one[0]))
        found = next(known, None)
        start = slot.span[0]
        return None if found is None else (start + found.start(), start + found.end())

    def _split_at_verb(self, text: str, slots: list[Part]) -> list[Part]:
        """ "Which shops sell wine": the first slot, by a verb that is known, else the last word."""
        at = self._inner_verb(slots[0])
        return (
            [*_split_around(text, slots[0], at), *slots[1:]]
            if at
            else _split_last(text, slots, 0, self.is_plural)
        )

    def _without_predicate(self, text: str, tokens: list[Token], slots: list[Part]) -> list[Part]:
        """ "Is the tennis court free": what is said of the thing is not a part of it."""
        first = next((n for n, one in enumerate(slots) if one.lead < 0 and not one.typed), None)
        if first is None or not self.words.heads_last:
            return slots
        slot = slots[first]
        after = slots[first + 1] if first + 1 < len(slots) else None
        if after is not None and after.lead < 0 and not after.typed and not after.article:
            bare = after.kind == "noun" and after.whole[0] - slot.span[1] <= 1
            if self._is_choice_of_predicates(text, slot, after):
                return _split_last(text, slots, first, self.is_plural)
            return _split_first(text, slots, first + 1) if bare else slots
        rest = [one for one in slots[first + 1 :] if one.lead < 0 and not one.article]
        if any(one.kind == "noun" for one in rest):
            return slots  # "is the pottery class on Thursday full"
        words = [plain_of(one.text) for one in tokens if one.kind != "mark"]
        last = slot.text.rpartition(" ")[2]
        whole = words[0] in self.be and words[1] not in self.here and slot.article != "a"
        predicate = self.predicates.fullmatch(plain_of(last))
        says = predicate or (whole and (after is None or not after.article))
        if last == slot.text or not last.islower() or (slot.entity and slot.core is None):
            return slots
        if not says:
            return slots
        parts = _split_last(text, slots, first, self.is_plural)
        return [*parts[: first + 1], *parts[first + 2 :]] if predicate else parts

    def _is_choice_of_predicates(self, text: str, slot: Part, after: Part) -> bool:
        """Return whether a slot holds the first of two predicates: "is the *tea hot* or cold"."""
        between = plain_of(text[slot.span[1] : after.start]).strip()
        ends = not text[after.span[1] :].strip(TRIMMED) and " " not in after.text
        return ends and " " in slot.text and between == plain_of(self.words.choice)

    def _qualities(self, text: str) -> frozenset[int]:
        """Return the lists of `sizes` that all words of a text are in: "larger" is among sizes."""
        words = [one for one in text.split() if plain_of(one) not in self.comparing]
        found = [self.described.get(self.bare(one), set()) for one in words]
        return frozenset(set.intersection(*found)) if found else frozenset()

    def is_headless(self, part: Part, question: str) -> bool:
        """Return whether a part describes a noun that is not said: "la roja", "eine größere".

        In German it begins with a small letter where the last question has capitals.
        """
        words = plain_of(part.text).split()
        if part.typed or self.words.heads_last or part.entity:
            return False
        if self.qualities(part.text):
            return bool(part.article) or words[0] in self.comparing or self.words.nouns_capital
        if words[0] in self.comparing and len(words) > 1:
            return True
        small = self.words.nouns_capital and part.text.islower() and not question.islower()
        agrees = self.agreeing.fullmatch(words[-1]) is not None
        return small and agrees and words[-1] not in self.function

    def bare(self, word: str) -> str:
        """Return a word without its ending of case, gender, number or degree."""
        bare = self.inflected.lower.sub("", plain_of(word))
        return bare[:-1] if len(bare) > 2 and bare[-1] == bare[-2] else bare

    def month_in(self, part: Part, slot: Part) -> Span | None:
        """Return where a day names the month whose place a month takes: "no, *in May*"."""
        if part.kind != "date" or slot.kind != "date" or not self.month.match(plain_of(part.text)):
            return None
        words = [one for one in _WORDS.finditer(slot.text) if self.month.match(plain_of(one[0]))]
        day = words and any(sign.isdigit() for sign in slot.text)
        return (slot.span[0] + words[0].start(), slot.span[0] + words[0].end()) if day else None

    def is_owner(self, text: str, part: Part) -> bool:
        """Return whether a part is in the genitive of a language: "das Büro *der Schule*"."""
        article = plain_of(text[part.start : part.span[0]]).strip()
        before = text[: part.start].rpartition(" ")[0].rpartition(" ")[2]
        return part.lead < 0 and article in self.owning and before[:1].isupper()

    def time_role(self, part: Part) -> str:
        """Return whether a part is a "point" in time or a "length" of time; "" for neither."""
        if part.kind == "measure":
            timed = plain_of(part.text).rpartition(" ")[2] in self.units
            return ("point" if part.lead == WITHIN else "length") if timed else ""
        if part.kind not in ("date", "hour"):
            return ""
        return "length" if part.article == "a" and part.lead in (-1, FOR) else "point"

    def end_of_day(self, text: str) -> Span | None:
        """Return where a date says the part of the day: "Monday *morning*"."""
        found = self.daytime_tail.search(plain_of(text))
        return None if found is None else (found.end() - len(found[0].strip()), found.end())

    def agrees(self, pronoun: str, article: str) -> bool | None:
        """Return whether a noun with an article has the gender of a pronoun; None if unknown."""
        pronoun, article = plain_of(pronoun), plain_of(article)
        genders = [articles for pronouns, articles in self.genders if pronoun in pronouns]
        known = any(article in articles for _, articles in self.genders)
        return any(article in one for one in genders) if genders and known else None

    def is_plural(self, text: str) -> bool:
        """Return whether a noun may be a plural by its last word."""
        return self.plural_noun.search(plain_of(text)) is not None

    def is_relation(self, text: str) -> bool:
        """Return whether a noun is a property of things: "price", "opening hours"."""
        return plain_of(text) in self.relations

    def is_of_thing(self, text: str) -> bool:
        """Return whether an owner that a text opens with is the first of the list: "its price"."""
        first = self.words.owners[:1]
        return plain_of(text).split(maxsplit=1)[:1] == [plain_of(one) for one in first]

    def is_verb(self, word: str) -> bool:
        """Return whether a word is a form of a frequent verb."""
        plain = plain_of(word)
        return plain in self.verbs or (plain[-1:] == "s" and plain[:-1] in self.verbs)

    def _has_determiner(self, words: list[str]) -> bool:
        return words[0] in self.determining or " ".join(words[:2]) in self.determining

    def _counts(self, text: str) -> bool:
        return self.determined.match(plain_of(text)) is not None

    def _verb_first(self, text: str, slots: list[Part]) -> list[Part]:
        """ "Who teaches spinning", "wann schließt ...": the verb comes after the question word."""
        if not slots or slots[0].lead >= 0 or slots[0].article or slots[0].typed:
            return slots
        return _split_first(text, slots, 0)

    def joined(self, text: str) -> str:
        """Return a text with prepositions and articles contracted."""
        for apart, one in self.contractions:
            text = _replace_found(apart, one, text)
        return " ".join(text.split())


_TOLD: Final = frozenset({"entity", "thing"})
"""What an agent has named: a name, or a thing in small letters."""

_HELD: Final = frozenset(
    {"content", "name", "code", "entity", "thing", "date", "hour", "number", "measure"}
)


def _numbered(text: str, slots: list[Part]) -> list[Part]:
    """Join a noun and the number after it, which are a name: "room 4"."""
    joined: list[Part] = []
    for one in slots:
        last = joined[-1] if joined else None
        if (
            last is not None
            and last.kind in ("noun", "name")
            and (one.kind in ("number", "name") or one.entity)
            and one.lead < 0
            and not one.article
            and (one.text.isdecimal() or (one.kind == "name" and one.text[0].isdigit()))
            and one.whole[0] - last.span[1] == 1
        ):
            span, whole = (last.span[0], one.span[1]), (last.whole[0], one.span[1])
            joined[-1] = msgspec.structs.replace(
                last, span=span, whole=whole, kind="name", text=text[slice(*span)]
            )
        else:
            joined.append(one)
    return joined


def _splits(tokens: list[Token], start: int, at: int) -> bool:
    """Return whether a slot ends before a token."""
    if at == start:
        return False
    before, now = tokens[at - 1], tokens[at]
    if before.end != now.start and now.start - before.end > 1:
        return True
    if before.kind in ("date", "hour") or now.kind in ("date", "hour"):
        return True
    if now.kind in ("measure", "number", "code") or before.kind == "code":
        return True
    if before.kind == "measure":
        return True
    if before.kind == "number":  # "tram 4 running"
        return at - 1 > start or (start > 0 and tokens[start - 1].kind == "content")
    opened = tokens[start - 1].kind if start > 0 else ""
    names = {before.kind, now.kind} == {"name", "entity"}  # "in the *Hotel Adler*"
    determined = opened in ("the", "a") or (opened == "lead" and names)
    return before.kind != now.kind and not determined


def _split_last(
    text: str, slots: list[Part], n: int, is_plural: Callable[[str], bool]
) -> list[Part]:
    slot = slots[n]
    cut = slot.text.rfind(" ")
    if cut < 0:
        return _split_first(text, slots, n)
    if slot.kind == "name" and not slot.text[cut + 1].islower():
        return slots
    if (at := _verb_before_object(slot, is_plural)) is not None:
        return [*slots[:n], *_split_around(text, slot, at), *slots[n + 1 :]]
    start = slot.span[0]
    noun = _cut(text, slot, (start, start + cut))
    verb = Part(
        (start + cut + 1, slot.span[1]),
        (start + cut + 1, slot.span[1]),
        "verb",
        slot.text[cut + 1 :],
        start=start + cut + 1,
    )
    return [*slots[:n], noun, verb, *slots[n + 1 :]]


def _verb_before_object(slot: Part, is_plural: Callable[[str], bool]) -> Span | None:
    """Return where the verb stands between a name and a noun: "the Harbour Inn *allow* dogs"."""
    words = list(_WORDS.finditer(slot.text))
    if slot.core is None or slot.core[0] != slot.span[0] or len(words) < 3:
        return None
    start = slot.span[0]
    *_, verb, last = words
    named = " " in slot.text[: slot.core[1] - start]
    follows = verb.start() >= slot.core[1] - start and verb[0].islower()
    object_ = named or is_plural(last[0])
    return (start + verb.start(), start + verb.end()) if follows and object_ else None


def _verb_after_name(
    text: str, slots: list[Part], n: int, is_plural: Callable[[str], bool], *, asks: bool
) -> list[Part]:
    """ "The ferry from Ancona to Split leave": the verb stands after the last name."""
    for place in range(len(slots) - 1, n, -1):
        slot = slots[place]
        if slot.typed or " " not in slot.text:
            continue
        ends = slot.text.rpartition(" ")[2]
        if slot.kind == "name":
            return _split_last(text, slots, place, is_plural) if ends.islower() else slots
        return _split_last(text, slots, place, is_plural) if asks and slot.kind == "noun" else slots
    return slots


def _split_first(text: str, slots: list[Part], n: int) -> list[Part]:
    slot = slots[n]
    cut = slot.text.find(" ")
    start = slot.span[0]
    if cut < 0:
        return [
            *slots[:n],
            Part(slot.span, slot.span, "verb", slot.text, start=slot.span[0]),
            *slots[n + 1 :],
        ]
    verb = Part((start, start + cut), (start, start + cut), "verb", slot.text[:cut], start=start)
    noun = _cut(text, slot, (start + cut + 1, slot.span[1]))
    return [
        *slots[:n],
        verb,
        msgspec.structs.replace(noun, whole=noun.span, article="", start=noun.span[0]),
        *slots[n + 1 :],
    ]


def _split_around(text: str, slot: Part, verb: Span) -> list[Part]:
    """Return the subject, the verb and the object that a slot holds, the verb inside it."""
    thing = _cut(text, slot, (verb[1] + 1, slot.span[1]))
    return [
        _cut(text, slot, (slot.span[0], verb[0] - 1)),
        Part(verb, verb, "verb", text[slice(*verb)], start=verb[0]),
        msgspec.structs.replace(thing, whole=thing.span, article="", start=thing.span[0], lead=-1),
    ]


def _split_second(text: str, slots: list[Part], n: int) -> list[Part]:
    """ "Castle Pharmacy sell ibuprofen": three words at least; the second last is the verb."""
    slot = slots[n]
    words = slot.text.split(" ")
    if len(words) < 3:
        return slots
    start = slot.span[0]
    end = start + len(" ".join(words[:-2]))
    last = slot.span[1] - len(words[-1])
    subject = _cut(text, slot, (start, end))
    verb = Part((end + 1, last - 1), (end + 1, last - 1), "verb", words[-2], start=end + 1)
    thing = Part((last, slot.span[1]), (last, slot.span[1]), "noun", words[-1], start=last)
    return [*slots[:n], subject, verb, thing, *slots[n + 1 :]]


def _cut(text: str, slot: Part, span: Span) -> Part:
    whole = (slot.whole[0], span[1])
    said = text[slice(*span)]
    kind = (
        "name"
        if (slot.entity or slot.kind == "name")
        and any(w[:1].isupper() or w[:1].isdigit() for w in said.split())
        else "noun"
    )
    kind = "number" if said.isdecimal() else kind
    core = slot.core if slot.core != span else None
    return Part(span, whole, kind, said, slot.lead, slot.article, slot.entity, slot.start, core)


@cache
def grammar_of(code: str) -> LanguageGrammar | None:
    """Return the grammar of a language; None for a language without a locale."""
    words = find_words(code)
    return LanguageGrammar(code, words) if words is not None and words.prepositions else None


@cache
def grammar_or_english(code: str) -> LanguageGrammar:
    """Return the grammar of a language, English where there is none."""
    grammar = grammar_of(code or ENGLISH) or grammar_of(ENGLISH)
    assert grammar is not None
    return grammar


@lru_cache(MOST_FOLDED)
def plain_of(text: str) -> str:
    """Return a text of the same length in lower case, without accents, with straight
    apostrophes.
    """
    return fold_text(text if text.isascii() else text.replace("’", "'"))


def unaccented(text: str) -> str:
    """Return a text of the same length without accents, with straight apostrophes."""
    return text if text.isascii() else strip_accents(text.replace("’", "'"))


def _replace_found(pattern: FoldedPattern, new: str, text: str) -> str:
    """Return a text with new words in place of what a pattern finds in its plain form."""
    pieces, at = [], 0
    for one in pattern.finditer(plain_of(text)):
        pieces += [text[at : one.start()], new]
        at = one.end()
    return "".join([*pieces, text[at:]])


@lru_cache(MOST_KEPT)
def stems_of(text: str) -> tuple[str, ...]:
    """Return the words of a text in small letters, without the letter that makes a plural."""
    words = _STEMMED.findall(plain_of(text))
    return tuple(one[:-1] if len(one) > 3 and one[-1] == "s" else one for one in words) or ("",)


def _set(phrases: Iterable[str]) -> set[str]:
    return {plain_of(one) for one in phrases}


def pattern_of(pattern: str) -> FoldedPattern:
    """Return a pattern for plain texts (`plain_of`); its phrases may have accents."""
    return FoldedPattern(unaccented(pattern))


def any_of(phrases: Iterable[str]) -> str:
    """Return an expression for any of some phrases, which matches nothing if there are none."""
    return "|".join(phrases) or "(?!)"


def _whole(phrases: list[str], gap: str = "", *, many: bool = False) -> FoldedPattern:
    if not phrases:
        return FoldedPattern(r"(?!)")
    return pattern_of(rf"(?:(?:{'|'.join(phrases)}){gap}){'+' if many else ''}")


def _words_pattern(phrases: list[str]) -> FoldedPattern:
    ordered = sorted(phrases, key=len, reverse=True)
    return pattern_of(rf"(?<![\w'-])(?:{any_of(ordered)})(?![\w'-])")


def _stands_alone(text: str, start: int, end: int) -> bool:
    return not (text[start - 1 : start].isalnum() or text[end : end + 1].isalnum())


def is_whole(text: str) -> bool:
    """Return whether a text begins as a whole question, order or statement in some language."""
    every = (grammar_of(code) for code in codes())
    text = text.strip(TRIMMED)
    return any(one and (one.opens_clause(text) or one.opens_request(text)) for one in every)


def is_courtesy(text: str) -> bool:
    """Return whether a text is greetings, thanks or assent in some language, and no more."""
    return _is_courtesy(text, codes())


@lru_cache(MOST_READ)
def _is_courtesy(text: str, every: tuple[str, ...]) -> bool:
    plain = plain_of(text).strip(TRIMMED) + " "
    grammars = (grammar_of(code) for code in every)
    return any(one is not None and one.courtesy.fullmatch(plain) for one in grammars)
