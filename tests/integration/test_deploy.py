"""The files under `deploy/` are what the tools that read them take."""

import os
import re
import shutil
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from prolocutor.config.file_check import check
from prolocutor.config.loading import load
from prolocutor.plugins.transfer.person_moves import BUCKET_COUNT
from tests.nats_server import nats_program

DEPLOY = Path(__file__).parents[2] / "deploy"
COMPOSE = DEPLOY / "compose" / "compose.yaml"
TENANTS = DEPLOY / "compose" / "tenants.yaml"
CADDY = DEPLOY / "compose" / "tenants" / "Caddyfile"
CELLS = DEPLOY / "cells"
HELM = DEPLOY / "helm"
ALERTS = DEPLOY / "monitoring" / "alerts.yaml"

TOOLS = Path(__file__).parents[2] / "build" / "helm"

LEAST = """
postgresql: {url: "postgresql://u@db/x"}
operatorKey: {value: try}
"""
WORKERS = """
postgresql: {existingSecret: {name: db}}
nats: {existingSecret: {name: nats}}
operatorKey: {existingSecret: {name: key}}
workers:
  weather: {replicas: 2, hold: 128}
  my-skill-x: {gpu: 1}
  my_skill.x: {resources: {requests: {cpu: 2}}}
  My-Skill x: {autoscale: {enabled: true, max: 5}}
  a-skill-with-a-long-name-one: {}
  a-skill-with-a-long-name-two: {}
  天気: {}
"""
OPTIONS = """
existingConfigMap: mine
postgresql: {existingSecret: {name: db}}
nats: {url: "nats://t@n"}
secrets: [keys]
env: [{name: TZ, value: UTC}]
imagePullSecrets: [{name: pull}]
podAnnotations: {some: thing}
autoscale: {enabled: true, max: 20}
monitoring: {enabled: true, labels: {release: prometheus}}
networkPolicy:
  enabled: true
  from: [{namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: ingress}}}]
  egress: [{to: [{podSelector: {}}]}]
ingress: {enabled: true, host: talk.example, tlsSecret: tls}
workers: {weather: {}}
"""
FILES = """
files: {assistant.yaml: "host: 0.0.0.0", "agents.py": ""}
postgresql: {url: "postgresql://u@db/x"}
nodeSelector: {disk: fast}
tolerations: [{key: only, operator: Exists}]
affinity: {podAntiAffinity: {}}
service: {type: LoadBalancer, port: 443}
"""

# What validates a rendered chart with the schemas of Kubernetes, and prints what it has none for.
VALIDATE = """
import sys, yaml
from kubernetes_validate import SchemaNotFoundError, validate
for made in yaml.safe_load_all(sys.stdin):
    try:
        validate(made, "1.35", strict=True)
    except SchemaNotFoundError:
        print(made["kind"])
"""


# The same for what operators add to Kubernetes; a key that their models do not have is printed too.
OPERATORS = """
import sys, yaml
from cloudcoil.models.keda import v1alpha1
from cloudcoil.models.prometheus_operator import v1

def unknown(made, read):
    if isinstance(made, dict):
        yield from (key for key in made if key not in read)
        pairs = [(made[key], read[key]) for key in made if key in read]
    else:
        pairs = list(zip(made, read)) if isinstance(made, list) else []
    for pair in pairs:
        yield from unknown(*pair)

kinds = {"PrometheusRule": v1, "ServiceMonitor": v1, "ScaledObject": v1alpha1}
for made in yaml.safe_load_all(sys.stdin):
    if made["kind"] in kinds:
        model = getattr(kinds[made["kind"]], made["kind"])
        read = model.model_validate(made).model_dump(by_alias=True, mode="json")
        print(made["kind"], *unknown(made, read))
"""


def test_the_assistant_of_the_try_out_is_without_a_fault() -> None:
    environ = {"DATABASE_URL": "postgresql://db/x", "NATS_URL": "nats://t@n1", "OPERATOR_KEY": "k"}

    report = check(DEPLOY / "compose" / "assistant" / "assistant.yaml", environ)

    assert report.faults == ()
    assert report.warnings == ()


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


@pytest.mark.parametrize("values", [LEAST, WORKERS, OPTIONS, FILES])
def test_kubernetes_takes_the_chart(tmp_path: Path, values: str) -> None:
    rendered = render(tmp_path, values)

    if not (TOOLS / "site").exists():
        pytest.skip("the schemas of Kubernetes (make helm installs them)")
    ran = subprocess.run(
        [sys.executable, "-c", VALIDATE],
        input=yaml.safe_dump_all(rendered),
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(TOOLS / "site")},
    )
    assert ran.returncode == 0
    assert ran.stderr == ""
    assert set(ran.stdout.split()) <= {"PrometheusRule", "ScaledObject", "ServiceMonitor"}


def test_operators_take_what_the_chart_makes_for_them(tmp_path: Path) -> None:
    rendered = render(
        tmp_path, OPTIONS.replace("weather: {}", "weather: {autoscale: {enabled: true}}")
    )

    if not (TOOLS / "operators").exists():
        pytest.skip("the models of Prometheus' operator and KEDA (make helm installs them)")
    ran = subprocess.run(
        [sys.executable, "-c", OPERATORS],
        input=yaml.safe_dump_all(rendered),
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(TOOLS / "operators")},
    )
    assert ran.returncode == 0
    assert ran.stderr == ""
    assert sorted(ran.stdout.splitlines()) == ["PrometheusRule", "ScaledObject", "ServiceMonitor"]


def test_workers_have_names_of_their_own_and_neither_database_nor_key(tmp_path: Path) -> None:
    replica, *workers = of_kind("Deployment", render(tmp_path, WORKERS))

    names = [worker["metadata"]["name"] for worker in workers]
    assert len(set(names)) == len(yaml.safe_load(WORKERS)["workers"])
    assert all(re.fullmatch(r"[a-z0-9-]{1,63}", name) for name in names)
    assert {"mine-prolocutor-weather", "mine-prolocutor-my-skill-x"} < set(names)
    for worker in workers:
        environment = {one["name"]: one for one in container(worker)["env"]}
        assert environment["DATABASE_URL"]["value"] == "memory:"
        assert "valueFrom" not in environment["OPERATOR_KEY"]
    assert "valueFrom" in {one["name"]: one for one in container(replica)["env"]}["DATABASE_URL"]


def test_all_pods_have_resources_a_budget_and_are_spread(tmp_path: Path) -> None:
    rendered = render(tmp_path, WORKERS)

    budgets = [one["spec"]["selector"] for one in of_kind("PodDisruptionBudget", rendered)]
    for made in of_kind("Deployment", rendered):
        spec = made["spec"]["template"]["spec"]
        assert made["spec"]["selector"] in budgets
        assert container(made)["resources"]["requests"]
        for one in spec["topologySpreadConstraints"]:
            assert one["labelSelector"] == made["spec"]["selector"]


def test_an_autoscaler_alone_says_how_many_replicas_there_are(tmp_path: Path) -> None:
    rendered = render(tmp_path, OPTIONS)

    (scaler,) = of_kind("HorizontalPodAutoscaler", rendered)
    replica = of_kind("Deployment", rendered)[0]
    assert scaler["spec"]["scaleTargetRef"]["name"] == replica["metadata"]["name"]
    assert "replicas" not in replica["spec"]


def test_without_a_key_of_operators_the_chart_says_what_to_set(tmp_path: Path) -> None:
    refused = render(tmp_path, LEAST.replace("value: try", ""), fails=True)

    assert "set operatorKey.existingSecret.name" in refused


def test_the_chart_has_the_alert_rules(tmp_path: Path) -> None:
    rendered = render(tmp_path, OPTIONS)

    (rule,), (monitor,) = of_kind("PrometheusRule", rendered), of_kind("ServiceMonitor", rendered)
    (metrics,) = (made for made in of_kind("Service", rendered) if "clusterIP" in made["spec"])
    assert rule["spec"] == yaml.safe_load(ALERTS.read_text())
    assert (
        metrics["metadata"]["labels"].items() >= monitor["spec"]["selector"]["matchLabels"].items()
    )


def test_prometheus_takes_the_alert_rules() -> None:
    (promtool,) = tool(["promtool"], what="the alert rules", probe="--version")

    run(promtool, "check", "rules", str(ALERTS))


@pytest.mark.parametrize("file", [CADDY, COMPOSE.with_name("Caddyfile")])
def test_caddy_takes_its_files(file: Path) -> None:
    (caddy,) = tool([str(TOOLS / "site/bin/caddy")], what="the Caddyfiles", probe="version")

    run(caddy, "adapt", "--config", str(file), "--validate", "--adapter", "caddyfile")


def test_haproxy_takes_its_file_and_the_maps_name_each_bucket_once() -> None:
    (haproxy,) = tool(["haproxy"], ["/usr/sbin/haproxy"], what="the router of cells", probe="-v")
    environ = {"ADDRESS": ":8080", "ADMIN_SOCKET": "/tmp/x.sock", "CELL0": "::1", "CELL1": "::1"}

    run(haproxy, "-c", "-f", str(CELLS / "haproxy.cfg"), MAPS=str(CELLS), **environ)

    lines = (CELLS / "buckets.map").read_text("utf-8").splitlines()
    ranges = [line.split()[0].split(":") for line in lines]
    buckets = [n for low, high in ranges for n in range(int(low), int(high) + 1)]
    assert buckets == [*range(BUCKET_COUNT)]


def test_patroni_takes_its_file(tmp_path: Path) -> None:
    (patroni,) = tool(["patroni"], what="the file of Patroni", probe="--version")
    with socket.create_server(("127.0.0.1", 0)) as etcd, socket.socket() as free:
        free.bind(("127.0.0.11", 0))
        address = f"127.0.0.11:{free.getsockname()[1]}"
        free.close()
        environ = {
            "PATRONI_NAME": "db1",
            "PATRONI_ETCD3_HOSTS": f"127.0.0.1:{etcd.getsockname()[1]}",
            "PATRONI_SUPERUSER_PASSWORD": "a",
            "PATRONI_REPLICATION_PASSWORD": "b",
            "PATRONI_POSTGRESQL_DATA_DIR": str(tmp_path / "data"),
        }
        for what in ("RESTAPI", "POSTGRESQL"):
            environ[f"PATRONI_{what}_LISTEN"] = environ[f"PATRONI_{what}_CONNECT_ADDRESS"] = address

        run(patroni, "--validate-config", str(DEPLOY / "patroni" / "patroni.yaml"), **environ)


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


def render(tmp_path: Path, values: str, *, fails: bool = False) -> Any:
    """Return what the chart makes of values, or what is said where that fails."""
    (helm,) = tool([str(TOOLS / "helm")], ["helm"], what="the Helm chart", probe="version")
    file = tmp_path / "values.yaml"
    file.write_text(values)
    words = [str(HELM), "--values", str(file)]
    if fails:
        ran = subprocess.run([helm, "template", "mine", *words], capture_output=True, check=False)
        assert ran.returncode != 0
        return ran.stderr.decode()
    run(helm, "lint", "--strict", *words)
    ran = run(helm, "template", "mine", *words)
    return [made for made in yaml.safe_load_all(ran.stdout) if made]


def of_kind(kind: str, rendered: list[Any]) -> list[Any]:
    return [made for made in rendered if made["kind"] == kind]


def container(made: Any) -> Any:
    (one,) = made["spec"]["template"]["spec"]["containers"]
    return one


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
