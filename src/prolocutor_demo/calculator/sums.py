"""Arithmetic in words: percentages, tips, shares, averages, primes; and how results are written."""

import math
import re
from collections.abc import Callable
from fractions import Fraction

from prolocutor_demo.calculator.arithmetic import Undefined, Value, evaluate
from prolocutor_demo.reading.wording import SURE, Reading, question

LARGEST_PRIME_TESTED = 10**12
MOST_DIGITS = 80

_N = r"(-?\d++(?:\.\d++)?)"
_PERCENT = r" ?(?:%|percent)"
_RATE = r"(?:percent(?:age)?|%)"
_LESSEN = r"(?:reduce|decrease|lower|cut)"
_SHARE = (
    rf"(?:if (?:i|we|you) )?(?:split|divide|share)(?: up)? (?:a |the |our )?(?:bill )?(?:of )?{_N}"
)
_AMONG = r"(?:between|among|amongst|by|across|with|into)"
_PEOPLE = r"(?: (?:people|persons|friends|of us|ways|parts))?"
_EACH = r"(?:,? (?:how much|what).*)?"
_SIGNS = {"sqrt ": "√", "cbrt ": "∛", "(1 ÷ 2) of": "½ of", "(1 ÷ 3) of": "⅓ of"}
_SIGNS |= {"(2 ÷ 3) of": "⅔ of", "(1 ÷ 4) of": "¼ of", "(3 ÷ 4) of": "¾ of"}
_LIST = re.compile(
    r"(?:the )?(?P<name>add(?: up| together)?(?=[^,]*,)|sum|total|product|average|mean|median|"
    r"maximum|max|minimum|min|"
    r"greatest common (?:divisor|factor)|gcd|gcf|hcf|(?:least|lowest) common multiple|lcm)"
    r" ?(?:of|between|for)? ?\(?(?P<list>[-\d., and]+)\)?"
)


def read_phrase(words: str) -> Reading | None:
    """Return the answer to arithmetic in words, such as "25% off 80"; None for other words."""
    for pattern, compute in _PHRASES:
        if found := pattern.fullmatch(words):
            numbers = [Fraction(group) for group in found.groups() if group is not None]
            return str(compute(*numbers)), SURE
    return _read_tip(words) or _read_list(words) or _equation(words)


def equation(expression: str, value: Value) -> str:
    """Return the expression and its value in common notation: "12 × 12 = 144"."""
    shown = expression.replace("**", "^").replace("*", "×").replace("/", "÷")
    shown = re.sub(r"\s*([×÷+])\s*", r" \1 ", shown)
    shown = re.sub(r"\s+(?=[!^°)])|(?<=[(^]) |(?<=^-) |(?<=[×÷+] -) ", "", shown)
    shown = re.sub(r"(?<![\d.])\d{5,}", lambda found: f"{int(found[0]):,}", shown)
    for word, sign in _SIGNS.items():
        shown = shown.replace(word, sign)
    shown = re.sub(r"(\d+) root ", r"\1th root of ", shown)
    result = f"{_shown(value.number * 100)}%" if value.percent else _shown(value.number)
    sign = "=" if _is_exact(value.number) else "≈"
    return f"{' '.join(shown.split())} {sign} {result}"


def _is_exact(number: Fraction | float) -> bool:
    return isinstance(number, Fraction) and (number * 10**10).denominator == 1


def _shown(number: Fraction | float) -> str:
    """Return the number as text: up to 80 digits if whole, else ten significant digits."""
    if number == int(number):
        return _whole(int(number))
    if isinstance(number, Fraction) and abs(number) > 1 and _is_exact(number):
        whole, rest = divmod(abs(number), 1)
        decimals = f"{int(rest * 10**10):010d}".rstrip("0")
        return f"{'-' if number < 0 else ''}{int(whole):,}.{decimals}"
    value = float(number)
    return f"{value:,.10g}" if 1e-4 < abs(value) < 1e15 else f"{value:.6g}"


def _whole(number: int) -> str:
    digits = str(abs(number))
    if len(digits) <= MOST_DIGITS:
        return f"{number:,}"
    start = f"{'-' if number < 0 else ''}{digits[0]}.{digits[1:7]}"
    return f"{start}… × 10^{len(digits) - 1}, a number of {len(digits):,} digits"


def _expression(template: str) -> Callable[..., str]:
    def compute(*numbers: Fraction) -> str:
        texts = (str(n) if n.denominator == 1 else f"{float(n):.12g}" for n in numbers)
        written = template.format(*texts)
        return equation(written, evaluate(written))

    return compute


def _part_of(whole: Fraction, part: Fraction) -> str:
    if whole == 0:
        raise Undefined("Nothing is a percentage of zero, sorry: that would divide by zero.")
    return f"{_shown(part)} is {_shown(part / whole * 100)}% of {_shown(whole)}."


def _of_whole(part: Fraction, whole: Fraction) -> str:
    return _part_of(whole, part)


def _raised(amount: Fraction, percent: Fraction) -> str:
    return f"{_shown(amount)} plus {_shown(percent)}% is {_shown(amount * (1 + percent / 100))}."


def _raising(percent: Fraction, amount: Fraction) -> str:
    return _raised(amount, percent)


def _lowered(amount: Fraction, percent: Fraction) -> str:
    return f"{_shown(amount)} minus {_shown(percent)}% is {_shown(amount * (1 - percent / 100))}."


def _lowering(percent: Fraction, amount: Fraction) -> str:
    return _lowered(amount, percent)


def _shared(amount: Fraction, people: Fraction) -> str:
    if people == 0:
        raise Undefined("Nothing can be split between nobody: that would divide by zero.")
    share = _shown(round(amount / people, 2))
    return f"{_shown(amount)} split {_shown(people)} ways is {share} each."


def _remainder(number: Fraction, divisor: Fraction) -> str:
    if divisor == 0:
        raise Undefined("Nothing can be divided by zero, sorry: there is no remainder.")
    return f"The remainder of {_shown(number)} ÷ {_shown(divisor)} is {_shown(number % divisor)}."


def _logarithm(base: Fraction, number: Fraction) -> str:
    if base <= 0 or base == 1 or number <= 0:
        raise Undefined("That logarithm has no value among the real numbers.")
    value = round(math.log(number) / math.log(base), 12)
    return f"The logarithm of {_shown(number)} to base {_shown(base)} is {_shown(value)}."


def _logarithm_to(number: Fraction, base: Fraction) -> str:
    return _logarithm(base, number)


def _rounded(number: Fraction, places: Fraction = Fraction(0)) -> str:
    """Return the number rounded half up."""
    scale = 10 ** max(0, min(int(places), 12))
    rounded = Fraction(math.floor(number * scale + Fraction(1, 2)), scale)
    return f"{_shown(number)} rounded is {_shown(rounded)}."


def _difference(one: Fraction, other: Fraction) -> str:
    between = f"{_shown(one)} and {_shown(other)}"
    return f"The difference between {between} is {_shown(abs(one - other))}."


def _distance(number: Fraction) -> str:
    return f"The absolute value of {_shown(number)} is {_shown(abs(number))}."


def _prime(number: Fraction) -> str:
    whole = int(number)
    if number != whole or whole < 2:
        return f"No, {_shown(number)} is not a prime number: primes start at 2."
    if whole > LARGEST_PRIME_TESTED:
        raise Undefined("I test numbers up to a million millions only, sorry.")
    for divisor in (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37):
        if whole % divisor == 0 and whole != divisor:
            return f"No, {whole:,} is not a prime number: it is {divisor} × {whole // divisor:,}."
    if whole > 37 and not _passes_miller_rabin(whole):
        return f"No, {whole:,} is not a prime number."
    return f"Yes, {whole:,} is a prime number."


def _passes_miller_rabin(number: int) -> bool:
    """Return whether a number passes Miller-Rabin; these witnesses are exact below 3.4e12."""
    twos, odd = 0, number - 1
    while odd % 2 == 0:
        twos, odd = twos + 1, odd // 2
    for witness in (2, 3, 5, 7, 11, 13):
        power = pow(witness, odd, number)
        if power in (1, number - 1):
            continue
        if all((power := power * power % number) != number - 1 for _ in range(twos - 1)):
            return False
    return True


def _read_tip(words: str) -> Reading | None:
    """Return a tip or a discount, in any word order: "how much tip on 64 at 18 percent"."""
    percents = re.findall(rf"(?<!\d){_N}{_PERCENT}", words)
    amounts = re.findall(rf"(?<!\d){_N}(?!{_PERCENT}|\.\d)", words)
    if not percents and len(amounts) == 1 and _TIP_FOR.search(words):
        return _usual_tips(Fraction(amounts[0])), SURE
    if len(percents) != 1 or len(amounts) != 1:
        return None
    percent, amount = Fraction(percents[0]), Fraction(amounts[0])
    if re.search(r"\btips?\b|\bgratuity\b", words):
        tip = round(amount * percent / 100, 2)
        total = _shown(amount + tip)
        said = f"A tip of {_shown(percent)}% on {_shown(amount)} is {_shown(tip)}: {total} in all."
        return said, SURE
    if re.search(r"\boff\b|\bdiscount\b|\brebate\b", words):
        return _lowered(amount, percent), SURE
    return None


def _usual_tips(amount: Fraction) -> str:
    tips = (f"{rate}%: {_shown(round(amount * rate / 100, 2))}" for rate in (10, 15, 20))
    return f"A tip on {_shown(amount)} at {', at '.join(tips)}."


def _read_list(words: str) -> Reading | None:
    found = _LIST.fullmatch(words)
    if not found:
        return None
    name = "sum" if found["name"].startswith("add") else found["name"]
    numbers = [Fraction(text) for text in re.findall(r"-?\d+(?:\.\d+)?", found["list"])]
    if len(numbers) < 2:
        return None
    listed = ", ".join(map(_shown, numbers[:-1])) + f" and {_shown(numbers[-1])}"
    return f"The {name} of {listed} is {_shown(_of_list(name, numbers))}.", SURE


def _of_list(name: str, numbers: list[Fraction]) -> Fraction:
    if name in ("sum", "total"):
        return sum(numbers, Fraction(0))
    if name == "product":
        return Fraction(math.prod(numbers))
    if name in ("average", "mean"):
        return sum(numbers, Fraction(0)) / len(numbers)
    if name == "median":
        ranked, half = sorted(numbers), len(numbers) // 2
        return ranked[half] if len(numbers) % 2 else (ranked[half - 1] + ranked[half]) / 2
    if name.startswith("max"):
        return max(numbers)
    if name.startswith("min"):
        return min(numbers)
    if any(number.denominator != 1 for number in numbers):
        raise Undefined("That is for whole numbers only.")
    whole = [int(number) for number in numbers]
    return Fraction(math.lcm(*whole) if "multiple" in name or name == "lcm" else math.gcd(*whole))


def _circle(radius: Fraction) -> str:
    area, around = math.pi * float(radius) ** 2, 2 * math.pi * float(radius)
    return (
        f"A circle of radius {_shown(radius)} has an area of {_shown(round(area, 4))} and a"
        f" circumference of {_shown(round(around, 4))}."
    )


def _circle_across(diameter: Fraction) -> str:
    return _circle(diameter / 2)


def _rectangle(one: Fraction, other: Fraction) -> str:
    around = _shown(2 * (one + other))
    return f"The area is {_shown(one * other)}, the perimeter {around}."


def _square(side: Fraction) -> str:
    return _rectangle(side, side)


def _zeros(number: Fraction) -> str:
    written = str(int(number))
    count = len(written) - len(written.rstrip("0"))
    return f"{int(number):,} ends in {count} zeros."


def _solved(factor: Fraction, added: Fraction, total: Fraction) -> str:
    if factor == 0:
        raise Undefined("There is no x in that equation.")
    return f"x = {_shown((total - added) / factor)}"


_OF_CIRCLE = (
    r"(?:the )?(?:area|circumference|perimeter|size) of (?:a |the )?circle (?:with|of) (?:a |the )?"
)
_OF_SIDES = r"(?:the )?(?:area|perimeter|size) of (?:a |the )?"
_TIP_FOR = re.compile(r"\b(?:tips?|gratuity)\b.*\b(?:for|on|bill|of)\b")


def _equation(found: str) -> Reading | None:
    """Return the solution of a linear equation such as "3x - 4 = 11"."""
    said = _LINEAR.fullmatch(found)
    if not said:
        return None
    factor = Fraction(said["factor"] or 1)
    added = Fraction((said["added"] or "0").replace(" ", ""))
    return _solved(factor, added, Fraction(said["total"])), SURE


_LINEAR = re.compile(
    r"(?:for x[:,]? )?(?P<factor>-?\d+(?:\.\d+)?)? ?\*? ?x ?(?P<added>[-+] ?\d+(?:\.\d+)?)?"
    r" ?(?:=|equals) ?(?P<total>-?\d+(?:\.\d+)?)(?:,? (?:for|what is) x)?"
)
_PHRASES = [
    question(_zeros, rf"how many zero(?:e)?s (?:are )?(?:there )?(?:in|does|has) {_N}(?: have)?"),
    question(_circle, rf"{_OF_CIRCLE}radius (?:of )?{_N}(?: [a-z]+)?"),
    question(_circle_across, rf"{_OF_CIRCLE}diameter (?:of )?{_N}(?: [a-z]+)?"),
    question(
        _rectangle,
        rf"{_OF_SIDES}rectangle (?:with |of )?(?:the )?(?:sides? )?{_N} ?(?:by|x|and|times) ?{_N}",
    ),
    question(_square, rf"{_OF_SIDES}square (?:with |of )?(?:a |the )?(?:side )?(?:of )?{_N}"),
    question(_expression("{0} / {1}"), rf"divide {_N} (?:by|through) {_N}"),
    question(_part_of, rf"{_RATE} of {_N} is {_N}"),
    question(_of_whole, rf"{_RATE} is {_N} (?:out )?of {_N}"),
    question(_of_whole, rf"{_N} (?:is|makes) (?:what|how many|which) {_RATE} of {_N}"),
    question(_of_whole, rf"{_N} as a {_RATE} of {_N}"),
    question(_raised, rf"(?:increase|raise) {_N} by {_N}{_PERCENT}"),
    question(_raised, rf"{_N} (?:increased|raised) by {_N}{_PERCENT}"),
    question(_raising, rf"(?:add )?{_N}{_PERCENT} (?:on top of|more than|to) {_N}"),
    question(_lowered, rf"{_LESSEN} {_N} by {_N}{_PERCENT}"),
    question(_lowered, rf"{_N} (?:reduced|decreased|lowered|cut) by {_N}{_PERCENT}"),
    question(_lowering, rf"{_N}{_PERCENT} (?:off|less than)(?: of)? {_N}"),
    question(_expression("{0} - 25%"), rf"{_LESSEN} {_N} by (?:a |one )?quarter"),
    question(_expression("{0} / 2"), rf"{_LESSEN} {_N} by (?:a )?half|halve {_N}"),
    question(_shared, rf"{_SHARE} {_AMONG} {_N}{_PEOPLE}{_EACH}"),
    question(_shared, rf"{_SHARE} {_N} ways{_EACH}"),
    question(_expression("{0} + {1}"), rf"add {_N} (?:and|to|plus|with) {_N}"),
    question(_expression("{1} - {0}"), rf"subtract {_N} from {_N}"),
    question(_expression("{0} * {1}"), rf"multiply {_N} (?:by|with|and|times) {_N}"),
    question(_difference, rf"(?:the )?difference (?:between|of) {_N} and {_N}"),
    question(_expression("{0} / {1}"), rf"(?:the )?(?:quotient|ratio) of {_N} and {_N}"),
    question(_expression("{1} / {0}"), rf"{_N} (?:goes )?into {_N}"),
    question(
        _expression("{0} * {1}"),
        rf"{_N} [a-z]+(?: [a-z]+)? (?:at|for) {_N} (?:each|apiece|a piece|a pop)",
    ),
    question(
        _expression("{1} / {0}"),
        rf"how (?:many times|often) (?:does|do|will) {_N} (?:go|fit) in(?:to)? {_N}",
    ),
    question(_expression("{1} + {0}"), rf"{_N} more than {_N}"),
    question(_expression("{1} - {0}"), rf"{_N} less than {_N}"),
    question(
        _remainder, rf"(?:the )?(?:remainder|rest) (?:when|if|of) {_N} (?:is )?(?:divided )?by {_N}"
    ),
    question(_logarithm, rf"(?:the )?log(?:arithm)? (?:to )?(?:the )?base {_N} of {_N}"),
    question(_logarithm_to, rf"(?:the )?log(?:arithm)? of {_N} (?:to|in) (?:the )?base {_N}"),
    question(_rounded, rf"round {_N} to {_N} (?:decimals?|decimal places?|places|digits)"),
    question(_rounded, rf"round {_N}(?: to the nearest (?:whole number|integer|one))?"),
    question(_distance, rf"(?:the )?absolute value of {_N}"),
    question(_prime, rf"(?:is )?{_N} (?:is )?(?:a )?prime(?: number)?"),
]
