"""What a replica tells of its database, and the files for Prometheus and Grafana that read it."""

import asyncio
import json
import math
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families

from prolocutor import Pipeline, Service
from prolocutor.assistant.assistant import Assistant
from prolocutor.observe.metrics import TurnMetrics
from prolocutor.plugins.postgresql.postgresql_store import PostgresqlStore
from prolocutor.plugins.postgresql.replicas import succession
from prolocutor.testing.store_fixtures import open_for_test
from prolocutor.web.listener import Listener
from tests.postgresql_server import PostgresqlServer, found, query

MONITORING = Path(__file__).parents[4] / "deploy" / "monitoring"
NAMES = re.compile(r"prolocutor_\w+")
LABELS = re.compile(r'(\w+)="([^"]*)"')
OF_PROMETHEUS = {("job", "prolocutor.*")}


def broken(request: Any) -> Any:
    raise ValueError


async def exposed(url: str, *, measured: bool = False) -> tuple[dict[str, float], set[str]]:
    """Return the samples without labels of a replica that had a turn, and all names and labels."""
    metrics = TurnMetrics()
    pipeline = Pipeline(skills=[Service("broken", broken)])
    async with Assistant(pipeline, store=url, observers=[metrics]) as it:
        Listener(it, [], metrics=metrics)
        await it.reply("hello", "ann")
        while measured and (
            not isinstance(it.sharing, succession.Succession) or it.sharing.standbys is None
        ):
            await it.reply("hello", "ann")
        families = [*text_string_to_metric_families(metrics.text().decode())]
    samples = [sample for family in families for sample in family.samples]
    told = {sample.name for sample in samples}
    told |= {f'{label}="{value}"' for sample in samples for label, value in sample.labels.items()}
    return {sample.name: sample.value for sample in samples if not sample.labels}, told


def expressions() -> list[str]:
    rules = yaml.safe_load((MONITORING / "alerts.yaml").read_text())
    found = [rule["expr"] for group in rules["groups"] for rule in group["rules"]]
    for panel in json.loads((MONITORING / "dashboard.json").read_text())["panels"]:
        found += [target["expr"] for target in panel["targets"]]
    return found


async def test_alerts_and_dashboard_read_what_is_there(database: str) -> None:
    _, told = await exposed(database)
    read = {name for expression in expressions() for name in NAMES.findall(expression)} - {
        "prolocutor_"
    }
    labels = {
        pair for expression in expressions() for pair in LABELS.findall(expression)
    } - OF_PROMETHEUS

    assert len(read) > 15
    assert read - told - {"prolocutor"} == set()
    assert {f'{label}="{value}"' for label, value in labels} - told == set()


async def test_standbys_are_counted_and_named(
    database: str, postgresql: PostgresqlServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(succession, "FEED_POLL", 0.01)
    before, _ = await exposed(database, measured=True)
    await query(database, "SELECT pg_create_physical_replication_slot('test', true)")
    receiver = await asyncio.create_subprocess_exec(
        *(found("pg_receivewal"), "-D", str(tmp_path)),
        *("-d", postgresql.url("postgres"), "-S", "test"),
        stderr=asyncio.subprocess.DEVNULL,
    )
    async with open_for_test(lambda: PostgresqlStore(database, durability="relaxed")) as store:
        assert isinstance(store, PostgresqlStore)
        while (await store.standbys()).connected == 0:
            assert receiver.returncode is None
        connected = await store.standbys()
        receiver.terminate()
        await receiver.wait()
        while (await store.standbys()).connected:
            pass
    await query(database, "SELECT pg_drop_replication_slot('test')")

    assert before["prolocutor_synchronous_standbys_named"] == 0
    assert before["prolocutor_standbys"] == 0
    assert math.isnan(before["prolocutor_replication_lag_seconds"])
    assert connected.named is False
    assert connected.connected == 1
    assert connected.lag is not None
