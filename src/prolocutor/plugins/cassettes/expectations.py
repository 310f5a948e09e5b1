"""Dialogs that people write in YAML: the person's words, and expectations of the replies."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, ClassVar, Final

import msgspec
from msgspec.structs import replace

from prolocutor.bounds import PositiveSeconds, about
from prolocutor.config.fields import Findings
from prolocutor.config.struct_fields import struct_table
from prolocutor.config.yaml_file import UNREAD, ConfigFaults, YamlDocument, YamlNode, read
from prolocutor.dialog.plain import JsonObject
from prolocutor.plugins.cassettes.cassette import RecordedReply

ITSELF: Final = "assistant"
"""Who speaks where no skill does."""

NOTHING: Final = ("nothing", "none", "no")

_OF_DIALOG: Final = {"never", "within", "judge", "cassette"}


class ReplyRule(msgspec.Struct, frozen=True, kw_only=True):
    """A rule about a reply's text, ignoring case except for `equals`. A bare text is `contains`."""

    expected: ClassVar[str] = "a text, or a map of contains, matches, equals"

    contains: Annotated[
        list[str], about("Texts that the reply contains.", single=True, item="a text")
    ] = []
    matches: Annotated[
        str | None,
        about("A regular expression that matches a part of the reply.", what="a pattern"),
    ] = None
    equals: Annotated[
        list[str], about("The whole reply; of several texts, any.", single=True, item="a text")
    ] = []

    @classmethod
    def from_short(cls, value: object) -> ReplyRule:
        """Return the rule for the short form: a text or a list of texts."""
        texts = value if isinstance(value, list) else [value]
        contains = [text for text in texts if isinstance(text, str)]
        if len(contains) < len(texts):
            raise ValueError(cls.expected)
        return cls(contains=contains)

    def __post_init__(self) -> None:
        """Raise `ValueError` for an invalid pattern."""
        try:
            re.compile(self.matches or "")
        except re.error as error:
            raise ValueError(f"{self.matches!r} is not a pattern: {error}") from None

    def broken_rules(self, text: str) -> Iterator[str]:
        """Yield the parts of the rule that a text does not meet, in words."""
        for part in self.contains:
            if _fold_case(part) not in _fold_case(text):
                yield f"the reply contains {part!r}"
        if self.matches is not None and not re.search(self.matches, text, re.IGNORECASE):
            yield f"the reply matches /{self.matches}/"
        if self.equals and text.strip() not in [equal.strip() for equal in self.equals]:
            yield f"the reply equals {' or '.join(map(repr, self.equals))}"


def _fold_case(text: str) -> str:
    return " ".join(text.casefold().split())


class DialogStep(msgspec.Struct, frozen=True, kw_only=True):
    """A person's words, and the expectations of the reply; of several agents any may speak."""

    expected: ClassVar[str] = "a map of say, reply, agent, asks, within, never, judge"

    say: Annotated[str, about("What the person says.", what="a text")]
    reply: Annotated[ReplyRule | None, about("What the reply says.")] = None
    agent: Annotated[
        list[str], about("The skill that speaks.", single=True, item="the name of a skill")
    ] = []
    asks: Annotated[
        str | None,
        about(
            "The kind of value that the reply asks for; `nothing` if it asks for no value.",
            what="a kind of ask",
        ),
    ] = None
    within: Annotated[
        PositiveSeconds | None, about("The time limit of the reply.", duration=True)
    ] = None
    never: Annotated[
        list[str], about("Texts that are not in the reply.", single=True, item="a text")
    ] = []
    judge: Annotated[
        list[str],
        about("The criteria by which a model judges the reply.", single=True, item="a criterion"),
    ] = []
    user: Annotated[
        str | None, about("The person who speaks, if not the person of the dialog.", what="a name")
    ] = None
    attributes: Annotated[JsonObject, about("The attributes of the input.", json=True)] = {}


class WrittenDialog(msgspec.Struct, frozen=True, kw_only=True):
    """A dialog: its steps, or a map of the steps and of rules for all replies."""

    expected: ClassVar[str] = "a list of steps (- say: ...), or a map with them as turns"

    turns: Annotated[list[DialogStep], about("The steps, in their order.")]
    never: Annotated[
        list[str], about("Texts that are in no reply.", single=True, item="a text")
    ] = []
    within: Annotated[
        PositiveSeconds | None, about("The time limit of each reply.", duration=True)
    ] = None
    judge: Annotated[
        list[str],
        about(
            "The criteria by which a model judges the whole dialog.",
            single=True,
            item="a criterion",
        ),
    ] = []
    cassette: Annotated[
        str | None,
        about(
            "The cassette from which agents answer; it is recorded if it does not exist.",
            what="a file",
        ),
    ] = None

    @classmethod
    def from_short(cls, value: object) -> JsonObject:
        """Return the map for the short form, a list of steps."""
        raise ValueError(cls.expected)


class DialogFile(msgspec.Struct, frozen=True, kw_only=True):
    """A file of dialogs."""

    expected: ClassVar[str] = "a map with dialogs"

    dialogs: Annotated[dict[str, WrittenDialog], about("The dialogs by their names.")]
    assistant: Annotated[
        str | None, about("The assistant's file, relative to this file's folder.", what="a file")
    ] = None
    cassettes: Annotated[
        str | None, about("A folder with a cassette for each dialog.", what="a folder")
    ] = None


def read_dialogs(path: Path) -> DialogFile:
    """Read a file of dialogs; raise `ConfigFaults` with all its faults."""
    document = read(path)
    findings = Findings(document.file, document.faults)
    found: Any = struct_table(DialogFile).read(_whole(document, path.stem), findings)
    if findings.faults or found is UNREAD:
        raise ConfigFaults(findings.faults)
    made: DialogFile = found
    return made


def is_dialogs(path: Path) -> bool:
    """Return whether a YAML file contains dialogs."""
    try:
        node = read(path, None).root
    except ConfigFaults:
        return True  # which is then said
    if isinstance(node.value, dict):
        return "dialogs" in node.value or any(map(_is_talk, node.value.values()))
    return _is_talk(node)


def _is_talk(node: YamlNode) -> bool:
    steps = node.value
    return isinstance(steps, list) and any(
        isinstance(step.value, dict) and "say" in step.value for step in steps
    )


def _whole(document: YamlDocument, name: str) -> YamlNode:
    """Return a file's content as a map with `dialogs`: it may be a dialog, or a map of dialogs."""
    root = document.root
    value = root.value
    if isinstance(value, list):
        value = {name: root}
    elif not isinstance(value, dict) or "dialogs" in value:
        return _add_turns(root) if isinstance(value, dict) else root
    own = {key: node for key, node in value.items() if key in ("assistant", "cassettes")}
    talks = {key: node for key, node in value.items() if key not in own}
    return _add_turns(replace(root, value={**own, "dialogs": replace(root, value=talks)}))


def _add_turns(root: YamlNode) -> YamlNode:
    """Return the tree with each bare list of steps as a map with `turns`.

    Steps without `say`, such as `- never: sorry`, hold for the whole dialog.
    """
    assert isinstance(root.value, dict)
    dialogs = root.value["dialogs"]
    if not isinstance(dialogs.value, dict):
        return root
    talks = {key: _make_map(node) for key, node in dialogs.value.items()}
    return replace(root, value={**root.value, "dialogs": replace(dialogs, value=talks)})


def _make_map(node: YamlNode) -> YamlNode:
    if not isinstance(node.value, list):
        return node
    said = [one for one in node.value if not _holds_for_all(one)]
    held: dict[str, YamlNode] = {}
    for one in node.value:
        if _holds_for_all(one) and isinstance(one.value, dict):
            held.update(one.value)
    return replace(node, value={"turns": replace(node, value=said), **held})


def _holds_for_all(step: YamlNode) -> bool:
    keys = step.value if isinstance(step.value, dict) else {}
    return bool(keys) and "say" not in keys and set(keys) <= _OF_DIALOG


def broken_expectations(
    step: DialogStep, dialog: WrittenDialog, reply: RecordedReply, seconds: float
) -> Iterator[str]:
    """Return the expectations that a reply does not meet, in words."""
    if reply.error is not None:
        yield f"there is a reply (the turn failed: {reply.error})"
        return
    if step.reply is not None:
        yield from step.reply.broken_rules(reply.reply)
    speaker = reply.agent or ITSELF
    if step.agent and speaker not in step.agent:
        by = "" if reply.agent else f" ({reply.by})"
        yield f"{' or '.join(step.agent)} speaks, not {speaker}{by}"
    if step.asks is not None:
        asked = reply.asks or "nothing"
        wanted = "nothing" if step.asks.lower() in NOTHING else step.asks
        if asked != wanted:
            yield f"it asks for {wanted}, not for {asked}"
    yield from broken_bounds(step, dialog, reply, seconds)


def broken_bounds(
    step: DialogStep, dialog: WrittenDialog, reply: RecordedReply, seconds: float
) -> Iterator[str]:
    """Return the bounds (`never`, `within`) that a reply does not keep, in words."""
    for text in [*step.never, *dialog.never]:
        if _fold_case(text) in _fold_case(reply.reply):
            yield f"the reply never contains {text!r}"
    within = step.within or dialog.within
    if within is not None and seconds > within:
        yield f"the reply is there within {within:g} s, not after {seconds:.2f} s"
