"""From a file to settings."""

from pathlib import Path
from typing import Any

import msgspec
import pytest

from prolocutor.config.file_keys import file_table
from prolocutor.config.loading import load
from prolocutor.config.service_entries import service_table
from prolocutor.config.settings import Limits, ProcessTarget, Settings
from prolocutor.config.struct_fields import struct_table
from prolocutor.config.yaml_file import ConfigFaults
from prolocutor.errors import ConfigError
from prolocutor.plan.pipeline import (
    Breaker,
    Call,
    Canary,
    LastChance,
    Pipeline,
    Service,
    Shadow,
    Skill,
    Stage,
)
from prolocutor.processes.supervisor import ProcessCommand

FOLDER = Path(__file__).parents[2] / "data" / "config"
SKILL = "skills: {echo: 'echoes:echo'}\n"


def test_one_skill_is_an_assistant() -> None:
    settings = load(FOLDER / "minimal.yaml")

    assert settings.pipeline.services_at(Stage.SKILL) == (Skill("echoes:echo", name="echo"),)
    assert settings.pipeline.skill_selector is None
    assert settings.deadline == 5.0
    assert settings.port == 4242
    assert settings.host == "127.0.0.1"


def test_the_full_file_uses_every_key_there_is() -> None:
    text = (FOLDER / "full.yaml").read_text()

    tables = [
        file_table(),
        *map(service_table, Stage),
        struct_table(Limits),
        struct_table(ProcessCommand),
    ]
    keys = {key for table in tables for key in table.keys}
    assert {key for key in keys if f"{key}:" not in text} == set()


def test_the_full_file_is_read_to_the_letter() -> None:
    settings = load(FOLDER / "full.yaml", environ={"PROLOCUTOR_PORT": "8080"})

    units = settings.pipeline.services_at(Stage.SKILL)[1]
    assert units == Skill(
        ProcessTarget("units", "/answer"),
        name="units",
        after=["spelling", "rules"],
        requires=["rules"],
        max_in_flight=8,
        canary=Canary(agent="units", instead_of="echo", share=0.2),
        shadow=Shadow(calls_per_minute=6, cost_per_day=2.0),
        breaker=Breaker(failures=3, window=20.0, cooldown=5.0),
        card={"description": "Converts units", "examples": ["3 miles in km", "12 in"]},
        icon=str(FOLDER / "units.png"),
    )
    assert settings.port == 8080
    assert settings.auth.keys == {"operator": ""}
    assert settings.auth.tokens == {"ann-token": "ann"}
    assert set(settings.doors or ()) == {"deeppavlov", "parlai"}
    assert settings.processes["units"] == ProcessCommand(
        ["python", "-m", "unit_server"], port=0, health="/health"
    )
    assert settings.pipeline.services_at(Stage.SKILL)[2].last is None
    assert settings.pipeline.last_chance == LastChance("echoes:echo", name="last_chance")


def test_selectors_are_named_after_their_stage_and_numbered_in_a_list(tmp_path: Path) -> None:
    one = _load(tmp_path, f"{SKILL}skill_selector: echoes:select\n")
    many = _load(
        tmp_path, f"{SKILL}skill_selector: ['a:b', {{call: 'a:c', name: rules}}, {{call: 'a:d'}}]\n"
    )

    assert _names(one, Stage.SKILL_SELECTOR) == ["skill_selector"]
    assert _names(many, Stage.SKILL_SELECTOR) == ["skill_selector_1", "rules", "skill_selector_3"]


def test_what_selectors_wait_for_is_complained_about_at_their_place(tmp_path: Path) -> None:
    text = f"{SKILL}skill_selector:\n  - a:b\n  - call: a:c\n    name: rules\n    after: [nobody]\n"

    assert _faults(tmp_path, text) == [
        (6, "skill_selector[1].after", "no service or stage is called 'nobody'")
    ]


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("sqlite:///dialogs.db", "sqlite:///{folder}/dialogs.db"),
        ("sqlite:///data/dialogs.db", "sqlite:///{folder}/data/dialogs.db"),
        ("sqlite:////var/dialogs.db", "sqlite:////var/dialogs.db"),
        ("'memory:'", "memory:"),
        ("memory", "memory"),
        ("postgresql:///dialogs", "postgresql:///dialogs"),
    ],
)
def test_a_relative_store_lies_beside_the_file(tmp_path: Path, written: str, meant: str) -> None:
    settings = _load(tmp_path, f"store: {written}\n{SKILL}")

    assert settings.store == meant.format(folder=tmp_path)


def test_processes_become_addresses_once_they_run(tmp_path: Path) -> None:
    settings = _load(
        tmp_path,
        "processes: {books: {run: python -m books}}\n"
        "skills: {books: {call: {process: books, path: /answer}}, echo: 'a:b'}\n"
        "last_chance: {call: {process: books}}\n",
    )

    pipeline = settings.resolve_processes({"books": "http://127.0.0.1:8001"})

    assert [service.target for service in pipeline.services_at(Stage.SKILL)] == [
        "http://127.0.0.1:8001/answer",
        "a:b",
    ]
    assert pipeline.last_chance == LastChance("http://127.0.0.1:8001/", name="last_chance")
    assert settings.pipeline.services_at(Stage.SKILL)[0].target == ProcessTarget("books", "/answer")


def test_a_process_without_an_address_is_named(tmp_path: Path) -> None:
    settings = Settings(pipeline=Pipeline(skills=[Service("books", ProcessTarget("books"))]))

    with pytest.raises(ConfigError, match="the process 'books' of 'books' is not running"):
        settings.resolve_processes({})


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("deadline: '5'", "expected a number of seconds, found '5'"),
        ("deadline: 8s", "expected a number of seconds, found '8s': write 8"),
        ("deadline: 1500ms", "expected a number of seconds, found '1500ms': write 1.5"),
        ("deadline: true", "expected a number of seconds, found true"),
        ("deadline: .nan", "expected a number of seconds that is finite, found nan"),
        ("deadline: .inf", "expected a number of seconds of at most 86400, found inf"),
        ("deadline:", "expected a number of seconds, found nothing"),
        ("reserve: 5", "the reserve must be shorter than the deadline of 5 s"),
        ("auth: {anonymous: true, loopback: true}", "with auth.anonymous strangers come in"),
        ("auth: {keys: [k], loopback: true}\nhost: 0.0.0.0", "with the host 0.0.0.0"),
        ("port: 80.5", "expected a port, found 80.5"),
        ("port: [80]", "expected a port, found a list"),
        ("host: http://here", "expected a host's name or address, found 'http://here'"),
        ("name: ''", "expected a name, found ''"),
        ("name: 7", "expected a name (put it in quotes), found 7"),
        ("fallback: ''", "at least one character, found ''; leave the key out for its default"),
        ("fallback: {a: b}", "expected text, found a map"),
        ("store: dialogs.db", "expected a store's URL such as sqlite:///dialogs.db, found"),
        ("limits: {bodies: 7}", "unknown key; did you mean 'body'?"),
        ("limits: 7", "expected a map, found 7"),
        (
            "auth: {keys: hello}",
            "expected a list of keys, or a map from operators to their keys, found something else",
        ),
        ("auth: {keys: [12345]}", "expected a key, found a number: put it in quotes"),
        ("auth: {anonymous: maybe}", "expected true or false, found 'maybe'"),
        ("processes: {books: {port: 1}}", "the key run is missing"),
        ("processes: {books: python}", "expected a process ({run: ...}), found 'python'"),
        ("processes: {books: {run: []}}", "expected a command: a line, or a list of words"),
        ("processes: {a b: {run: x}}", "expected a name of letters, digits, _ and -"),
        ("doors: chat", "expected a list of doors, or a map from doors to their options"),
        ("zzz: 1", "unknown key; known keys are annotators, asks, auth,"),
        ("skill_selector: 7", "expected a service or a list of services, found 7"),
        ("annotators: ['a:b']", "expected a map from names to services, found a list"),
        ("annotators: {a/b: 'a:b'}", "expected a name of up to 100 letters"),
        ("annotators: {a: {call: 'a:b', name: c}}", "the name of a service here is its own key"),
        ("annotators: {a: }", "expected a service ({call: ...}), found nothing"),
        ("annotators: {a: {timeout: 1}}", "the key call is missing; give call: module:function"),
        ("annotators: {a: b}", "expected module:function, a URL, or {process: NAME, path: /...}"),
        ("annotators: {a: 'b:c d'}", "expected module:function, a URL"),
        (
            "annotators: {a: 'ftp://host/x'}",
            "expected a URL of http, https, nats or tls, found ftp://",
        ),
        ("annotators: {a: 'http://host:x/'}", "'http://host:x/' is not a URL: Port could not"),
        ("annotators: {a: {call: {process: p}}}", "no process is called 'p'; the file has no"),
        ("annotators: {a: {call: {proces: p}}}", "the key process is missing"),
        (
            "annotators: {a: {call: 'http://h', inline: true}}",
            "it is for the connector python alone",
        ),
        (
            "annotators: {a: {call: 'http://h', process: true}}",
            "it is for the connector python alone",
        ),
        (
            "annotators: {a: {call: 'http://h/v1?model=m', connector: openai_chat, key: k}}",
            "options of the connector openai_chat stand in call; write call: {url: ..., key: ...}",
        ),
        (
            "annotators: {a: {url: 'http://h/v1', connector: openai_chat}}",
            "options of the connector openai_chat stand in call; write call: {url: ...}",
        ),
        (
            "annotators: {a: {call: {openai_chat: {model: m}}}}",
            "found a map of openai_chat; write connector: openai_chat, call: {url: ...}",
        ),
        (
            "annotators: {a: {call: {url: 'http://h/v1', model: m}}}",
            "the key connector is missing: a call with url has the options of a connector",
        ),
        ("annotators: {a: {call: 'a:b', fan_out: true}}", "needs a formatter that gives a list"),
        ("annotators: {a: {call: 'a:b', retries: -1}}", "a whole number of attempts of at least 0"),
        ("annotators: {a: {call: 'http://h', wire: dream}}", "expected native or deeppavlov"),
        ("annotators: {a: {call: 'a:b', card: [1]}}", "expected a map, found a list"),
        ("annotators: {a: {call: 'a:b', card: {x: .nan}}}", "something that JSON can say"),
        ("annotators: {a: {call: 'a:b', after: [7]}}", "expected the name of a service or stage"),
        ("response_selector: {ranker: 7}", "expected the name of a ranker"),
        ("skill_selector: {router: cards, call: 'a:b'}", "needs connector and call; others have"),
        ("skill_selector: {router: cards, unsure: {}}", "unknown key"),
        ("response_selector: {ranker: unsupervised, budget: {}}", "unknown key"),
        ("skill_selector: {router: cards, model: 7}", "(put it in quotes), found 7"),
        ("skill_selector: {router: cards, budget: most}", "expected a budget: a map, all, top:3"),
        ("skill_selector: {router: cards, budget: [3]}", "expected a budget ({policy: ...})"),
        ("skill_selector: {router: cards, budget: top:1.5}", "a whole number of calls"),
        ("skill_selector: {router: cards, budget: {policy: al}}", "did you mean 'all'?"),
        ("skill_selector: {router: cards, budget: {sure: 2}}", "a number from 0 to 1"),
        ("skill_selector: {router: cards, budget: {calls: 0}}", "calls of at least 1"),
        ("response_selector: {ranker: unsupervised, unsure: {below: -1}}", "from 0 to 1"),
        ("skills: {a: {call: 'a:b', router: cards}}", "unknown key"),
        ("last_chance: ['a:b']", "expected a service, found a list"),
        ("'': 1", "unknown key; known keys are"),
    ],
)
def test_every_fault_says_what_was_expected_and_found(tmp_path: Path, line: str, what: str) -> None:
    faults = _faults(tmp_path, f"{line}\n{SKILL}", suggestions=True)

    assert [(number, what in text) for number, _, text in faults][:1] == [(1, True)]


@pytest.mark.parametrize("word", ["yes", "on", "true", "Yes"])
def test_a_flag_is_true_in_any_of_yamls_words(tmp_path: Path, word: str) -> None:
    settings = _load(tmp_path, f"skills: {{echo: {{call: 'a:b', inline: {word}}}}}\n")

    assert settings.pipeline.services_at(Stage.SKILL)[0].call.options == {"inline": True}


def test_a_connector_says_what_a_call_is(tmp_path: Path) -> None:
    settings = _load(tmp_path, "skills: {a: {call: './bot --fast', connector: command}}\n")

    folder = {"folder": str(tmp_path)}
    assert settings.pipeline.services_at(Stage.SKILL)[0].call == Call(
        "./bot --fast", "command", folder
    )


def test_every_fault_of_the_pipeline_is_found_not_only_the_first(tmp_path: Path) -> None:
    text = (
        "skills:\n  a: {call: 'm:f', after: [x], requires: [y]}\n"
        "  b: {call: 'm:f', after: [c]}\n  c: {call: 'm:f', after: [b]}\n"
    )

    assert [(line, key) for line, key, _ in _faults(tmp_path, text)] == [
        (2, "skills.a.after"),
        (2, "skills.a.requires"),
        (3, "skills.b.after"),
    ]


def test_json_without_services_is_no_pipeline_file(tmp_path: Path) -> None:
    file = tmp_path / "pipeline_conf.json"
    file.write_text('{"skills": {}}')

    with pytest.raises(ConfigFaults, match="no key services"):
        load(file)


def test_a_file_of_several_assistants_is_refused_and_names_the_page(tmp_path: Path) -> None:
    ((line, key, what),) = _faults(tmp_path, "port: 1\ntenants:\n  a: a/assistant.yaml\n")

    assert line == 2
    assert key == "tenants"
    assert "/howto/tenants/" in what


def test_secrets_do_not_show_in_the_settings(tmp_path: Path) -> None:
    settings = _load(tmp_path, f"auth: {{keys: [s3cret], tokens: {{t0ken: ann}}}}\n{SKILL}")

    assert settings.auth.keys == {"s3cret": ""}
    assert "s3cret" not in repr(settings)
    assert "t0ken" not in repr(settings)


def test_operators_may_have_names(tmp_path: Path) -> None:
    settings = _load(tmp_path, f"auth: {{keys: {{eve: s3cret, bob: other}}}}\n{SKILL}")

    assert settings.auth.keys == {"s3cret": "eve", "other": "bob"}


def test_a_token_that_stands_twice_is_not_shown(tmp_path: Path) -> None:
    text = f"auth:\n  tokens:\n    t0ken: ann\n    t0ken: bob\n{SKILL}"

    assert [(line, key) for line, key, _ in _faults(tmp_path, text)] == [(4, "auth.tokens")]


def test_settings_are_never_changed_in_place() -> None:
    with pytest.raises(AttributeError):
        load(FOLDER / "minimal.yaml").port = 1  # type: ignore[misc]


def test_settings_can_be_replaced_one_by_one() -> None:
    settings = msgspec.structs.replace(load(FOLDER / "minimal.yaml"), port=0)

    assert settings.port == 0


def _load(folder: Path, text: str) -> Settings:
    file = folder / "assistant.yaml"
    file.write_text(text, encoding="utf-8")
    return load(file, environ={})


def _faults(
    folder: Path, text: str, *, suggestions: bool = False
) -> list[tuple[int | None, str | None, str]]:
    with pytest.raises(ConfigFaults) as caught:
        _load(folder, text)
    return [
        (fault.line, fault.key, str(fault) if suggestions else fault.what)
        for fault in caught.value.faults
    ]


def _names(settings: Settings, stage: Stage) -> list[Any]:
    return [service.name for service in settings.pipeline.services_at(stage)]
