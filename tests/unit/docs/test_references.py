"""The reference pages say what the code says: keys, defaults, names, addresses, options, fields."""

import inspect
import re
from functools import cached_property

import click
import pytest

import prolocutor
from prolocutor import Assistant, Pipeline, Service, errors
from prolocutor.cli.main import prolocutor as command_line
from prolocutor.contracts.channel import NotFoundText, Route
from prolocutor.dialog import agent_state
from prolocutor.dialog.dialog import Bot, BotUtterance, Dialog, Human, HumanUtterance, Hypothesis
from prolocutor.dialog.messages import ASK_KINDS, KINDS
from prolocutor.dialog.turn_request import TurnRequest
from prolocutor.doors.http.api import DeepPavlov
from prolocutor.observe.metrics import TurnMetrics
from prolocutor.pipeline.prepared import StageDeadlines
from prolocutor.plan.pipeline import Stage
from prolocutor.plugins.almond.door.door import Almond
from prolocutor.plugins.authoring.reference import fill, find_table, subjects
from prolocutor.plugins.page.channel import Page
from prolocutor.web.builtin_routes import BuiltinRoutes
from prolocutor.web.door_context import DoorContext
from prolocutor.web.limits import InFlight
from prolocutor_demo.demonstration import WORDS
from tests.pages import ROOT, blocks, table

REFERENCE = ROOT / "docs" / "reference"
YAML = REFERENCE / "yaml.md"
PYTHON = REFERENCE / "python.md"
STATE = REFERENCE / "agent-state.md"

HUMAN = Human(id="1", user_external_id="ann")
BOT = Bot(id="2")
ASKED = HumanUtterance(utt_id="3", text="hi", user=HUMAN, date_time="now")
SAID = BotUtterance(
    utt_id="4",
    text="hello",
    orig_text="hello",
    active_skill="greeter",
    confidence=1,
    user=BOT,
    date_time="now",
)
GIVEN = Hypothesis(
    skill_name="greeter",
    text="hello",
    confidence=1,
    hypothesis_id="greeter.0",
    human_attributes={},
    bot_attributes={},
    extra={"attributes": {}, "messages": [], "ask": None},
)
STATES = {
    "Dialog": agent_state.dialog_to_state(
        Dialog(dialog_id="5", id="6", human=HUMAN, bot=BOT, channel_type="kit", date_start=None)
    ),
    "Human utterance": agent_state.human_utterance_to_state(ASKED),
    "Bot utterance": agent_state.bot_utterance_to_state(SAID),
    "Hypothesis": agent_state.hypothesis_to_state(GIVEN),
    "Human": agent_state.human_to_state(HUMAN),
    "Bot": agent_state.bot_to_state(BOT),
}


def test_the_tables_of_keys_are_what_the_structs_say() -> None:
    pages = {page.name: page.read_text("utf-8") for page in REFERENCE.glob("*.md")}

    stale = [name for name, text in pages.items() if fill(text) != text]

    assert stale == [], "run make reference"


def test_whatever_a_file_and_plugins_take_has_a_table() -> None:
    pages = "".join(page.read_text("utf-8") for page in REFERENCE.glob("*.md"))
    told = set(" ".join(re.findall(r"<!-- reference: (.+) -->", pages)).split())
    tables = [find_table(subject).keys for subject in told]

    assert [
        subject
        for subject in subjects()
        if subject not in told and find_table(subject).keys not in tables
    ] == []


def test_every_attribute_of_a_turn_request_is_told() -> None:
    attributes = {
        name
        for name, value in vars(TurnRequest).items()
        if isinstance(value, property | cached_property) and name[0] != "_"
    }

    assert set(table(PYTHON, "TurnRequest")) == attributes


def test_the_public_names_are_told() -> None:
    assert set(table(PYTHON, "Python")) == {*prolocutor.__all__} - {"__version__"}


def test_every_argument_of_an_assistant_is_told() -> None:
    told = {word for row in table(PYTHON, "Assistant") for word in re.findall(r"\w+", row)}

    assert told == set(inspect.signature(Assistant).parameters)


def test_every_stage_of_a_pipeline_is_told() -> None:
    text = PYTHON.read_text("utf-8")

    assert [name for name in Pipeline.__struct_fields__ if name not in text] == []


def test_every_error_is_told_with_its_code() -> None:
    tree = {
        name: [f"`{kind.code}`"]
        for name, kind in vars(errors).items()
        if isinstance(kind, type) and name != "ProlocutorError"
    }

    assert {name: row[:1] for name, row in table(PYTHON, "Errors").items()} == tree


async def test_every_address_is_told_with_who_may_come() -> None:
    async with Assistant(
        Pipeline(skills=[Service("skill", lambda request: [])]), store="memory:"
    ) as assistant:
        door = DeepPavlov(assistant)
        builtin = BuiltinRoutes(assistant, [door], InFlight(), TurnMetrics(), lambda: True)
        routes = [*builtin.routes, *door.routes]

    addresses = {
        f"{route.method if isinstance(route, Route) else 'WS'} {route.path}".replace(
            ":path}", "}"
        ): route.access
        for route in routes
    }
    assert {address: row[0] for address, row in table(REFERENCE / "http.md", "HTTP").items()} == (
        addresses
    )


async def test_every_address_of_the_almond_door_is_told_with_who_may_come() -> None:
    told = table(REFERENCE / "almond.md", "Almond")
    async with Assistant(
        Pipeline(skills=[Service("skill", lambda request: [])]), store="memory:"
    ) as assistant:
        routes = Almond(assistant).routes

    assert {address: row[0] for address, row in told.items()} == {
        f"{route.method if isinstance(route, Route) else 'WS'} {route.path}": route.access
        for route in routes
        if not isinstance(route, NotFoundText)
    }


async def test_every_address_of_the_chat_page_is_told_with_who_may_come() -> None:
    told = table(REFERENCE / "http.md", "The chat page")
    async with Assistant(
        Pipeline(skills=[Service("skill", lambda request: [])]), store="memory:"
    ) as assistant:
        routes = Page(DoorContext(assistant)).routes

    assert {address: row[0] for address, row in told.items()} == {
        f"{route.method} {route.path}".replace(":path}", "}"): route.access for route in routes
    }


@pytest.mark.parametrize(
    ("heading", "kinds"),
    [
        ("Messages", {*KINDS, "command"}),
        ("What a client sends", {"command", "parsed", "tt", "ping", "stop"}),
    ],
)
def test_every_kind_of_frame_is_told(heading: str, kinds: set[str]) -> None:
    told = table(REFERENCE / "almond.md", heading)

    assert {kind.strip("` ") for row in told for kind in row.split(",")} == kinds


def test_every_ask_is_told() -> None:
    text = (REFERENCE / "almond.md").read_text("utf-8")

    assert [ask for ask in ASK_KINDS.names() if f"`{ask}`" not in text] == []


def test_every_word_of_the_demonstration_is_told() -> None:
    told = table(REFERENCE / "almond.md", "Try a client")

    assert set(told) == WORDS


def test_every_command_and_option_is_told() -> None:
    told = (REFERENCE / "cli.md").read_text("utf-8")

    assert [words for words in options(command_line, "prolocutor") if words not in told] == []


@pytest.mark.parametrize("heading", STATES)
def test_every_field_of_the_state_is_told(heading: str) -> None:
    told = {word for row in table(STATE, heading) for word in re.findall(r"\w+", row)}

    assert told - {"anything", "else"} == set(STATES[heading])


def test_the_end_of_each_stage_is_told() -> None:
    limits = StageDeadlines.divide_deadline(5.0, None)
    stages = {
        "annotators": Stage.ANNOTATOR,
        "skill selectors": Stage.SKILL_SELECTOR,
        "skills": Stage.SKILL,
        "candidate annotators": Stage.CANDIDATE_ANNOTATOR,
        "response selectors": Stage.RESPONSE_SELECTOR,
        "last chance": Stage.LAST_CHANCE,
        "postprocessors, response annotators": Stage.POSTPROCESSOR,
    }
    told = table(ROOT / "docs" / "explanation" / "time.md", "Time")

    assert {stage: float(row[1].split()[0]) for stage, row in told.items() if stage in stages} == {
        name: pytest.approx(limits.stage_end(stage)) for name, stage in stages.items()
    }


@pytest.mark.parametrize(
    ("page", "heading", "folder"),
    [
        ("explanation/architecture.md", "The packages", "."),
        ("explanation/architecture.md", "The plug-ins", "plugins"),
        ("reference/plugins.md", "Plug-ins", "plugins"),
    ],
)
def test_every_package_is_shown(page: str, heading: str, folder: str) -> None:
    packages = {
        one.name
        for one in (ROOT / "src" / "prolocutor" / folder).iterdir()
        if one.name[0] != "_" and one.suffix in ("", ".py")
    }

    told = table(ROOT / "docs" / page, heading)

    assert {re.findall(r"[\w.]+", name)[0] for name in told} == packages


def test_the_yaml_reference_shows_every_stage() -> None:
    (whole,) = [block.text for block in blocks(YAML)]

    assert [str(stage) for stage in Stage if f"\n{stage}:" not in whole] == []


def options(command: click.Command, words: str) -> list[str]:
    """Return the commands and options there are, as the page writes them."""
    if isinstance(command, click.Group):
        context = click.Context(command)
        names = command.list_commands(context)
        found = [(name, command.get_command(context, name)) for name in names]
        return [
            option for name, each in found if each for option in options(each, f"{words} {name}")
        ]
    switches = [switch for each in command.params for switch in each.opts if switch[:2] == "--"]
    return [words, *(switch for switch in switches if switch != "--help")]
