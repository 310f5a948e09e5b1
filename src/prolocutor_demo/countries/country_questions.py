"""Reads questions about countries: the countries, a topic, and the remaining words."""

import difflib
import functools
import re

import msgspec

from prolocutor_demo.reading.country_names import closest, mentions, words_of
from prolocutor_demo.reading.geonames import city_rows

_MOST_WORDS = 25
_MOST_STRANGE = 4
# The first topic with a match counts; words of the match need no other explanation.
_TOPICS = {
    "capital": r"capitals?",
    "language": r"languages?|spoken|speaks?",
    "border": r"borders?|bordering|neighbou?r(?:s|ing)?|next to|touch(?:es)?|adjacent to"
    r"|surrounds?",
    "code": r"(?:calling|dial(?:l?ing)?|phone|telephone|area|international country|country calling)"
    r" (?:code|prefix)|phone prefix|country code(?= .*(?:call|phone|dial))",
    "domain": r"(?:internet |web |top level |country )*domain(?: name| ending)?|tld|cctld",
    "currency": r"currenc(?:y|ies)|money|legal tender|(?:people |they |you |i )?pay (?:with|in)"
    r"|uses? the(?= \w+(?: \w+)?$)|uses?(?= \w+(?: \w+)?$)|used in",
    "population": r"population|populous|populated|inhabitants?"
    r"|(?:how (?:many|much)|number of|more|fewer|most|fewest|amount of)"
    r" (?:people|folks|persons|citizens|residents)",
    "area": r"area|how (?:big|large|small)|size|square (?:kilomet\w+|miles?|km)|bigger|larger"
    r"|smaller|biggest|largest|smallest|sq km",
    "continent": r"continents?|which part of the world"
    r"|where (?:on earth |exactly )?is$|^is (?:africa|asia|europe|oceania|antarctica) (?:a|one)"
    r"(?= country)|(?:in|of) (?:africa|asia|europe|oceania|antarctica"
    r"|north america|south america)",
    "letter": r"(?:start|begin|end)(?:s|ing)? (?:with|in|on)(?: the)?(?: letter)? [a-z](?= |$)",
    "flag": r"flags?",
    "facts": r"tell me (?:something |more |a bit )?about|facts?(?: about| on| of)?|info(?:rmation)?"
    r"|overview of|what do you know about",
}
_TOPIC_PATTERNS = {topic: re.compile(rf"\b(?:{found})\b") for topic, found in _TOPICS.items()}
_KEYWORDS = (
    "capital capitals currency currencies language languages population inhabitants neighbours "
    "neighbors continent borders country countries official largest smallest biggest"
).split()
_FILLER = frozenset(
    "a about again all also am an and any are area as at based be been by called can capital city "
    "cities could countries country d do does dont earth exactly find for forgot from generally "
    "give globe go going got has have having hello hey hi how i id if im in into is it its "
    "know just kind km land like list live lives ll located look many map me mean more most much "
    "my name names nation national nations need now of official on one only or our own people "
    "phone please pls plz re really remind right s say see share shares show size so some "
    "square kilometres kilometers state states surface tell than that the their them there these "
    "they thing this to travelling traveling type u up us use used uses using want was we were "
    "what whats where which who whole whom whose will with world would yes you your call "
    "international internet national pay folks called number quick question something".split()
)
_FOREIGN = frozenset(
    "time clock timezone convert holiday holidays exchange rate worth todo remind reminder joke "
    "define gains tax definition meaning synonym antonym weather timer date days dollars euros "
    "today tomorrow yesterday list".split()
)
_REGIONS = {
    "africa": "AF",
    "african": "AF",
    "antarctica": "AN",
    "asia": "AS",
    "asian": "AS",
    "europe": "EU",
    "european": "EU",
    "north america": "NA",
    "oceania": "OC",
    "south america": "SA",
    "south american": "SA",
}
_ABBREVIATED = {"ppl": "people"}
# "Can you speak German" asks about the assistant.
_TO_US = re.compile(
    r"(?:(?:can|do|could|will) )?(?:you|we) (?:also )?(?:speak|understand|talk)\b"
    r"|(?:please )?(?:speak|talk|answer|reply|write)\b"
)
_REGION_PATTERN = re.compile(
    r"\b(?:" + "|".join(sorted(_REGIONS, key=len, reverse=True)) + r")\b(?! afric)"
)


class CountryQuestion(msgspec.Struct, frozen=True):
    """A question about countries: ISO codes in text order, other words, topic, and confidence."""

    words: tuple[str, ...]
    countries: tuple[str, ...]
    rest: str
    regions: tuple[str, ...]
    topic: str
    strange: tuple[str, ...]

    def asks(self, pattern: str) -> bool:
        """Return whether the pattern occurs among the words that name no country."""
        return re.search(rf"\b(?:{pattern})\b", self.rest) is not None


def question_of(text: str) -> CountryQuestion | None:
    """Return the question that a text asks; None if it is not about countries."""
    words = words_of(text)
    if not words or len(words) > _MOST_WORDS or _TO_US.match(" ".join(words)):
        return None
    words = [_spelled(word) for word in words]
    named = mentions(words)
    inside = {at for mention in named for at in range(mention.start, mention.end)}
    rest = " ".join(word for at, word in enumerate(words) if at not in inside)
    codes = tuple(dict.fromkeys(mention.code for mention in named))
    topic = next((name for name, found in _TOPIC_PATTERNS.items() if found.search(rest)), "")
    left = _REGION_PATTERN.sub(" ", _TOPIC_PATTERNS[topic].sub(" ", rest) if topic else rest)
    strange = [word for word in left.split() if word not in _FILLER]
    if not codes and topic and len(strange) <= _MOST_STRANGE + 1:
        codes, strange = _of_city(topic, strange) or _misspelled(strange)
    regions = tuple(_REGIONS[found] for found in _REGION_PATTERN.findall(rest))
    return CountryQuestion(tuple(words), codes, rest, regions, topic, tuple(strange))


def sureness(question: CountryQuestion, explained: str = "") -> float:
    """Return how well the topic explains all words; 0 for a question about something else.

    `explained` are words that the answer itself accounts for, such as a city's name.
    """
    known = set(words_of(explained))
    strange = [word for word in question.strange if word not in known]
    if len(strange) > _MOST_STRANGE or any(word in _FOREIGN for word in strange):
        return 0.0
    if any(word.isdigit() for word in strange):
        return 0.0
    return 0.96 - 0.08 * len(strange)


def _spelled(word: str) -> str:
    """Return the keyword closest to a misspelled word, else the word."""
    if len(word) < 7 or word in _FILLER or word in _KEYWORDS:
        return _ABBREVIATED.get(word, word)
    near = difflib.get_close_matches(word, _KEYWORDS, n=1, cutoff=0.84)
    if not near or mentions([word]) or near[0].startswith("countr"):
        return word
    return near[0]


def _of_city(topic: str, strange: list[str]) -> tuple[tuple[str, ...], list[str]] | None:
    """Return the country of a large city whose money or language is asked for: that is what the
    words that are left name.
    """
    if topic not in _OF_COUNTRIES or not strange:
        return None
    code = _large_cities().get(" ".join(strange))
    return ((code,), []) if code else None


@functools.cache
def _large_cities() -> dict[str, str]:
    """Return the countries of cities by their names, that of the largest city of a name."""
    large = [one for one in city_rows() if one.population >= _LEAST_PEOPLE]
    large.sort(key=lambda one: one.population)
    return {
        name: one.country
        for one in large
        for name in (*one.other_names, " ".join(words_of(one.name)))
    }


_OF_COUNTRIES = frozenset({"currency", "language", "code", "domain"})
_LEAST_PEOPLE = 100_000
"""People of the smallest city that stands for its country."""


def _misspelled(strange: list[str]) -> tuple[tuple[str, ...], list[str]]:
    for word in strange:
        code = closest(word)
        if code is not None:
            return (code,), [other for other in strange if other != word]
    return (), strange
