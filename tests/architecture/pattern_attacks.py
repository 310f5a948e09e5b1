"""Texts that let a pattern try again and again: what it repeats, many times, and then a miss."""

import functools
from collections.abc import Iterable, Iterator
from re import _constants as op  # type: ignore[attr-defined]
from re import _parser  # type: ignore[attr-defined]
from typing import Any

REPEATS = (op.MAX_REPEAT, op.MIN_REPEAT, op.POSSESSIVE_REPEAT)
MISS = "\x01"
COMMON = (" ", "a", "1", "a ", "1 ", "1,", ". ")
ANY = " a1,.-A\t'\":/;()[]{}_#<=+&$!?é\u00a0"


class Attack:
    """The pieces that texts against one pattern are made of."""

    def __init__(self, pattern: str, flags: int) -> None:
        self._tree = list(_parser.parse(pattern, flags))
        self._repeats = list(dict.fromkeys(_repeats(self._tree, "")))[:40]
        self._pieces = list(dict.fromkeys(self._made_pieces()))

    def texts(self, length: int) -> Iterator[str]:
        """Yield texts of about so many characters, the same kinds in the same order each time."""
        for piece in self._pieces:
            yield _long(piece, length) + MISS
        bodies = list(dict.fromkeys(body for _, body in self._repeats))[:6]
        for before, body in self._repeats:
            yield before + _long(body, length) + MISS
        for one in bodies:
            for other in bodies:
                if one != other:
                    yield _long(one, length // 2) + _long(other, length // 2) + MISS
        yield _shortest(self._tree, length // (len(self._repeats) or 1))[: 2 * length] + MISS

    def _made_pieces(self) -> Iterator[str]:
        yield from COMMON
        whole = _shortest(self._tree)
        yield from (one for one in (whole, whole[:-1], whole[:-1] + " ") if one)
        for before, body in self._repeats:
            yield body
            yield before + body
        yield from _signs(self._tree)


def _long(piece: str, length: int) -> str:
    return (piece * (length // len(piece) + 1))[:length]


def _shortest(tree: Iterable[Any], times: int = 0, choice: int = 0) -> str:
    """Return a text that is nearly one that matches, each repeat at least so often."""
    return "".join(_of(kind, of, times, choice) for kind, of in tree)


def _of(kind: Any, of: Any, times: int, choice: int) -> str:
    if kind is op.LITERAL:
        return chr(of)
    if kind in (op.ANY, op.NOT_LITERAL):
        return "a" if of != ord("a") else "b"
    if kind is op.IN:
        members = _members(tuple(of))
        return members[choice % len(members)] if members else ""
    if kind is op.BRANCH:
        return _shortest(of[1][choice % len(of[1])], times, choice)
    if kind in REPEATS:
        least, most, body = of
        return _shortest(body, 0, choice) * max(least, min(times, int(most)))
    inner = _inner(kind, of)
    return _shortest(inner, times, choice) if inner and kind is not op.ASSERT else ""


def _inner(kind: Any, of: Any) -> Any:
    if kind is op.SUBPATTERN:
        return of[3]
    if kind is op.ATOMIC_GROUP:
        return of
    return of[1] if kind in (op.ASSERT, op.ASSERT_NOT) else None


@functools.cache
def _members(of: tuple[Any, ...]) -> list[str]:
    given = [
        chr(one if kind is op.LITERAL else one[0])
        for kind, one in of
        if kind in (op.LITERAL, op.RANGE)
    ]
    wanted = not (of and of[0][0] is op.NEGATE)
    return [
        char
        for char in dict.fromkeys((*ANY, *(given if wanted else ())))
        if _is_in(char, of) == wanted
    ]


def _is_in(sign: str, of: tuple[Any, ...]) -> bool:
    return any(
        one == ord(sign)
        if kind is op.LITERAL
        else (kind is op.RANGE and one[0] <= ord(sign) <= one[1])
        or (kind is op.CATEGORY and _is_of(sign, str(one)))
        for kind, one in of
    )


def _is_of(sign: str, category: str) -> bool:
    known = {
        "DIGIT": sign.isdigit(),
        "SPACE": sign.isspace(),
        "WORD": sign.isalnum() or sign == "_",
    }
    return known[category.rpartition("_")[2]] != ("_NOT_" in category)


def _repeats(tree: Iterable[Any], before: str) -> Iterator[tuple[str, str]]:
    """Yield what may be repeated often, each with a text that leads to it."""
    for kind, of in tree:
        if kind in REPEATS:
            _, most, body = of
            if int(most) > 8:
                bodies = (_shortest(body, times, n) for times in (0, 1) for n in range(2))
                yield from ((before, body) for body in dict.fromkeys(bodies) if body)
            yield from _repeats(body, before)
        elif kind is op.BRANCH:
            for one in of[1]:
                yield from _repeats(one, before)
        elif inner := _inner(kind, of):
            yield from _repeats(inner, before)
        before += _of(kind, of, 0, 0)


def _signs(tree: Iterable[Any]) -> Iterator[str]:
    """Yield the signs that a pattern names, alone and with a space; letters are much alike."""
    for kind, of in tree:
        if kind is op.LITERAL and not chr(of).isalnum():
            yield from (chr(of), chr(of) + " ")
        elif kind is op.IN:
            yield from _members(tuple(of))[:3]
        elif kind is op.BRANCH:
            for one in of[1]:
                yield from _signs(one)
        elif kind in REPEATS:
            yield from _signs(of[2])
        elif inner := _inner(kind, of):
            yield from _signs(inner)
