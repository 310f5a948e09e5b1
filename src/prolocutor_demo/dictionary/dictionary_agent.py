"""Explains English words by WordNet: meanings, synonyms, antonyms, parts of speech, sentences."""

import difflib
import itertools
import re
from collections.abc import Callable
from typing import Any

from prolocutor_demo.dictionary import wordnet
from prolocutor_demo.dictionary.word_questions import WordQuestion, asked_of
from prolocutor_demo.reading.request import text_of

_DECLINED = "I can only explain words and find others like them."
_MOST_CLAUSES = 4
_PARTS = {"n": "noun", "v": "verb", "a": "adjective", "r": "adverb"}
_MOST_MEANINGS = 3
_MOST_WORDS = 12
_MOST_NEAR = 6
_MOST_OPPOSED = 5
_MOST_GUESSED = 2000
_CLOSE = 0.85
_LEAST = 0.6


def answer(request: dict[str, Any]) -> list[dict[str, Any]]:
    """Return a word's meaning, its synonyms or its antonyms."""
    text = text_of(request)
    for part, share in ((text, 1.0), *((clause, 0.85) for clause in _clauses(text))):
        asked = asked_of(part)
        if asked is not None:
            reply, confidence = _answer_to(asked)
            if confidence:
                return [{"text": reply, "confidence": round(max(_LEAST, confidence * share), 3)}]
            return [{"text": reply, "confidence": 0.1}]
    return [{"text": _DECLINED, "confidence": 0.05}]


def _clauses(text: str) -> list[str]:
    """Return the clauses of a text that asks several questions; [] if it asks one."""
    parts = re.split(r"[?;!.]\s+|,?\s+and\s+(?=wh|how|tell|define)", text, flags=re.IGNORECASE)
    return parts[:_MOST_CLAUSES] if len(parts) > 1 else []


def _answer_to(asked: WordQuestion) -> tuple[str, float]:
    if asked.kind == "spelling":
        return f"{asked.word}: {'-'.join(asked.word.replace(' ', '').upper())}.", asked.confidence
    unknown = f"WordNet does not list “{asked.word}”."
    try:
        meanings = wordnet.senses(asked.word, asked.part)
        if meanings:
            found = _READERS[asked.kind](asked, meanings)
            return (found, asked.confidence) if found else (f"I know none for “{asked.word}”.", 0.0)
        if asked.kind == "is_word":
            return f"{unknown} It may still be one.", _LEAST
        guess = _guessed(asked.word) if asked.confidence > 0.7 else None
        if guess is None:
            return unknown, 0.0
        found = _READERS[asked.kind](asked.named(guess), wordnet.senses(guess, asked.part))
        return f"You may mean “{guess}”. {found}", asked.confidence - 0.2 if found else 0.0
    except FileNotFoundError:
        return "My dictionary is not installed.", 0.0


def _define(asked: WordQuestion, meanings: list[wordnet.Sense]) -> str:
    shown = meanings[:_MOST_MEANINGS]
    if len(shown) == 1:
        return f"{asked.word} ({_PARTS[shown[0].part]}): {shown[0].definition}."
    lines = [
        f"{number}. ({_PARTS[one.part]}) {one.definition}"
        for number, one in enumerate(shown, start=1)
    ]
    return f"{asked.word}: {'; '.join(lines)}."


def _synonyms(asked: WordQuestion, meanings: list[wordnet.Sense]) -> str:
    near = wordnet.similar(meanings[0])
    others = [word for one in meanings[1:] for word in one.words]
    same = [*meanings[0].words, *near[:_MOST_NEAR], *others, *near[_MOST_NEAR:]]
    words = _without(asked.word, same)[:_MOST_WORDS] or _broader(meanings[0])
    return f"Synonyms of {asked.word}: {', '.join(words)}." if words else ""


def _broader(meaning: wordnet.Sense) -> list[str]:
    """Return the words of the hypernym, for a word without synonyms."""
    return [word for one in wordnet.wider(meaning) for word in one.words][:_MOST_WORDS]


def _antonyms(asked: WordQuestion, meanings: list[wordnet.Sense]) -> str:
    opposed = [word for one in meanings for word in wordnet.antonyms(one, asked.word)]
    if not opposed:
        # The word itself has none: take those of its synonyms.
        opposed = [
            far for one in meanings for word in one.words for far in wordnet.antonyms(one, word)
        ]
    words = _without(asked.word, opposed)[:_MOST_OPPOSED]
    return f"The opposite of {asked.word}: {', '.join(words)}." if words else ""


def _both(asked: WordQuestion, meanings: list[wordnet.Sense]) -> str:
    return f"{_synonyms(asked, meanings)} {_antonyms(asked, meanings)}".strip()


def _kind(asked: WordQuestion, meanings: list[wordnet.Sense]) -> str:
    parts = list(dict.fromkeys(_PARTS[one.part] for one in meanings))
    kinds = [f"{'an' if part[0] == 'a' else 'a'} {part}" for part in parts]
    return (
        f"“{asked.word}” can be {' or '.join(kinds)}."
        if kinds[1:]
        else (f"“{asked.word}” is {kinds[0]}.")
    )


def _is_word(asked: WordQuestion, meanings: list[wordnet.Sense]) -> str:
    return f"Yes, WordNet lists it. {_define(asked, meanings[:1])}"


def _sentence(asked: WordQuestion, meanings: list[wordnet.Sense]) -> str:
    stem = asked.word[: max(3, len(asked.word) - 2)]
    shown = [example for one in meanings for example in one.examples if stem in example.lower()]
    if shown:
        return f"For example: “{shown[0]}” {_define(asked, meanings[:1])}"
    return f"I have no sentence with {asked.word}, but this is how it is meant. " + _define(
        asked, meanings[:1]
    )


def _without(word: str, words: list[str]) -> list[str]:
    own = {word, *(wordnet.lemma_of(word, part) or word for part in _PARTS)}
    return [one for one in dict.fromkeys(words) if one.lower() not in own and one.islower()]


def _guessed(word: str) -> str | None:
    """Return the listed word closest to a misspelled one."""
    if len(word) < 5:
        return None
    start = word[: 3 if len(word) < 7 else 4].replace(" ", "_")
    listed = itertools.islice(wordnet.words_like(start), _MOST_GUESSED)
    fitting = {one.replace("_", " ") for one in listed if abs(len(one) - len(word)) < 2}
    return next(iter(difflib.get_close_matches(word, sorted(fitting), n=1, cutoff=_CLOSE)), None)


_READERS: dict[str, Callable[[WordQuestion, list[wordnet.Sense]], str]] = {
    "define": _define,
    "synonyms": _synonyms,
    "antonyms": _antonyms,
    "both": _both,
    "kind": _kind,
    "is_word": _is_word,
    "sentence": _sentence,
}
