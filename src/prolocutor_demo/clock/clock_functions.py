"""The functions that programs can call on the clock: the time in a place."""

from typing import Any

from prolocutor_demo.clock.zones import find_place
from prolocutor_demo.reading.request import now_of


def current(request: dict[str, Any], parameters: dict[str, Any]) -> dict[str, Any]:
    """Return the time and the day in a place, by default the user's."""
    moment, name = now_of(request), str(parameters.get("place") or "")
    where = "your place"
    if name:
        place = find_place(name)
        if place is None:
            return {"error": f"I know no place called {name!r:.80}"}
        moment, where = moment.astimezone(place.clock), place.name
    return {
        "where": where,
        "time": f"{moment:%H:%M:%S}",
        "day": f"{moment:%Y-%m-%d}",
        "zone": str(moment.tzinfo),
    }


FUNCTIONS = {"current": current}
