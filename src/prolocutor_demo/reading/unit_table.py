"""The units: kind, exact factor to the kind's base unit, and spellings."""

from collections.abc import Iterator
from fractions import Fraction
from typing import NamedTuple


class Unit(NamedTuple):
    """A unit of one kind of quantity; `value * factor + offset` is in the kind's base unit."""

    kind: str
    one: str
    many: str
    factor: Fraction
    offset: Fraction = Fraction(0)

    def named(self, shown: str) -> str:
        """Return the name after a number, as in "1 foot" or "2 feet"."""
        return self.one if shown in ("1", "-1") else self.many


def _table() -> dict[str, Unit]:
    """Return every spelling, in lower case, with its unit."""
    spellings: dict[str, Unit] = {}
    kind = ""
    for line in _UNITS.strip().replace("\n+", ",").splitlines():
        if line.endswith(":"):
            kind = line[:-1]
            continue
        names, numbers, others = (part.strip() for part in line.split("|"))
        one, _, many = names.partition("/")
        factor, _, offset = numbers.partition(" ")
        unit = Unit(kind, one, many or f"{one}s", Fraction(factor), Fraction(offset or 0))
        for spelling in [unit.one, unit.many, *filter(None, others.split(", "))]:
            for variant in _variants(spelling.lower()):
                spellings.setdefault(variant, unit)
    return spellings


def _variants(spelling: str) -> Iterator[str]:
    """Yield a spelling, also in British English, with "sq" for "square", and in the plural."""
    british = spelling.replace("meter", "metre").replace("liter", "litre")
    for one in (spelling, british):
        for name in (one, one.replace("square ", "sq ")):
            yield name
            if len(name) >= _SHORTEST_WITH_PLURAL and name[-1].isalpha() and name[-1] != "s":
                yield f"{name}s"


_SHORTEST_WITH_PLURAL = 4
# A kind, then its units: "one/many | factor offset | other spellings"; "+" continues a line, and
# variants are added to the spellings. Factors are exact where the definition is. Why not pint: it
# reads 342 of 579 spellings, and others as another unit ("gr" as grain, "mbit" as
# millibit, "acre" as the survey acre).
_UNITS = """
length:
meter | 1 | m
kilometer | 1000 | km, kms, klick, k m
centimeter | 1/100 | cm, cms
millimeter | 1/1000 | mm
micrometer | 1/1000000 | micron, µm, um
nanometer | 1/1000000000 | nm
mile | 1609.344 | mi, statute mile
marathon | 42195 | marathon distance
yard | 0.9144 | yd, yds
foot/feet | 0.3048 | ft, '
inch/inches | 0.0254 | in, ins, "
nautical mile | 1852 | nmi, sea mile
furlong | 201.168 |
fathom | 1.8288 |
light year | 9460730472580800 | lightyear, ly, light-year
astronomical unit | 149597870700 | au
mass:
kilogram | 1 | kg, kgs, kilo, kilogramme
gram | 1/1000 | g, gr, gramme, gm, gms, grm, grms
milligram | 1/1000000 | mg, milligramme
metric ton | 1000 | tonne, t, metric tonne
short ton | 907.18474 | us ton, ton, tons
long ton | 1016.0469088 | imperial ton
pound | 0.45359237 | lb, lbs, pounds weight
ounce | 0.028349523125 | oz, ozs
stone/stone | 6.35029318 | st
carat | 0.0002 | ct
volume:
liter | 1 | l, ltr, ltrs
milliliter | 1/1000 | ml, mls, cc, ccs
centiliter | 1/100 | cl
deciliter | 1/10 | dl
hectoliter | 100 | hl
cubic meter | 1000 | m3, m³, cu m
cubic centimeter | 1/1000 | cm3, cm³
cubic foot/cubic feet | 28.316846592 | ft3, ft³, cu ft
cubic inch/cubic inches | 0.016387064 | in3, in³, cu in
US gallon | 3.785411784 | gallon, gal, gals
US quart | 0.946352946 | quart, qt, qts
US pint | 0.473176473 | pint, pt, pts
US cup | 0.2365882365 | cup, cups
US fluid ounce | 0.0295735295625 | fluid ounce, fl oz, floz, fl. oz, fl ounces
tablespoon | 0.01478676478125 | tbsp, table spoon, tbs
teaspoon | 0.00492892159375 | tsp, tsps, tea spoon
imperial gallon | 4.54609 | uk gallon, british gallon
imperial pint | 0.56826125 | uk pint, british pint
oil barrel | 158.987294928 | barrel, barrel of oil, barrels of oil, bbl
temperature:
degree Celsius/degrees Celsius | 1 | celsius, c, °c, ° c, degree c, degrees c, centigrade
+ degrees centigrade, celcius, degrees celcius
degree Fahrenheit/degrees Fahrenheit | 5/9 -160/9 | fahrenheit, f, °f, ° f, degree f, degrees f
+ farenheit, farhenheit, degrees farenheit
kelvin/kelvin | 1 -273.15 | k, °k, degrees kelvin
speed:
meter per second/meters per second | 1 | m/s, mps, meters a second
kilometer per hour/kilometers per hour | 5/18 | km/h, kmh, kph, kmph, kilometers an hour
+ km per hour
mile per hour/miles per hour | 0.44704 | mph, mi/h, miles an hour
knot | 463/900 | kn, kt, kts
foot per second/feet per second | 0.3048 | ft/s, fps
area:
square meter | 1 | m2, m², sq m, sqm, meters squared
square kilometer | 1000000 | km2, km², square km
square centimeter | 1/10000 | cm2, cm², square cm
square foot/square feet | 0.09290304 | ft2, ft², sqft, square ft
square inch/square inches | 0.00064516 | in2, in², sq in
square yard | 0.83612736 | yd2, yd², sq yd
square mile | 2589988.110336 | mi2, mi², sq mi
acre | 4046.8564224 | ac
hectare | 10000 | ha
time:
second | 1 | s, sec, secs
millisecond | 1/1000 | ms, msec
microsecond | 1/1000000 | µs
nanosecond | 1/1000000000 | ns
minute | 60 | min, mins
hour | 3600 | h, hr, hrs
day | 86400 |
week | 604800 | wk, wks
fortnight | 1209600 |
month | 2629746 |
year | 31556952 | yr, yrs
decade | 315569520 |
century/centuries | 3155695200 |
data:
byte | 8 | b
bit | 1 |
kilobyte | 8000 | kb
megabyte | 8000000 | mb, megs, meg
gigabyte | 8000000000 | gb, gig, gigs
terabyte | 8000000000000 | tb
petabyte | 8000000000000000 | pb
kibibyte | 8192 | kib
mebibyte | 8388608 | mib
gibibyte | 8589934592 | gib
tebibyte | 8796093022208 | tib
kilobit | 1000 | kbit
megabit | 1000000 | mbit
gigabit | 1000000000 | gbit
data rate:
bit per second/bits per second | 1 | bps
kilobit per second/kilobits per second | 1000 | kbps, kbit/s
megabit per second/megabits per second | 1000000 | mbps, mbit/s, megabits a second
gigabit per second/gigabits per second | 1000000000 | gbps, gbit/s
kilobyte per second/kilobytes per second | 8000 | kb/s
megabyte per second/megabytes per second | 8000000 | mb/s, megabytes a second
gigabyte per second/gigabytes per second | 8000000000 | gb/s
pressure:
pascal | 1 | pa
hectopascal | 100 | hpa
kilopascal | 1000 | kpa
megapascal | 1000000 | mpa
bar | 100000 |
millibar | 100 | mbar, mb of pressure
atmosphere | 101325 | atm, atms
pound per square inch/pounds per square inch | 6894.757293168 | psi
torr/torr | 20265/152 |
millimeter of mercury/millimeters of mercury | 133.322387415 | mmhg, mm hg
inch of mercury/inches of mercury | 3386.389 | inhg, in hg
energy:
joule | 1 | j
kilojoule | 1000 | kj
megajoule | 1000000 | mj
calorie | 4.184 | cal
kilocalorie | 4184 | kcal, food calorie
watt hour | 3600 | wh, watt-hour
kilowatt hour | 3600000 | kwh, kilowatt-hour, kilowatthour
British thermal unit | 1055.05585262 | btu, btus
electronvolt | 1.602176634e-19 | ev, electron volt
power:
watt | 1 | w
kilowatt | 1000 | kw
megawatt | 1000000 | mw
horsepower/horsepower | 745.69987158227022 | hp, bhp
angle:
degree | 1/360 | deg, °
radian | 0.15915494309189535 | rad, rads
"""

UNITS = _table()
