"""A file with `tenants:` names assistants, and what stands in for the settings of their files."""

from pathlib import Path

import pytest

from prolocutor.config.faults import ConfigFaults
from prolocutor.config.tenants_check import check_tenants
from prolocutor.config.tenants_file import is_tenants_file, load_tenants, shared_by
from prolocutor.errors import ConfigError

OWN = "skills: {echo: {call: 'tenant_agents:answer'}}\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("acme", "beta"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "assistant.yaml").write_text(OWN)
        (tmp_path / name / "tenant_agents.py").write_text(
            f"def answer(request): return {name!r}\n" if name == "acme" else "answer = 1\n"
        )
    (tmp_path / "nested.yaml").write_text("tenants: {a: acme}\n")
    return tmp_path


def write(folder: Path, text: str) -> Path:
    file = folder / "tenants.yaml"
    file.write_text(text)
    return file


def test_what_a_tenant_is_given_stands_in_for_its_file(folder: Path) -> None:
    file = write(
        folder,
        """
host: 0.0.0.0
auth: {keys: [root]}
limits: {connections: 7}
trusted_proxies: 10.0.0.1
tenants:
  acme: acme
  beta:
    assistant: beta/assistant.yaml
    hosts: [Beta.Example.org]
    store: sqlite:///b.db
    auth: {tokens: {t: ann}}
    limits: {text: 50, person: {turns: 3}}
""",
    )

    server = load_tenants(file)
    acme, beta = (server.settings_of(entry) for entry in server.tenants)

    assert [is_tenants_file(one) for one in (file, server.tenants[0].assistant)] == [True, False]
    assert (server.host, server.auth.keys, server.limits.connections) == (
        "0.0.0.0",
        {"root": ""},
        7,
    )
    assert server.tenants[1].hosts == ("beta.example.org",)
    assert (acme.name, acme.store, acme.auth.tokens) == ("acme", None, {})
    assert (beta.name, beta.store) == ("beta", f"sqlite:///{folder}/b.db")
    assert (beta.auth.tokens, beta.max_text, beta.limits.person.turns) == ({"t": "ann"}, 50, 3)
    assert acme.trusted_proxies == beta.trusted_proxies == ["10.0.0.1"]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("tenants: {Acme: acme}", "1: tenants.Acme: expected a tenant's name of lower-case"),
        ("tenants: {acme: nowhere}", "1: tenants.acme: there is no file nowhere"),
        ("tenants:\n", "1: tenants: there is no tenant here"),
        ("tenants: {a: acme}\nskills: {}", "2: skills: belongs into the file of each tenant's"),
        ("tenants: {a: {file: acme}}", "unknown key; did you mean 'assistant'?"),
        ("tenants:\n  a: acme\n  b: {assistant: beta, hosts: a.localhost}", "3: tenants.b.hosts:"),
        ("tenants:\n  a: {assistant: acme, auth: {tokens: {secret: 3}}}", "a.auth.tokens: "),
        ("limits: {text: 3}\ntenants: {a: acme}", "1: limits.text: unknown key"),
    ],
)
def test_a_fault_is_named_with_its_line_and_key(folder: Path, text: str, line: str) -> None:
    with pytest.raises(ConfigFaults) as caught:
        load_tenants(write(folder, text))

    assert line in str(caught.value)
    assert "secret" not in str(caught.value)


def test_tenants_have_no_tenants(folder: Path) -> None:
    server = load_tenants(write(folder, "tenants: {a: nested.yaml}"))

    with pytest.raises(ConfigError, match="this is a server of tenants"):
        server.settings_of(server.tenants[0])


def test_a_store_and_subjects_of_nats_are_of_one_tenant(folder: Path) -> None:
    (folder / "link.db").symlink_to(folder / "a.db")
    for name in ("acme", "beta"):
        with (folder / name / "assistant.yaml").open("a") as file:
            file.write("messages: nats://n1\nname: same\n")
    server = load_tenants(
        write(
            folder,
            """
tenants:
  acme: {assistant: acme, store: "sqlite:///a.db"}
  beta: {assistant: beta, store: "sqlite:///link.db"}
""",
        )
    )
    settings = {entry.name: server.settings_of(entry) for entry in server.tenants}

    assert list(shared_by(settings)) == [
        ("beta", "has the same store as the tenant acme"),
        ("beta", "has the same name of the assistant at the same NATS servers as the tenant acme"),
    ]


def test_check_imports_the_modules_of_each_tenant_and_tells_who_cannot_come_in(
    folder: Path,
) -> None:
    reports = check_tenants(
        write(folder, "auth: {keys: [root]}\ntenants:\n  acme: acme\n  beta: beta\n")
    )

    (fault,) = reports["beta"].faults
    assert (fault.key, fault.line) == ("skills.echo.call", 1)
    assert fault.what.endswith("this is of type int, which cannot be called")
    assert reports["acme"].ok
    assert "nobody gets in to this one without auth.keys" in str(reports["acme"].warnings[0])
