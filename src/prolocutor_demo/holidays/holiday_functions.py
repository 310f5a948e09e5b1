"""The functions that programs can call on the holiday calendar: the coming holidays."""

import datetime as dt
from typing import Any

from prolocutor_demo.holidays.public_days import HolidayRegion, coming, supported
from prolocutor_demo.reading.country_facts import countries
from prolocutor_demo.reading.country_names import mentions, words_of
from prolocutor_demo.reading.request import now_of

AHEAD = dt.timedelta(days=365)


def ahead(request: dict[str, Any], parameters: dict[str, Any]) -> Any:
    """Return the public holidays of a country in the next twelve months."""
    named = [one for one in mentions(words_of(str(parameters["country"]))) if supported(one.code)]
    if not named:
        return {"error": f"I know no holidays of {parameters['country']!r:.80}"}
    code = named[0].code
    today = now_of(request).date()
    place = HolidayRegion(code, None, countries()[code].name)
    return [
        {"name": one.name, "day": one.day.isoformat()}
        for one in coming(place, today, today + AHEAD)
    ]


FUNCTIONS = {"coming": ahead}
