"""Functions that tests name as metrics of a user."""

from math import nan


def length(guess: str, labels: list[str]) -> int:
    return len(guess)


def same_length(guess: str, labels: list[str]) -> bool | None:
    return len(guess) == len(labels[0]) if labels else None


def f1(guess: str, labels: list[str]) -> float:
    return 0.5


def failing(guess: str, labels: list[str]) -> float:
    if guess == "boom":
        raise LookupError("no such guess")
    return {"nan": nan}.get(guess, 1.0)


def words(guess: str, labels: list[str]) -> list[str]:
    return guess.split()
