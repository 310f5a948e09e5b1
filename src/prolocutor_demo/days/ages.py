"""Ages: "how old is a person born 3 May 1980", "when do they turn 50"."""

import datetime as dt
import re

from dateutil.relativedelta import relativedelta

from prolocutor_demo.days.spans import between, counted
from prolocutor_demo.reading.dates import DATE, date_text, read_date
from prolocutor_demo.reading.wording import SURE, Reading

_BORN = re.compile(
    rf"\b(?:born|birthday is|birth ?date is|date of birth is)(?: on| in)? (?P<born>{DATE})"
    r"(?P<rest>.*)"
)
_BORN_IN = re.compile(r"^(?:how old|what age|the age).* born in (\d{4})(?: now| be(?: now)?)?$")
_YEAR_FIRST = re.compile(
    r"^(?:.*\b)?born in (?P<year>\d{4})\W+(?:so |then |and )?"
    r"(?:how old|what age|what is my age)\b.*"
)
_BORN_ON_WHAT_DAY = re.compile(
    rf"(?:(?:on )?(?:what|which) (?:day|weekday)\b.*\bborn\b.*\bborn (?:on )?(?P<born>{DATE})"
    r"(?: what day was it| what day was that)?)$"
)
_TURNING = re.compile(r"\b(?:turns?|become|be) (\d{1,3})\b")


def read_age(words: str, today: dt.date, birthday: str) -> Reading | None:
    """Return the age of a person born on a date, or of a user whose birthday is known."""
    if year := _BORN_IN.search(words):
        age = today.year - int(year[1])
        if 0 < age < 200:
            return f"Somebody born in {year[1]} turns {age} in {today.year}.", SURE
    if (year := _YEAR_FIRST.match(words)) and 0 < (age := today.year - int(year["year"])) < 200:
        return f"Somebody born in {year['year']} turns {age} in {today.year}.", SURE
    if weekday := _BORN_ON_WHAT_DAY.match(words):
        born = read_date(weekday["born"], today)
        return (f"{date_text(born)}.", SURE) if born else None
    found = _BORN.search(words)
    if not found or not re.search(r"\b(?:old|age|turns?|becomes?|when)\b", words):
        own = re.fullmatch(r"how old am i(?: now| today)?|what is my age", words)
        born = read_date(birthday, today) if own and birthday else None
        return (_age(born, today, today), SURE) if born else None
    born = read_date(found["born"], today)
    if born is None:
        return None
    if turning := _TURNING.search(words):
        return f"That is on {date_text(born + relativedelta(years=int(turning[1])))}.", SURE
    later = re.search(rf"\b(?:on|in|at|by|died)(?: on| in)? ({DATE})", found["rest"])
    day = (read_date(later[1], today) if later else None) or today
    if "days old" in words:
        return f"Born on {date_text(born)}: {counted((day - born).days, 'day')} old.", SURE
    return _age(born, day, today), SURE


def _age(born: dt.date, day: dt.date, today: dt.date) -> str:
    if day < born:
        return f"Not born yet: {date_text(born)} is still to come."
    years = relativedelta(day, born).years
    age = counted(years, "year") if years >= 2 else between(born, day)
    when = "now" if day == today else f"on {date_text(day, weekday=False)}"
    return f"Somebody born on {date_text(born, weekday=False)} is {age} old {when}."
