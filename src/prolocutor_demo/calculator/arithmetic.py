"""Arithmetic of bounded size: an expression in digits and signs to an exact or rounded value."""

import math
import re
from collections.abc import Callable
from fractions import Fraction
from typing import NamedTuple

MOST_BITS = 12_000
DEEPEST = 40
LARGEST_FACTORIAL = 1_000
LARGEST_DEGREE = 100
TOO_BIG = "That number is too big for me to write down."

_TOKEN = re.compile(r"\s*(?:(\d+\.?\d*(?:e[+-]?\d{1,3})?|\.\d+)|(\*\*|[-+*/^%!()°])|([a-z]+|π))")
_ALIASES = {"**": "^", "π": "pi", "arcsin": "asin", "arccos": "acos", "arctan": "atan"}
_CONSTANTS = {"pi": math.pi, "e": math.e}


class NotArithmetic(ValueError):
    """The text is no arithmetic expression."""


class Undefined(ValueError):
    """The expression has no value, or one too big; the message is shown to the user."""


class Value(NamedTuple):
    """A number, and whether it was written as a percentage."""

    number: Fraction | float
    percent: bool = False


def evaluate(text: str) -> Value:
    """Return the value of an expression such as "2*(3+4)^2", "15% of 80", "4 root 81", "5 mod 3".

    Raises NotArithmetic if the text is none (a lone number is none), Undefined if it has no value.
    """
    tokens = _tokens(text)
    if len(tokens) < 2:
        raise NotArithmetic(text)
    expression = _Expression(tokens)
    try:
        value = expression.sum()
    except OverflowError as fault:
        raise Undefined(TOO_BIG) from fault
    if expression.peek():
        raise NotArithmetic(text)
    if expression.operations == 0:
        raise NotArithmetic(text)
    return value


def _tokens(text: str) -> list[str]:
    tokens: list[str] = []
    position = 0
    text = text.strip()
    while position < len(text):
        found = _TOKEN.match(text, position)
        if not found:
            raise NotArithmetic(text)
        token = found[0].strip()
        tokens.append(_ALIASES.get(token, token))
        position = found.end()
    return tokens


class _Expression:
    """A recursive descent over tokens that computes as it reads."""

    def __init__(self, tokens: list[str]) -> None:
        self.tokens = [*tokens, ""]
        self.at = 0
        self.depth = 0
        self.operations = 0

    def peek(self) -> str:
        return self.tokens[self.at]

    def take(self, *wanted: str) -> str:
        token = self.peek()
        if token not in wanted:
            return ""
        self.at += 1
        return token

    def sum(self) -> Value:
        self.depth += 1
        if self.depth > DEEPEST:
            raise Undefined("That is nested too deeply for me.")
        value = self.product()
        while sign := self.take("+", "-"):
            self.operations += 1
            right = self.product()
            step = right.number if sign == "+" else -right.number
            if right.percent and not value.percent:
                value = Value(_bounded(value.number * (1 + step)))
            else:
                value = Value(_bounded(value.number + step), value.percent and right.percent)
        self.depth -= 1
        return value

    def product(self) -> Value:
        value = self.signed()
        while sign := self.take("*", "/", "of", "mod"):
            self.operations += 1
            value = Value(_multiplied(value, sign, self.signed()))
        return value

    def signed(self) -> Value:
        negative = False
        while sign := self.take("-", "+"):
            negative ^= sign == "-"
        value = self.power()
        return Value(-value.number, value.percent) if negative else value

    def power(self) -> Value:
        value = self.postfix()
        while self.take("^"):
            self.operations += 1
            negative = bool(self.take("-"))
            exponent = self.postfix()
            # Towers are read from the right: 2^3^2 is 2^9.
            while self.take("^"):
                exponent = Value(_power(exponent.number, self.postfix().number))
            number = -exponent.number if negative else exponent.number
            value = Value(_power(value.number, number))
        return value

    def postfix(self) -> Value:
        value = self.atom()
        while sign := self.take("!", "%", "°"):
            self.operations += sign != "%"
            if sign == "!":
                value = Value(_factorial(value.number))
            elif sign == "%":
                value = Value(value.number / 100, percent=True)
            else:
                value = Value(math.radians(float(value.number)))
        if self.take("root"):
            return Value(self.root(value.number))
        if self.peek() in _CONSTANTS and self.tokens[self.at - 1][0].isdigit():
            self.operations += 1
            return Value(_bounded(value.number * self.atom().number))
        return value

    def atom(self) -> Value:
        token = self.peek()
        self.at += 1
        if token[:1].isdigit() or token.startswith("."):
            return Value(_bounded(Fraction(token)))
        if token in _CONSTANTS:
            return Value(_CONSTANTS[token])
        if token == "(":
            value = self.sum()
            if not self.take(")"):
                raise NotArithmetic("a bracket is open")
            return value
        if token in _FUNCTIONS:
            return self.applied(token)
        raise NotArithmetic(token)

    def root(self, degree: Fraction | float) -> Fraction | float:
        self.operations += 1
        if degree != int(degree) or not 1 <= degree <= LARGEST_DEGREE:
            raise Undefined(f"I take roots of a whole degree up to {LARGEST_DEGREE} only.")
        self.take("of")
        return _bounded(_root(self.atom().number, int(degree)))

    def applied(self, name: str) -> Value:
        self.operations += 1
        self.depth += 1
        if self.depth > DEEPEST:
            raise Undefined("That is nested too deeply for me.")
        self.take("of")
        negative = bool(self.take("-"))
        number = self.power().number
        self.depth -= 1
        try:
            return Value(_bounded(_FUNCTIONS[name](-number if negative else number)))
        except (ValueError, OverflowError) as fault:
            raise Undefined("That has no value among the real numbers.") from fault


def _multiplied(left: Value, sign: str, right: Value) -> Fraction | float:
    if sign in ("*", "of"):
        return _bounded(left.number * right.number)
    if right.number == 0:
        raise Undefined("Nothing can be divided by zero, sorry: there is no such number.")
    return _bounded(left.number % right.number if sign == "mod" else left.number / right.number)


def _power(base: Fraction | float, exponent: Fraction | float) -> Fraction | float:
    if base == 0 and exponent < 0:
        raise Undefined("Nothing can be divided by zero, sorry: there is no such number.")
    if isinstance(base, Fraction) and isinstance(exponent, Fraction) and exponent.denominator == 1:
        size = max(base.numerator.bit_length(), base.denominator.bit_length())
        if abs(base) not in (0, 1) and (size - 1) * abs(exponent) > MOST_BITS:
            raise Undefined(TOO_BIG)
        return Fraction(base ** (exponent.numerator % 2 if abs(base) == 1 else exponent.numerator))
    try:
        value = float(base) ** float(exponent)
    except OverflowError as fault:
        raise Undefined(TOO_BIG) from fault
    if isinstance(value, complex):
        raise Undefined("That has no value among the real numbers.")
    return _bounded(value)


def _factorial(number: Fraction | float) -> Fraction:
    if number < 0 or number != int(number):
        raise Undefined("Only whole numbers from 0 on have a factorial.")
    if number > LARGEST_FACTORIAL:
        raise Undefined(f"I calculate factorials up to {LARGEST_FACTORIAL:,}! only.")
    return Fraction(math.factorial(int(number)))


def _bounded(number: Fraction | float) -> Fraction | float:
    if isinstance(number, Fraction):
        size = max(number.numerator.bit_length(), number.denominator.bit_length())
        if size <= MOST_BITS:
            return number
    elif math.isfinite(number):
        return number
    raise Undefined(TOO_BIG)


def _root(number: Fraction | float, degree: int) -> Fraction | float:
    """Return the real root; exact where the number is a perfect power."""
    if number < 0:
        if degree % 2 == 0:
            raise Undefined("A negative number has no real root of that degree.")
        return -_root(-number, degree)
    if isinstance(number, Fraction):
        top, bottom = _whole_root(number.numerator, degree), _whole_root(number.denominator, degree)
        if top**degree == number.numerator and bottom**degree == number.denominator:
            return Fraction(top, bottom)
    return math.pow(number, 1 / degree)


def _whole_root(number: int, degree: int) -> int:
    if degree == 2:
        return math.isqrt(number)
    low, high = 0, 1 << (number.bit_length() // degree + 1)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if middle**degree <= number else (low, middle - 1)
    return low


def _absolute(number: Fraction | float) -> Fraction | float:
    return -number if number < 0 else number


def _rounded(
    function: Callable[[float], float],
) -> Callable[[Fraction | float], Fraction | float]:
    """Return the function in floating point with exact round values: sin 180° is 0, not 1e-16."""

    def rounded(number: Fraction | float) -> Fraction | float:
        value = round(function(float(number)), 14)
        if abs(value) > 1e15:
            raise ValueError("the tangent of 90 degrees, but for rounding")
        return Fraction(str(value)) if value == round(value, 4) else value

    return rounded


_FUNCTIONS: dict[str, Callable[[Fraction | float], Fraction | float]] = {
    "sqrt": lambda number: _root(number, 2),
    "cbrt": lambda number: _root(number, 3),
    "abs": _absolute,
    "log": _rounded(math.log10),
    "ln": _rounded(math.log),
    "sin": _rounded(math.sin),
    "cos": _rounded(math.cos),
    "tan": _rounded(math.tan),
    "asin": _rounded(math.asin),
    "acos": _rounded(math.acos),
    "atan": _rounded(math.atan),
}
