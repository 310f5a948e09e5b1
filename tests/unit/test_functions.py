"""What is said of errors of others: whatever they hold, it is short and can be shown."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import msgspec
import pytest

from prolocutor.errors import MAX_SAID, BadReply, ServiceError
from prolocutor.functions import MAX_FRAMES, MAX_TEXT, error_text, text_and_place

DOUBLED = 22
"""Often enough to be seen in a text that is written out, and not for ever."""


class Node(msgspec.Struct):
    left: Any
    right: Any


@dataclass
class Pair:
    left: Any
    right: Any


class Odd(Exception):
    """An exception whose text is made by code of its own."""

    def __init__(self, text: Callable[[], Any]) -> None:
        super().__init__()
        self.text = text

    def __str__(self) -> str:
        return self.text()  # type: ignore[no-any-return]


class Told(Exception):
    """An exception that tells what it holds."""

    def __init__(self, what: Any) -> None:
        super().__init__("told")
        self.what = what

    def __str__(self) -> str:
        return f"holds {self.what}"


def raises(error: BaseException) -> Any:
    raise error


def doubled(together: Callable[[Any, Any], Any]) -> Any:
    part: Any = "part"
    for _ in range(DOUBLED):
        part = together(part, part)
    return part


@pytest.mark.parametrize(
    "together",
    [lambda a, b: [a, b], lambda a, b: (a, b), lambda a, b: {"a": a, "b": b}, Node, Pair],
)
@pytest.mark.parametrize(
    "error",
    [
        lambda parts: ValueError("why", parts),
        lambda parts: KeyError("why", parts),
        lambda parts: ValueError("why", ValueError(parts)),
        lambda parts: SystemExit("why", parts),
        lambda parts: OSError(2, "why", parts),
        Told,
    ],
)
def test_of_an_exception_that_holds_what_doubles_only_the_plain_words_are_said(
    error: Callable[[Any], BaseException], together: Callable[[Any, Any], Any]
) -> None:
    text = error_text(error(doubled(together)))

    assert text.endswith(("why", "told"))
    assert "part" not in text


@pytest.mark.parametrize(
    "text",
    [
        lambda: 5,
        lambda: raises(RuntimeError("no text")),
        lambda: raises(SystemExit(3)),
        lambda: raises(KeyboardInterrupt()),
    ],
)
def test_an_exception_whose_text_cannot_be_read_is_named(text: Callable[[], Any]) -> None:
    assert error_text(Odd(text)) == "Odd: (its text cannot be read)"


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (ValueError("why"), "ValueError: why"),
        (ValueError(["why", 5]), "ValueError: ['why', 5]"),
        (KeyError("why"), "KeyError: 'why'"),
        (FileNotFoundError(2, "why", "f"), "FileNotFoundError: [Errno 2] why: 'f'"),
        (ValueError(), "ValueError"),
        (ValueError("\ud800"), "ValueError: ?"),
        (ValueError("x" * 9 * MAX_TEXT), f"ValueError: {'x' * MAX_TEXT}"),
    ],
)
def test_any_other_exception_says_what_it_says(error: BaseException, text: str) -> None:
    assert error_text(error) == text


def test_what_a_service_error_says_is_short_and_in_unicode() -> None:
    assert str(ServiceError("\ud800")) == "?"
    assert str(ServiceError(["no text"])) == "(list)"
    assert len(str(BadReply("x" * 1_000_000))) == MAX_SAID + 1


def raised_by(function: Callable[[], Any]) -> BaseException:
    """The exception that the function raises."""
    with pytest.raises(BaseException) as caught:  # noqa: PT011 - of any kind
        function()
    return caught.value


def price() -> Any:
    return msgspec.json.decode(b"{")


def test_an_error_names_the_lines_of_the_services_own_code_innermost_first() -> None:
    said = text_and_place(raised_by(lambda: price()))

    assert "(at tests/unit/test_functions.py:" in said
    assert said.index("in price, called at") < said.index("in <lambda>")


def test_an_error_deep_in_a_recursion_names_a_few_lines_only() -> None:
    def fall() -> Any:
        return fall()

    assert text_and_place(raised_by(fall)).count(" in fall") == MAX_FRAMES


def test_an_error_outside_of_all_code_of_services_has_no_place() -> None:
    assert text_and_place(OSError("down")) == "OSError: down"
