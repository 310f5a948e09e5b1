"""The files under `deploy/` are what the tools that read them take."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from prolocutor.config.file_check import check
from prolocutor.config.loading import load
from tests.nats_server import nats_program

DEPLOY = Path(__file__).parents[2] / "deploy"
COMPOSE = DEPLOY / "compose" / "compose.yaml"
TENANTS = DEPLOY / "compose" / "tenants.yaml"
CADDY = DEPLOY / "compose" / "tenants" / "Caddyfile"
HELM = DEPLOY / "helm"

VALUES = """
postgresql: {url: "postgresql://u@db/x"}
nats: {existingSecret: {name: nats}}
ingress: {enabled: true, host: talk.example}
workers:
  weather: {replicas: 2, hold: 128}
  My bot: {gpu: 1, autoscale: {enabled: true, max: 5}}
"""


def test_the_assistant_of_the_try_out_is_without_a_fault() -> None:
    environ = {"DATABASE_URL": "postgresql://db/x", "NATS_URL": "nats://t@n1", "OPERATOR_KEY": "k"}

    report = check(DEPLOY / "compose" / "assistant" / "assistant.yaml", environ)

    assert (report.faults, report.warnings) == ((), ())


def test_the_composed_system_is_three_replicas_workers_and_one_open_port() -> None:
    composed = yaml.safe_load(COMPOSE.read_text())["services"]

    published = {name: service["ports"] for name, service in composed.items() if "ports" in service}
    mounted = [mount for service in composed.values() for mount in service.get("volumes", ())]
    files = [mount.partition(":")[0] for mount in mounted if mount.startswith("./")]
    assert composed["assistant"]["deploy"]["replicas"] == 3
    assert {"db", "nats", "weather", "chat"} < set(composed)
    assert published == {"front": ["127.0.0.1:${PORT:-8080}:8080"]}
    assert all((COMPOSE.parent / file).exists() for file in files)


def test_several_assistants_are_a_service_each_that_shares_nothing() -> None:
    composed = yaml.safe_load(TENANTS.read_text())["services"]
    front = composed.pop("front")

    for name, service in composed.items():
        file = DEPLOY / "compose" / "tenants" / name / "assistant.yaml"
        assert load(file, {"OPERATOR_KEY": "k"}).name == name
        assert service["networks"] == [name]
        assert all(name in mount for mount in service["volumes"])
        assert f"reverse_proxy {name}:4242" in CADDY.read_text()
    assert front["networks"] == [*composed]


def test_compose_takes_its_files() -> None:
    shown = tool(["docker", "compose"], ["docker-compose"], what="compose.yaml", probe="version")

    ran = run(*shown, "--file", str(COMPOSE), "config")
    run(*shown, "--file", str(TENANTS), "config")

    services = yaml.safe_load(ran.stdout)["services"]
    assert services["assistant"]["environment"]["NATS_URL"] == "nats://try-out@nats:4222"


def test_nats_takes_its_file() -> None:
    program = nats_program()

    ran = run(program, "-t", "-c", str(COMPOSE.with_name("nats.conf")), NATS_TOKEN="t")

    assert "is valid" in ran.stdout + ran.stderr


def test_helm_renders_the_chart(tmp_path: Path) -> None:
    (helm,) = tool(["helm"], what="the Helm chart", probe="version")
    values = tmp_path / "values.yaml"
    values.write_text(VALUES)

    run(helm, "lint", "--strict", str(HELM), "--values", str(values))
    ran = run(helm, "template", "mine", str(HELM), "--values", str(values))

    kinds = [made["kind"] for made in yaml.safe_load_all(ran.stdout) if made]
    assert kinds.count("Deployment") == 3
    assert "ScaledObject" in kinds
    assert "StatefulSet" not in kinds


def test_the_values_and_the_chart_are_yaml() -> None:
    chart = yaml.safe_load((HELM / "Chart.yaml").read_text())
    values = yaml.safe_load((HELM / "values.yaml").read_text())

    assert chart["apiVersion"] == "v2"
    assert "assistant.yaml" in values["files"]


@pytest.mark.parametrize("name", ["prolocutor@", "prolocutor-assistant@", "prolocutor-worker@"])
def test_systemd_takes_its_units(tmp_path: Path, name: str) -> None:
    (analyze,) = tool(["systemd-analyze"], what="the units of systemd", probe="--version")
    unit = (DEPLOY / "systemd" / f"{name}.service").read_text()
    copy = tmp_path / f"{name}one.service"
    copy.write_text(unit.replace("/opt/prolocutor/bin/prolocutor", "/bin/true"))

    ran = run(analyze, "verify", str(copy))

    assert ran.stderr == ""


def tool(*commands: list[str], what: str, probe: str) -> list[str]:
    """Return the first command that is installed and works; skip the test without one."""
    for command in commands:
        if shutil.which(command[0]) is not None:
            ran = subprocess.run([*command, probe], capture_output=True, check=False)
            if ran.returncode == 0:
                return command
    pytest.skip(f"{what} (no {' or '.join(' '.join(command) for command in commands)})")


def run(*words: str, **environ: str) -> subprocess.CompletedProcess[str]:
    """Run a program that has to succeed."""
    ran = subprocess.run(
        words, capture_output=True, text=True, check=False, env={**os.environ, **environ}
    )
    assert ran.returncode == 0, f"{ran.stdout}\n{ran.stderr}"
    return ran
