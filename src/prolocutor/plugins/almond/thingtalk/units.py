"""Units of measures, and their conversion to base units.

Names and factors are Thingpedia's (thingtalk-units), so programs keep their meaning.
"""

from __future__ import annotations

_FACTORS: dict[str, dict[str, float]] = {
    "ms": {
        "ms": 1,
        "s": 1_000,
        "min": 60_000,
        "h": 3_600_000,
        "day": 86_400_000,
        "week": 604_800_000,
        "mon": 2_592_000_000,
        "year": 31_536_000_000,
    },
    "m": {
        "m": 1,
        "km": 1_000,
        "mm": 0.001,
        "cm": 0.01,
        "mi": 1_609.344,
        "in": 0.0254,
        "ft": 0.3048,
    },
    "m2": {
        "m2": 1,
        "km2": 1e6,
        "mm2": 1e-6,
        "cm2": 1e-4,
        "mi2": 1_609.344**2,
        "in2": 0.0254**2,
        "ft2": 0.3048**2,
    },
    "m3": {
        "m3": 1,
        "km3": 1e9,
        "mm3": 1e-9,
        "cm3": 1e-6,
        "mi3": 1_609.344**3,
        "in3": 0.0254**3,
        "ft3": 0.3048**3,
        "gal": 0.00378541,
        "galuk": 0.00454609,
        "qt": 0.000946353,
        "qtuk": 0.00113652,
        "pint": 0.000473176,
        "pintuk": 0.000568261,
        "l": 0.001,
        "hl": 0.1,
        "cl": 1e-5,
        "ml": 1e-6,
        "tsp": 4.92892e-6,
        "tbsp": 1.47868e-5,
        "cup": 0.000236588,
        "floz": 2.95735e-5,
    },
    "mps": {"mps": 1, "kmph": 1 / 3.6, "mph": 0.44704},
    "kg": {"kg": 1, "g": 0.001, "mg": 1e-6, "lb": 0.45359237, "oz": 0.028349523},
    "Pa": {
        "Pa": 1,
        "bar": 100_000,
        "psi": 6_894.7573,
        "mmHg": 133.32239,
        "inHg": 3_386.3886,
        "atm": 101_325,
    },
    "C": {"C": 1, "F": 1 / 1.8, "K": 1},
    "kcal": {"kcal": 1, "kJ": 0.239006},
    "byte": {
        "byte": 1,
        "KB": 1e3,
        "KiB": 2**10,
        "MB": 1e6,
        "MiB": 2**20,
        "GB": 1e9,
        "GiB": 2**30,
        "TB": 1e12,
        "TiB": 2**40,
    },
    "W": {"W": 1, "kW": 1_000},
    "lm": {"lm": 1},
    "lx": {"lx": 1},
    "dB": {"dB": 1},
    "dBm": {"dBm": 1},
}

_ZERO_AT = {"F": 32.0, "K": 273.15}

_BASE = {unit: base for base, units in _FACTORS.items() for unit in units}

UNITS = frozenset(_BASE)
"""All names of units."""


def base_unit(unit: str) -> str | None:
    """Return the base unit of a unit; None for an unknown unit."""
    return _BASE.get(unit)


def convertible_units(base: str) -> list[str]:
    """Return the units that convert to a base unit."""
    return list(_FACTORS.get(base, ()))


def to_base(value: float, unit: str) -> float:
    """Convert a measure to its base unit; `KeyError` for an unknown unit."""
    return (value - _ZERO_AT.get(unit, 0)) * _FACTORS[_BASE[unit]][unit]
