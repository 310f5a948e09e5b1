"""Types of ThingTalk, of parameters and outputs."""

from __future__ import annotations

import msgspec

PLAIN = frozenset(
    {"String", "Number", "Boolean", "Currency", "Date", "Time", "Location", "Object", "Any"}
)
"""Types without parameters; Measure, Entity, Enum, Array and Compound have some."""

OLD_NAMES = {
    "EmailAddress": "tt:email_address",
    "PhoneNumber": "tt:phone_number",
    "Picture": "tt:picture",
    "URL": "tt:url",
    "Username": "tt:username",
    "Hashtag": "tt:hashtag",
    "Password": "tt:password",
    "Resource": "tt:rdf_resource",
}
"""Entity types with names of their own in old manifests."""


class Type(msgspec.Struct, frozen=True):
    """A type: its name and its parameters.

    `of` is the unit of a Measure or the kind of an Entity (`tt:url`), `choices` are an Enum's,
    `element` is the type of an Array's elements, `fields` are a Compound's.
    """

    name: str
    of: str = ""
    choices: tuple[str, ...] = ()
    element: Type | None = None
    fields: tuple[tuple[str, Type], ...] = ()

    def __str__(self) -> str:
        if self.name == "Entity":
            return f"Entity(^^{self.of})"
        if self.name == "Measure":
            return f"Measure({self.of})"
        if self.name == "Enum":
            return f"Enum({', '.join(self.choices)})"
        if self.name == "Array":
            return f"Array({self.element})"
        if self.name == "Compound":
            return "{" + ", ".join(f"{name} : {kind}" for name, kind in self.fields) + "}"
        return self.name


STRING = Type("String")
NUMBER = Type("Number")
BOOLEAN = Type("Boolean")
CURRENCY = Type("Currency")
DATE = Type("Date")
TIME = Type("Time")
LOCATION = Type("Location")
ANY = Type("Any")
DURATION = Type("Measure", of="ms")


def entity(kind: str) -> Type:
    """Return the type of entities of a kind, such as `tt:url`."""
    return Type("Entity", of=kind)


def array(element: Type) -> Type:
    """Return the type of lists of something."""
    return Type("Array", element=element)
