"""Reads amounts with a unit: "5 km", "30 minutes", "$20"."""

from __future__ import annotations

import re
from typing import Any, Final

from prolocutor.reading import numbers

_TABLE: Final = """ms: millisecond milliseconds msec; s: sec secs second seconds;
    min: mins minute minutes; h: hr hrs hour hours; day: days; week: weeks; mon: month months;
    year: years yr yrs; mm: millimeter millimeters millimetre millimetres;
    cm: centimeter centimeters centimetre centimetres; m: meter meters metre metres;
    km: kilometer kilometers kilometre kilometres kms; in: inch inches; ft: foot feet;
    mi: mile miles; mps: m/s; kmph: km/h kph; mph: mi/h;
    mg: milligram milligrams; g: gram grams gramme grammes; kg: kilo kilos kilogram kilograms kgs;
    oz: ounce ounces; lb: lbs pound pounds; ml: milliliter milliliters millilitre millilitres;
    l: liter liters litre litres; gal: gallon gallons; C: c °c celsius centigrade degrees;
    F: f °f fahrenheit; K: k kelvin; Pa: pa pascal pascals; bar: bars; m2: m²; km2: km²; m3: m³;
    kcal: kilocalorie kilocalories cal calorie calories; kJ: kj kilojoule kilojoules;
    byte: bytes b; KB: kb kilobyte kilobytes; MB: mb megabyte megabytes;
    GB: gb gigabyte gigabytes; TB: tb terabyte terabytes;
    W: w watt watts; kW: kw kilowatt kilowatts;
    dB: db decibel decibels;
    usd: $ dollar dollars bucks us$; eur: € euro euros; gbp: £ quid; jpy: ¥ yen;
    chf: franc francs"""
_UNITS: Final[dict[str, str]] = {}
for _line in _TABLE.split(";"):
    _unit, _, _names = (part.strip() for part in _line.partition(":"))
    _UNITS.update(dict.fromkeys((*_names.split(), _unit.lower()), _unit))
_UNITS["degrees celsius"] = _UNITS["degrees c"] = "C"
_UNITS["degrees fahrenheit"] = _UNITS["degrees f"] = "F"

_TRAILING: Final = re.compile(
    r"(?P<count>.*?[^a-z°²³/$€£¥ ]|.+(?= )) ?(?P<unit>[a-z°²³$€£¥/ ]+[23]?)"
)
_LEADING: Final = re.compile(r"(?P<unit>us\$|[$€£¥]) ?(?P<count>.+)")
_ARTICLE: Final = {"a": 1, "an": 1, "half a": 0.5, "half an": 0.5}


def measure_of(said: str) -> dict[str, Any] | None:
    """Return the `{value, unit}` that a plain text is; units are those of `units.py`, or money."""
    if found := _LEADING.fullmatch(said):
        return _measure(found["count"], found["unit"])
    words = said.split(" ")
    for last in (2, 1):
        if len(words) > last and (
            measure := _measure(" ".join(words[:-last]), " ".join(words[-last:]))
        ):
            return measure
    found = _TRAILING.fullmatch(said)
    return _measure(found["count"], found["unit"].strip()) if found else None


def _measure(count: str, name: str) -> dict[str, Any] | None:
    unit = _UNITS.get(name)
    if unit is None:
        return None
    value = _ARTICLE.get(count)
    value = numbers.value_of(count) if value is None else value
    return None if value is None else {"value": value, "unit": unit}
