"""Articles of countries: "die Schweiz", "von der Schweiz", "l'Espagne", "du Japon"."""

from __future__ import annotations

_GERMAN = {
    "Schweiz": ("die Schweiz", "von der Schweiz"),
    "Türkei": ("die Türkei", "von der Türkei"),
    "Slowakei": ("die Slowakei", "von der Slowakei"),
    "Ukraine": ("die Ukraine", "von der Ukraine"),
    "Mongolei": ("die Mongolei", "von der Mongolei"),
    "Vereinigte Staaten": ("die USA", "der USA"),
    "Niederlande": ("die Niederlande", "der Niederlande"),
    "Philippinen": ("die Philippinen", "der Philippinen"),
    "Malediven": ("die Malediven", "der Malediven"),
    "Seychellen": ("die Seychellen", "der Seychellen"),
    "Komoren": ("die Komoren", "der Komoren"),
    "Bahamas": ("die Bahamas", "der Bahamas"),
    "Vereinigte Arabische Emirate": (
        "die Vereinigten Arabischen Emirate",
        "der Vereinigten Arabischen Emirate",
    ),
    "Vereinigtes Königreich": ("das Vereinigte Königreich", "des Vereinigten Königreichs"),
    "Vatikanstadt": ("die Vatikanstadt", "der Vatikanstadt"),
    "Zentralafrikanische Republik": (
        "die Zentralafrikanische Republik",
        "der Zentralafrikanischen Republik",
    ),
    "Dominikanische Republik": ("die Dominikanische Republik", "der Dominikanischen Republik"),
}
_FRENCH_PLURAL = (
    "États-Unis",
    "Pays-Bas",
    "Philippines",
    "Émirats arabes unis",
    "Maldives",
    "Seychelles",
    "Comores",
    "Bahamas",
    "Fidji",
    "Îles",
)
_FRENCH_MASCULINE = ("Mexique", "Mozambique", "Cambodge", "Zimbabwe", "Belize", "Suriname")
_FRENCH_BARE = (
    "Israël Chypre Cuba Malte Madagascar Monaco Singapour Bahreïn Djibouti Haïti Oman Taïwan Sao"
    " Saint-Marin Sainte-Lucie Saint-Kitts-et-Nevis Saint-Vincent-et-les-Grenadines Kiribati Nauru"
    " Tuvalu Tonga Samoa Maurice Andorre"
).split()
_VOWELS = "AEIOUYÉÈÊÎÔaeiou"


def with_article(code: str, name: str) -> str:
    """Return a country as the subject of a sentence."""
    if code == "de":
        return _GERMAN.get(name, (name, ""))[0]
    return _french(name)[0] if code == "fr" else name


def with_of(code: str, name: str) -> str:
    """Return a country after "of"."""
    if code == "de":
        return _GERMAN.get(name, ("", f"von {name}"))[1]
    return _french(name)[1] if code == "fr" else f"de {name}"


def _french(name: str) -> tuple[str, str]:
    if name.startswith(_FRENCH_PLURAL):
        return f"les {name}", f"des {name}"
    if name in _FRENCH_BARE:
        return name, f"d'{name}" if name[0] in _VOWELS else f"de {name}"
    if name[0] in _VOWELS and name[:2] != "Ye":
        return f"l'{name}", f"de l'{name}"
    if name.endswith("e") and name not in _FRENCH_MASCULINE:
        return f"la {name}", f"de la {name}"
    return f"le {name}", f"du {name}"
