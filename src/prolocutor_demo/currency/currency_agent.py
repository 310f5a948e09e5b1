"""The money changer: an agent that converts currencies at the European Central Bank's rates."""

import datetime as dt
import difflib
import re
from functools import cache
from typing import Any, NamedTuple

from currency_converter import CurrencyConverter, RateNotFoundError

from prolocutor_demo.reading.dates import DATE, date_text, read_date
from prolocutor_demo.reading.money import Currency, currencies
from prolocutor_demo.reading.number_words import joined_groups, with_digits
from prolocutor_demo.reading.request import now_of, text_of
from prolocutor_demo.reading.wording import (
    LIKELY,
    LOOSE,
    SURE,
    Reading,
    read_whole_or_parts,
    reply,
)

DECLINING = "I only exchange currencies, and that was no exchange I could read."
MOST_STRAY_WORDS = 2
LONGEST_SPELLING = 3
MOST_TARGETS = 4
LARGEST_AMOUNT = 1e15
DAYS_WITHOUT_RATES = 10

_TOKEN = re.compile(r"\d+(?:\.\d+)?|(?:us|a|au|c|ca|nz|hk|s|r|mex)\$|[^\W\d_]+|[$€£¥₹₩₪₺₽₱฿]")
_FILLER = set(
    "convert change exchange swap turn what is are was were how many much do does did i get for a "
    "an the to in into as of at with from and between against per on than it that would will be "
    "worth come cost costs rate rates price value current today now these days conversion foreign "
    "strong strength doing going compared versus vs need want have know like can you could me give "
    "tell please s my if then so equal equals more less which bigger currently latest buy sell "
    "right or ok there make use makes one only by trade trading traded quote cents".split()
)
_CENTS = [
    (re.compile(r"(?<!\d)(\d++(?:\.\d++)?) euro ?cents?\b"), "eur"),
    (re.compile(r"(?<!\d)(\d++(?:\.\d++)?) (?:us |american |dollar )?cents?\b"), "usd"),
    (re.compile(r"(?<!\d)(\d++(?:\.\d++)?) (?:british |uk )?(?:pence|penny|pennies)\b"), "gbp"),
]
_ABOUT = set("worth rate rates exchange convert change value strong doing price swap".split())
_SUM = re.compile(r"%|\bpercent\b|[*+]|\btimes\b")
_THAT_IN = re.compile(
    r"\b(?:what|how much) (?:is|are|would|was|does|will) (?:that|this|it)\b"
    r"(?: come to| be| make)? (?:in|to|into) (?P<target>.+)"
)
_MONEY = re.compile(
    r"(?:[$€£¥] ?)?\d[\d.,]*(?: ?(?:k|hundred|thousand|million)\b)?(?: [a-z]+){0,2}(?! ?\d)"
)
_STORY = re.compile(r"\b(?:costs?|was|were|is|for|paid|pay)\b.*\b(?:in|to|into)\b")


class Exchange(NamedTuple):
    """The money in an utterance: amounts, currencies without an amount, other words."""

    amounts: list[tuple[float, Currency]]
    bare: list[Currency]
    stray: list[str]
    guessed: bool


def answer(request: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the amount in the other currency and the date of the rates; decline all else."""
    today = now_of(request).date()
    return reply(
        read_whole_or_parts(text_of(request), lambda words: _read(words, today)), DECLINING
    )


def _read(words: str, today: dt.date) -> Reading | None:
    if _SUM.search(words):
        return None
    day, words = _dated(words, today)
    words = _told_before(words)
    words = re.sub(r"(?<![\d.,])(\d+),(\d{1,2})(?![\d,])", r"\1.\2", words)
    words = re.sub(r"\bhalf an? (?!million)", "0.5 ", joined_groups(words))
    exchange = _exchange(_without_cents(with_digits(words)))
    said_words = set(words.split())
    if len(exchange.stray) > MOST_STRAY_WORDS:
        return None
    conversions = _conversions(exchange, words)
    if not conversions:
        return None
    if exchange.stray and not _STORY.search(words):
        return None
    if not exchange.amounts and len(exchange.bare) == 1 and not said_words & _ABOUT:
        return None
    texts = [_converted(*conversion, day) for conversion in conversions]
    known = [text for text in texts if text is not None]
    if len(known) < len(texts):
        return None
    text = " ".join(dict.fromkeys(known))
    return text, LOOSE if exchange.stray else LIKELY if exchange.guessed else SURE


def _told_before(words: str) -> str:
    """Return the exchange alone where a story precedes it: "I earn 3000 CHF, what is that in"."""
    found = _THAT_IN.search(words)
    money = list(_MONEY.finditer(words[: found.start()])) if found else []
    return f"{money[0][0]} in {found[1]}" if found and len(money) == 1 else words


def _dated(words: str, today: dt.date) -> tuple[dt.date | None, str]:
    """Return the date of the rates, if any, and the words without it."""
    found = re.search(rf",? \b(?:on|in|of) ({DATE})$", words)
    day = read_date(found[1], today) if found else None
    if found is None or day is None:
        return None, words
    return day, words[: found.start()]


def _without_cents(words: str) -> str:
    for pattern, code in _CENTS:
        if found := pattern.search(words):
            money = f"{float(found[1]) / 100} {code}"
            words = f"{words[: found.start()]}{money}{words[found.end() :]}"
    return words


def _exchange(words: str) -> Exchange:
    tokens = _TOKEN.findall(words)
    exchange = Exchange([], [], [], guessed=False)
    number: float | None = None
    at = 0
    while at < len(tokens) and len(exchange.stray) <= MOST_STRAY_WORDS:
        token = tokens[at]
        if token[0].isdigit():
            # "CHF 120", "$100": the currency came first.
            leads = bool(exchange.bare) and _ends_at(tokens, at) is exchange.bare[-1]
            number = float(token)
            if leads and (len(tokens[at - 1]) <= 3 or not _spelled(tokens, at + 1)[0]):
                exchange.amounts.append((number, exchange.bare.pop()))
                number = None
            at += 1
            continue
        currency, length = _spelled(tokens, at)
        if currency is None and len(token) >= 4 and token not in _FILLER:
            close = difflib.get_close_matches(token[:20], _long_spellings(), n=1, cutoff=0.84)
            currency = currencies()[close[0]] if close else None
            exchange = exchange._replace(guessed=exchange.guessed or currency is not None)
        if currency is not None:
            if number is not None:
                exchange.amounts.append((number, currency))
            elif at and tokens[at - 1] in ("a", "an", "one", "per"):
                exchange.amounts.append((1.0, currency))
            else:
                exchange.bare.append(currency)
            number = None
        elif token not in _FILLER:
            exchange.stray.append(token)
        at += length
    # A number without a currency: "3 of 50 dollars" is arithmetic, not an exchange.
    return exchange if number is None else Exchange([], [], [], guessed=False)


def _spelled(tokens: list[str], at: int) -> tuple[Currency | None, int]:
    """Return the currency that starts at `at` and its number of tokens; (None, 1) if none."""
    for length in range(min(LONGEST_SPELLING, len(tokens) - at), 0, -1):
        currency = currencies().get(" ".join(tokens[at : at + length]))
        if currency is not None:
            return currency, length
    return None, 1


def _ends_at(tokens: list[str], at: int) -> Currency | None:
    """Return the currency that ends before `at`."""
    spellings = (" ".join(tokens[at - back : at]) for back in range(1, LONGEST_SPELLING + 1))
    return next((currencies()[text] for text in spellings if text in currencies()), None)


def _conversions(exchange: Exchange, words: str) -> list[tuple[float, Currency, Currency]]:
    """Return the conversion, or those of one amount to several currencies; [] if unclear."""
    amounts, bare = exchange.amounts, list(dict.fromkeys(exchange.bare))
    several = len(amounts) == 1 and 1 < len(bare) <= MOST_TARGETS and not exchange.stray
    if several and amounts[0][1] not in bare and re.search(r"\band\b|,|\bor\b", words):
        return [(*amounts[0], target) for target in bare]
    one = _conversion(exchange, words)
    return [one] if one else []


def _conversion(exchange: Exchange, words: str) -> tuple[float, Currency, Currency] | None:
    """Return the amount, its currency and the target currency; None if unclear."""
    amounts, bare = exchange.amounts, exchange.bare
    if len(amounts) == 2 and not bare:
        # "is a pound worth more than a euro", "how much is 1 pound for 1 euro"
        return (*amounts[0], amounts[1][1]) if amounts[0][1] != amounts[1][1] else None
    if len(amounts) == 1 and len(bare) == 1:
        return (*amounts[0], bare[0]) if amounts[0][1] != bare[0] else None
    if not amounts and len(bare) == 2 and bare[0] != bare[1]:
        turned = re.search(r"\bhow many\b|\bper\b", words)
        source, target = reversed(bare) if turned else bare
        return 1.0, source, target
    if len(amounts) + len(bare) == 1:
        # Without a second currency the target is the euro, in which the bank quotes.
        amount, source = amounts[0] if amounts else (1.0, bare[0])
        euro, dollar = currencies()["euro"], currencies()["dollar"]
        asked = re.search(r"\bworth\b|\brate\b|\bexchange\b|\bvalue of\b", words)
        return (amount, source, dollar if source == euro else euro) if asked else None
    return None


def _converted(
    amount: float, source: Currency, target: Currency, day: dt.date | None
) -> str | None:
    if amount > LARGEST_AMOUNT:
        return "That is more money than there is, sorry."
    rates = _rates()
    last = min(rates.bounds[currency.code].last_date for currency in (source, target))
    first = max(rates.bounds[currency.code].first_date for currency in (source, target))
    wanted = min(day or last, last)
    if wanted < first:
        return f"My rates for that begin on {date_text(first, weekday=False)} only."
    for back in range(DAYS_WITHOUT_RATES):
        quoted = wanted - dt.timedelta(days=back)
        try:
            value = rates.convert(amount, source.code, target.code, date=quoted)
        except RateNotFoundError:
            # No rates on weekends and bank holidays: take the day before.
            continue
        given, got = _shown(amount), _shown(value)
        return (
            f"{given} {source.named(given)} = {got} {target.named(got)}, at the European Central "
            f"Bank's reference rates of {date_text(quoted, weekday=False)}."
        )
    return None


def _shown(value: float) -> str:
    """Return an amount with two decimals, more if it is small, none if it is whole."""
    if value == int(value):
        return f"{int(value):,}"
    return f"{value:,.2f}" if abs(value) >= 1 else f"{value:.4g}"


@cache
def _rates() -> CurrencyConverter:
    return CurrencyConverter()


@cache
def _long_spellings() -> list[str]:
    return [spelling for spelling in currencies() if len(spelling) >= 4 and spelling.isalpha()]
