from typing import Any

import pytest

from prolocutor.errors import ConfigError
from prolocutor.plugins.nats import wire
from prolocutor.plugins.nats.nats_address import NatsServers, read_call, read_servers


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("nats://n1", {"hosts": ("n1:4222",)}),
        ("nats://n1:1,n2,[::1]:3/", {"hosts": ("n1:1", "n2:4222", "[::1]:3")}),
        ("nats://n1,nats://n2:5", {"hosts": ("n1:4222", "n2:5")}),
        (
            "tls://u:p%40%2C@n1,n2",
            {"hosts": ("n1:4222", "n2:4222"), "tls": True, "user": "u", "password": "p@,"},
        ),
        ("nats://s%2Fecret@n1", {"hosts": ("n1:4222",), "token": "s/ecret"}),
        ("nats://n1?ca=/a.pem&creds=/b", {"hosts": ("n1:4222",), "ca": "/a.pem", "creds": "/b"}),
    ],
)
def test_servers_are_read(url: str, expected: dict[str, Any]) -> None:
    assert read_servers(url) == NatsServers(**expected)


@pytest.mark.parametrize(
    ("url", "service", "hosts"),
    [
        ("nats://weather", "weather", None),
        ("nats://my%20weather/", "my weather", None),
        ("nats://a.b", "a.b", None),
        ("nats://n1/weather", "weather", "n1:4222"),
        ("nats://u:p@n1,n2:5/weather?ca=/x", "weather", "n1:4222,n2:5"),
    ],
)
def test_calls_are_read(url: str, service: str, hosts: str | None) -> None:
    call = read_call(url)

    assert call.service == service
    assert (call.servers and str(call.servers)) == hosts


@pytest.mark.parametrize(
    "url",
    [
        "",
        "n1",
        "http://n1",
        "nats://",
        "nats://u:secret@",
        "nats://u:secret@n1:x",
        "nats://secret@n1/path",
        "nats://secret@n1?psw=secret",
        "nats://u:secret@n1,,n2",
    ],
)
def test_what_is_no_url_of_servers_is_refused_without_its_secrets(url: str) -> None:
    with pytest.raises(ConfigError) as error:
        read_servers(url)

    assert "secret" not in str(error.value)


@pytest.mark.parametrize(
    "url", ["nats://n1:4222", "nats://u:secret@n1", "tls://n1", "nats:///weather"]
)
def test_a_call_that_names_no_service_is_refused(url: str) -> None:
    with pytest.raises(ConfigError) as error:
        read_call(url)

    assert "secret" not in str(error.value)


def test_servers_are_shown_without_credentials() -> None:
    servers = read_servers("nats://ann:secret@n1,n2")

    assert f"{servers} {servers!r}" == "n1:4222,n2:4222 <NatsServers n1:4222,n2:4222>"


def test_names_are_one_token_of_a_subject() -> None:
    names = ["weather", "a.b c", "*", ">", "погода", "~x"]

    subjects = [wire.call_subject("My bot", name) for name in names]

    assert subjects[0] == "prolocutor.My%20bot.call.weather"
    assert len(set(subjects)) == len(names)
    assert all(subject.count(".") == 3 and subject.isascii() for subject in subjects)
    assert not any(sign in "".join(subjects) for sign in " *>~")
