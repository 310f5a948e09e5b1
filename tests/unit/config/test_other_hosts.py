"""Services at other hosts than the file says."""

from __future__ import annotations

from pathlib import Path

import pytest

from prolocutor.config.other_hosts import read_hosts, replace_hosts
from prolocutor.errors import ConfigError
from prolocutor.plan.pipeline import Pipeline, Service, Stage

PIPELINE = Pipeline(skills=[Service("a", "http://a:80/x?y=1"), Service("b", "m:f")])


def test_one_host_takes_all_urls_with_their_ports_and_paths() -> None:
    moved = replace_hosts(PIPELINE, "127.0.0.1")

    assert [one.target for one in moved.services_at(Stage.SKILL)] == [
        "http://127.0.0.1:80/x?y=1",
        "m:f",
    ]


def test_a_map_moves_the_hosts_that_it_names() -> None:
    moved = replace_hosts(PIPELINE, {"a:80": "https://b/base/", "c:1": "http://d"})

    assert moved.services_at(Stage.SKILL)[0].target == "https://b/base/x?y=1"


def test_a_map_is_read_from_a_json_file(tmp_path: Path) -> None:
    file = tmp_path / "hosts.json"
    file.write_text('{"a:80": "http://b"}')

    assert read_hosts(str(file)) == {"a:80": "http://b"}


def test_a_map_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"hosts\.json: expected"):
        read_hosts(str(tmp_path / "hosts.json"))


@pytest.mark.parametrize(
    ("given", "host"), [("127.0.0.1", "127.0.0.1"), ("::1", "[::1]"), ("[::1]", "[::1]")]
)
def test_a_host_may_be_an_address(given: str, host: str) -> None:
    assert read_hosts(given) == host


@pytest.mark.parametrize("given", ["", "a b", "127.0.0.1:80", "http://a"])
def test_what_is_no_host_is_refused(given: str) -> None:
    with pytest.raises(ConfigError, match="expected a host without a port"):
        read_hosts(given)


def test_a_map_without_urls_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "hosts.json"
    file.write_text('{"a:80": "b:81"}')

    with pytest.raises(ConfigError, match="a:80: expected a URL of http or https, found 'b:81'"):
        read_hosts(str(file))


def test_a_map_may_name_the_usual_port() -> None:
    pipeline = Pipeline(skills=[Service("a", "http://a/x")])

    moved = replace_hosts(pipeline, {"a:80": "http://b:81"})

    assert moved.services_at(Stage.SKILL)[0].target == "http://b:81/x"
