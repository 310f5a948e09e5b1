"""Reads questions about words: the kind of question, the word, its part of speech."""

import re

import msgspec

LONGEST = 120
_WORD = r"(?P<word>[a-z][a-z'-]*(?: [a-z][a-z'-]*){0,3}?)"
_ONE = r"(?P<word>(?!the )[a-z][a-z'-]+(?: [a-z][a-z'-]+)?)"
_PART = r"(?P<part>noun|verb|adjective|adverb)"
_THE = rf"(?:the )?(?:english )?(?:(?:word|term|expression|phrase|{_PART}) )?"
_SPEECH = r"(?:nouns?|verbs?|adjectives?|adverbs?)"
_ANY = r"(?:.{0,50} )?"
_DEFINITION = r"(?:definition|definiton|defintion|meanings?|mean|dictionary entry|entry|sense)"
_OTHER = (
    r"(?:another|other|different|shorter|longer|simpler|easier|nicer|fancier|fancy|better|alternative"
    r"|alternate|similar|more|stronger|politer)"
)
# Tried in this order; each must match the whole question.
_PATTERNS: list[tuple[str, float, str]] = [
    (
        "both",
        0.95,
        (
            rf"{_ANY}(?:synonyms?|antonyms?) (?:and|or|&) (?:an? )?(?:synonyms?|antonyms?)"
            rf" (?:of|for|to) {_THE}{_WORD}"
        ),
    ),
    ("synonyms", 0.96, rf"{_ANY}synonym(?:s|ous)?(?: words?)? (?:of|for|to|with) {_THE}{_WORD}"),
    ("synonyms", 0.95, rf"{_ANY}{_OTHER} words? (?:for|to) {_THE}{_WORD}"),
    (
        "synonyms",
        0.94,
        (
            rf"{_ANY}words? (?:that )?(?:means?|meaning) the same(?: thing)? as"
            rf" {_THE}{_WORD}"
        ),
    ),
    ("synonyms", 0.9, rf"syns? (?:of|for) {_THE}{_WORD}"),
    ("synonyms", 0.9, rf"{_ANY}words? (?:like|similar to) {_THE}{_WORD}"),
    ("synonyms", 0.9, rf"(?:thesaurus|synonyms?(?: help)?)(?: for)?[:, -]+{_WORD}"),
    ("synonyms", 0.92, rf"{_WORD}[:, -]+(?:synonyms?|thesaurus)"),
    (
        "antonyms",
        0.96,
        (
            rf"{_ANY}(?:antonyms?|(?:opposite|contrary)(?: words?| meaning)?s?)"
            rf" (?:of|for|to) {_THE}{_WORD}"
        ),
    ),
    (
        "antonyms",
        0.92,
        rf"(?:does|has) {_THE}{_WORD} (?:have |got )?(?:an? )?(?:antonyms?|opposite)",
    ),
    ("antonyms", 0.92, rf"{_WORD}[:, -]+(?:antonyms?|opposites?)"),
    ("kind", 0.94, rf"is {_THE}{_WORD} an? {_SPEECH}(?:,? (?:or|and) an? {_SPEECH})*"),
    (
        "spelling",
        0.95,
        rf"(?:how (?:do|would|should) (?:you|i|we|they) |how to )?spell {_THE}{_WORD}",
    ),
    ("spelling", 0.95, rf"(?:what is |what's )?the (?:correct )?spelling (?:of|for) {_THE}{_WORD}"),
    ("spelling", 0.95, rf"how is {_THE}{_WORD} (?:spelled|spelt|written)"),
    (
        "kind",
        0.94,
        (
            rf"(?:what|which) (?:part of speech|kind of word|type of word|sort of word|word"
            rf" class) (?:is|are) {_THE}{_WORD}"
        ),
    ),
    ("is_word", 0.92, rf"is {_WORD} (?:really )?an? (?:real |actual |valid )?(?:english )?word"),
    ("sentence", 0.94, rf"{_ANY}use {_THE}{_WORD} in an? (?:example )?sentence"),
    (
        "sentence",
        0.94,
        (
            rf"{_ANY}(?:example|sentence)s?(?: sentences?)? (?:with|of|for|using|containing)"
            rf" {_THE}{_WORD}(?: (?:used )?in a sentence)?"
        ),
    ),
    ("define", 0.96, rf"def(?:i?ne?|ine?) ?:? {_THE}{_WORD}(?: as an? (?P<as>{_SPEECH}))?"),
    (
        "define",
        0.94,
        (
            rf"(?:{_ANY}(?:what(?:'?s| is)|the|a|me|know) )?(?:the |a )?(?:dictionary )?"
            rf"{_DEFINITION} (?:of|for) {_THE}{_WORD}"
        ),
    ),
    ("define", 0.92, rf"(?:what|wat) (?:does|dose|do|is) it mean to (?:be )?{_WORD}"),
    (
        "define",
        0.95,
        (
            rf"(?:what|wat)(?:'?s| is| does| dose| do)(?: an?)? {_THE}{_WORD}"
            rf"(?: actually| exactly| really)? (?:mean|means|meant|stand for)"
        ),
    ),
    ("define", 0.9, rf"what (?:means|mean|is mean(?:ing)?) {_THE}{_WORD}"),
    ("define", 0.94, rf"what(?:'?s| is) meant by (?:an? )?{_THE}{_WORD}"),
    (
        "define",
        0.93,
        (
            rf"{_ANY}how (?:do|would|does|can|could) (?:you|dictionaries|a dictionary|one)"
            rf" define {_THE}{_WORD}"
        ),
    ),
    ("define", 0.93, rf"(?:explain |know )?what {_THE}{_WORD} (?:means|is supposed to mean)"),
    (
        "define",
        0.9,
        (
            rf"{_ANY}(?:word|term|expression|phrase) {_WORD}[,.;:?! ]+(?:and )?(?:what does"
            rf" (?:it|that) mean|what(?:'?s| is) (?:its|the) meaning|meaning|what is it)"
        ),
    ),
    (
        "define",
        0.9,
        rf"{_WORD}[,.;:?! -]+what(?:'?s| does| is) (?:that|it|this)(?: word)?(?: mean)?",
    ),
    ("define", 0.9, rf"{_WORD}[,:; -]+(?:dictionary )?(?:definition|definiton|meaning|defined)"),
    (
        "define",
        0.85,
        rf"look(?:ing)? up {_THE}{_WORD}(?: in (?:the|a|your) (?:dictionary|wordnet))?",
    ),
    ("define", 0.85, rf"dictionary[:, ]+{_WORD}"),
    ("define", 0.8, rf"explain {_THE}{_WORD}(?: to me)?"),
    ("loose", 0.7, rf"(?:know )?what (?:an? )?{_ONE} (?:is|are)"),
    (
        "loose",
        0.68,
        (
            rf"(?:what|who)(?: in the world| on earth| exactly)?(?:'?s| is| are)(?: exactly)?"
            rf" an? {_ONE}"
        ),
    ),
    (
        "loose",
        0.62,
        rf"what(?: in the world| on earth| exactly)?(?:'?s| is| are)(?: exactly)? {_ONE}",
    ),
]
_COMPILED = [(kind, sure, re.compile(pattern)) for kind, sure, pattern in _PATTERNS]
_COURTESIES = re.compile(
    r"^(?:(?:please|pls|hey|hi|hello|so|ok|okay|well|and|tell me|in english|do you know|you know"
    r"|(?:can|could|would|will) you(?: please)?|i(?:'d| would) like to know|i want to know"
    r"|give me|show me|find me|does anyone know|quick question)[,:]? )+"
)
_ENDINGS = re.compile(r"(?:[ ,-]+(?:please|pls|plz|thanks|for me|again|in english))+$")
_CODES = {"noun": "n", "verb": "v", "adjective": "a", "adverb": "r"}
# "What's up" and questions about the world or the user ask for no definition.
_NO_WORDS = frozenset(
    "up new on it that this you your i me my we us they he she next left due today tomorrow wrong "
    "happening going time date day weather there here who what which one life something anything "
    "everything nothing best better worse worst more less not year month week".split()
)


class WordQuestion(msgspec.Struct, frozen=True):
    """A question about a word: its kind, the word, the part of speech (n, v, a, r) if given."""

    kind: str
    word: str
    part: str | None
    confidence: float

    def named(self, word: str) -> "WordQuestion":
        """Return the same question about another word."""
        return msgspec.structs.replace(self, word=word)


def asked_of(text: str) -> WordQuestion | None:
    """Return the question that the text asks about a word; None if it asks none."""
    plain = _plain(text)
    if not plain or len(plain) > LONGEST:
        return None
    for kind, confidence, pattern in _COMPILED:
        match = pattern.fullmatch(plain)
        if match is not None:
            asked = _asked(kind, confidence, match)
            if asked is not None:
                return asked
    return None


def _asked(kind: str, confidence: float, match: re.Match[str]) -> WordQuestion | None:
    groups = match.groupdict()
    word = re.sub(r"^(?:the|an?|to) (?=.)", "", groups["word"]).strip(" '-")
    if not word or word in _POINTERS or set(word.split()) & _FOREIGN:
        return None
    if kind == "loose" and set(word.split()) & _NO_WORDS:
        return None
    named = groups.get("part") or groups.get("as") or ""
    part = _CODES.get(named.rstrip("s")) or ("n" if kind == "loose" else None)
    return WordQuestion("define" if kind == "loose" else kind, word, part, confidence)


_POINTERS = frozenset({"life", "it", "that", "this", "them", "these", "that word", "this word"})
_FOREIGN = frozenset({"timer", "timers", "todo", "reminder", "reminders", "you", "your", "my"})


def _plain(text: str) -> str:
    """Return the text in lower case without quotation marks, courtesies and final punctuation."""
    text = " ".join(text.lower().replace("’", "'").split())
    text = re.sub(r"[\"“”„‟«»‘*_`]|(?<![a-z])'|'(?![a-z])", "", text)
    text = text.strip(" ?!.,;:-")
    text = _ENDINGS.sub("", _COURTESIES.sub("", text))
    return text.strip(" ?!.,;:-")
