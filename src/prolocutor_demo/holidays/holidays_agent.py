"""Answers questions about public holidays: whether a day is one, when one is, which are next."""

import datetime as dt
import re
from typing import Any

import msgspec

from prolocutor_demo.holidays.holiday_functions import FUNCTIONS
from prolocutor_demo.holidays.holiday_questions import day_of, place_of, span_of, year_of
from prolocutor_demo.holidays.public_days import (
    FIRST_YEAR,
    LAST_YEAR,
    Holiday,
    HolidayRegion,
    by_name,
    coming,
    is_substitute,
    on_day,
    parts_on,
    plain_name,
    public_holidays,
)
from prolocutor_demo.reading.country_facts import countries
from prolocutor_demo.reading.country_names import mentions, words_of
from prolocutor_demo.reading.function_calls import call
from prolocutor_demo.reading.request import attributes_of, now_of, text_of

_DECLINED = "I know public holidays, but this is no question about them."
_MOST_CLAUSES = 4
_LONGEST = 140
_LONGEST_NAME = 6
_HOLIDAY = re.compile(
    r"\b(?:holidays?|hol[ia]{1,2}days?|hoildays?|holliday?s?|days? off|long weekend|off work"
    r"|(?:shops|stores|banks|schools|offices) (?:be )?(?:closed|open|shut)"
    r"|(?:free|(?:have|get) .+ off)$)\b"
)
_FOREIGN = re.compile(
    r"\b(?:remind|reminder|todo|timer|alarm|list it|define|definition|meaning|mean|means|synonym"
    r"|how long|how old|how many (?:days|weeks|months|hours|sleeps|working|business)"
    r"|until|till|untill|countdown|days? (?:after|before|from|between|since|left)|ago|born"
    r"|(?:go|going|went|am) (?:on |for )?(?:a )?(?:holidays?|vacation)|my holidays?"
    r"|happy|merry|joke|weather|week number|convert|my list)\b"
)
_ASKS_WHEN = re.compile(r"\b(?:when|whens|(?:what|which) (?:day|weekday|dates?)|dates?)\b")
_BARE_NAME = re.compile(r"^(?:[\w']+ ){1,4}(?:day|eve|\d{4})\b|\b(?:day|eve)$")
_YEARS = re.compile(r"\b(?:next|this|last) year\b|\b\d{4}\b")
_WHERE = frozenset({"in", "of", "for", "across"})
_NEXT = re.compile(r"\b(?:next|upcoming|coming|nearest|closest)\b(?! (?:year|week|month))")
_LAST = re.compile(r"\b(?:last|previous|latest|most recent)\b(?! (?:year|week|month))")
_COUNTS = {"two": 2, "three": 3, "four": 4, "five": 5, "few": 3, "2": 2, "3": 3, "4": 4, "5": 5}
_FILLER = frozenset(
    "a an and any are at be by can celebrate celebrated celebrating celebration date dates "
    "day do does did fall falls for happen happens has have have hey holiday holidays i in is "
    "it its kept know me next now observed of off on or our people please pls public bank "
    "federal legal state s tell that the their there they this to us was we week weekday were "
    "what when whens which will with you your last would could give say so ok hello hi take "
    "takes place real really legally official statutory".split()
)
_GENERIC = frozenset(
    "all monday tuesday wednesday thursday friday saturday sunday day first second third "
    "january february march april may june july august september october november december eve "
    "new spring summer autumn winter late early bank birthday saint".split()
)
_HOMES = {"bastille": "FR", "anzac": "AU", "guy fawkes": "GB", "cinco de mayo": "MX"}
_ELSEWHERE = ("US", "GB", "CA", "AU", "IN", "DE", "FR", "CN", "IE")

Found = tuple[str, float] | None
"""An answer and how sure it is."""


class HolidayQuestion(msgspec.Struct, frozen=True):
    """A question about holidays: text, region, whether the region is named, and today's date."""

    text: str
    place: HolidayRegion
    placed: bool
    today: dt.date


def answer(request: dict[str, Any]) -> Any:
    """Return whether a day is a public holiday, when one is, or a list of the next ones."""
    if "function" in request:
        return call(request, FUNCTIONS)
    text, today, attributes = text_of(request), now_of(request).date(), attributes_of(request)
    for part, share in ((text, 1.0), *((clause, 0.85) for clause in _clauses(text))):
        found = _answer_to(part, today, attributes)
        if found is not None:
            return [{"text": found[0], "confidence": round(max(0.6, found[1] * share), 3)}]
    return [{"text": _DECLINED, "confidence": 0.05}]


def _clauses(text: str) -> list[str]:
    """Return the clauses of a text that asks several questions; [] if it asks one."""
    parts = re.split(r"[?;!.]\s+|,?\s+and\s+(?=wh|how|tell|is\b|are\b)", text, flags=re.IGNORECASE)
    return parts[:_MOST_CLAUSES] if len(parts) > 1 else []


def _answer_to(text: str, today: dt.date, attributes: dict[str, Any]) -> Found:
    plain = " ".join(text.lower().replace("’", "'").split()).strip(" ?!.")
    if not plain or len(plain) > _LONGEST or _FOREIGN.search(plain):
        return None
    about = _HOLIDAY.search(plain) is not None
    asks_when = _ASKS_WHEN.search(plain) is not None
    if not (about or asks_when or _BARE_NAME.search(plain)):
        return None
    place, placed = place_of(text, attributes)
    question = HolidayQuestion(plain, place, placed, today)
    if about:
        return _of_day(question) or _named(question, 0.95) or _listed(question)
    return _named(question, 0.93 if asks_when else 0.7)


def _of_day(question: HolidayQuestion) -> Found:
    """Return whether the day in the question is a holiday."""
    day = day_of(question.text, question.today, question.place.country)
    if day is None or not FIRST_YEAR <= day.year <= LAST_YEAR:
        return None
    place = question.place
    names = " and ".join(one.name for one in on_day(place, day))
    when = "today" if day == question.today else _date(day)
    if names:
        yes = "" if re.match(r"what|which", question.text) else "Yes. "
        return f"{yes}{names}, {when}, is a public holiday in {place.name}.", 0.96
    return f"No, {when} is not a public holiday in {place.name}{_but_in(place, day)}.", 0.95


def _named(question: HolidayQuestion, sure: float) -> Found:
    """Return when the named holiday is, or whether it is a public one."""
    for name in _names_asked(question):
        for place in _places(question, name):
            found = _when(question, place, name)
            if found:
                return _told(question, place, found), sure
    return None


def _names_asked(question: HolidayQuestion) -> list[str]:
    """Return the question without its common words, with the country and without."""
    words = words_of(_YEARS.sub(" ", question.text))
    place = set(words_of(question.place.name))
    spans = {at: one for one in mentions(words) for at in range(one.start, one.end)}
    bare, full = [], []
    for at, word in enumerate(words):
        if word in _FILLER or (at in spans and _placed(words, spans[at].start)):
            continue
        full.append(word)
        if at not in spans and word not in place:
            bare.append(word)
    own_day = re.search(r"\b(\w+) day\b(?! off)", " ".join(words))
    names = [full] if bare or (own_day and own_day.group(1) in full) else []
    named = [plain_name(" ".join(name)) for name in [*names, bare]]
    return [
        one
        for one in dict.fromkeys(named)
        if 0 < len(one.split()) <= _LONGEST_NAME and not set(one.split()) <= _GENERIC
    ]


def _placed(words: list[str], start: int) -> bool:
    """Return whether the country at this position is a place, not part of a holiday's name."""
    before = words[max(0, start - 2) : start]
    return bool(before) and (before[-1] in _WHERE or (before[-1] == "the" and before[0] in _WHERE))


def _places(question: HolidayQuestion, name: str) -> list[HolidayRegion]:
    home = [code for said, code in _HOMES.items() if said in question.text]
    if question.placed or (name == "national" and not home):
        return [question.place]
    first, rest = [_whole(code) for code in home], [_whole(code) for code in _ELSEWHERE]
    return [*first, question.place, *rest]


def _whole(code: str) -> HolidayRegion:
    return HolidayRegion(code, None, countries()[code].name)


def _when(question: HolidayQuestion, place: HolidayRegion, name: str) -> list[Holiday]:
    """Return the days in the given year, else in this year or, if past, the next."""
    year = year_of(question.text, question.today)
    if year is not None:
        return by_name(place, name, year)
    today = question.today
    if re.search(r"\bwas\b|\blast\b", question.text):
        found = [one for one in by_name(place, name, today.year) if one.day <= today]
        return found or by_name(place, name, today.year - 1)
    found = [one for one in by_name(place, name, today.year) if one.day >= today]
    return found or by_name(place, name, today.year + 1)


def _told(question: HolidayQuestion, place: HolidayRegion, found: list[Holiday]) -> str:
    first, last = found[0], found[-1]
    until = f" to {_date(last.day)}" if last.day > first.day and last.name == first.name else ""
    when = f"{_date(first.day)}{until}"
    if _HOLIDAY.search(question.text) and not _ASKS_WHEN.search(question.text):
        if first.public:
            return f"Yes. {first.name}, {when}, is a public holiday in {place.name}."
        besides = _but_in(place, first.day, plain_name(first.name))
        return f"No, {first.name} ({when}) is not a public holiday in {place.name}{besides}."
    where = f" in {place.name}" if first.public or question.placed else ""
    note = "" if first.public or not question.placed else ", but it is no public holiday"
    verb = "was" if last.day < question.today else "is"
    return f"{first.name} {verb} on {when}{where}{note}."


def _but_in(place: HolidayRegion, day: dt.date, name: str = "") -> str:
    """Return the regions that differ, as the end of a sentence."""
    parts = [] if place.part else parts_on(place.country, day, name)
    if not parts:
        return ""
    more = f" and {len(parts) - 8} others" if len(parts) > 8 else ""
    return f" as a whole, but it is in {', '.join(parts[:8])}{more}"


def _listed(question: HolidayQuestion) -> Found:
    text, today, place = question.text, question.today, question.place
    span = span_of(text, today)
    if span is not None:
        found = coming(place, span[0] - dt.timedelta(days=1), span[1])
        when = f"from {_date(span[0])} to {_date(span[1])}"
        if not found:
            return f"No, there is no public holiday in {place.name} {when}.", 0.92
        return f"Public holidays in {place.name} {when}: {_lines(found)}.", 0.92
    year = year_of(text, today)
    if year is None and _NEXT.search(text):
        return _coming(question)
    if year is None and _LAST.search(text):
        found = coming(place, today - dt.timedelta(days=366), today)[-1:]
        return (
            (f"The last public holiday in {place.name}: {_lines(found)}.", 0.93) if found else None
        )
    if not re.search(r"\bholidays\b|\b(?:public|bank) holiday|holiday calendar|days off", text):
        return None
    return _whole_year(question, year or today.year)


def _coming(question: HolidayQuestion) -> Found:
    until = question.today + dt.timedelta(days=400)
    found = [one for one in coming(question.place, question.today, until) if not is_substitute(one)]
    asked = re.search(r"\bnext (\w+) ", question.text)
    count = _COUNTS.get(asked.group(1), 1) if asked else 1
    if re.search(r"holidays\b|hoildays\b|days off", question.text):
        count = max(count, 3)
    if not found:
        return None
    lead = "The next public holiday" + ("s" if count > 1 else "")
    return f"{lead} in {question.place.name}: {_lines(found[:count])}.", 0.95


def _whole_year(question: HolidayQuestion, year: int) -> Found:
    if not FIRST_YEAR <= year <= LAST_YEAR:
        return None
    found = public_holidays(question.place.country, question.place.part, year)
    real = [one for one in found if not is_substitute(one)]
    if not real:
        return None
    if re.search(r"how many|number of", question.text):
        days = len({one.day for one in real})
        return f"{_capital(question.place.name)} has {days} public holidays in {year}.", 0.95
    clear = question.placed or re.search(r"\blist|which|what|public|bank", question.text)
    sure = 0.92 if clear else 0.6
    return f"Public holidays in {question.place.name} in {year}: {_lines(real)}.", sure


def _lines(found: list[Holiday]) -> str:
    return "; ".join(f"{one.name}, {_date(one.day)}" for one in found)


def _date(day: dt.date) -> str:
    return f"{day:%A} {day.day} {day:%B} {day.year}"


def _capital(name: str) -> str:
    return name[0].upper() + name[1:]
