"""`prolocutor replicas` as a table, and where there can be none."""

from click.testing import CliRunner

from prolocutor.errors import ConfigError
from prolocutor.plugins.postgresql.replicas.replicas_command import (
    ReplicaOverview,
    WorkerGroup,
    overview_lines,
    replicas,
)
from prolocutor.plugins.postgresql.replicas.shared_store import ReplicaStatus


def test_who_lives_is_a_table() -> None:
    found = ReplicaOverview(
        replicas=[
            ReplicaStatus(number=3, url="http://a:1", joined=0.0, left=2.25, open_turns=1_200),
            ReplicaStatus(number=4, url="", joined=0.0, left=-1.0, waiting=2),
            ReplicaStatus(number=1, url="http://b\x1b:1", joined=0.0, left=-9.0, dead=True),
        ],
        workers=[WorkerGroup(service="weather", assistant="a", workers=2, held=3, hold=128)],
    )

    assert list(overview_lines(found)) == [
        " replica  state          open turns  waiting  took over  since",
        "       3  lives 2.2 s         1,200        0          0  1970-01-01 00:00:00  http://a:1",
        "       4  late 1.0 s              0        2          0  1970-01-01 00:00:00",
        "       1  dead                    0        0          0  1970-01-01 00:00:00  http://b :1",
        "",
        "service              workers    held      of       calls    busy    late",
        "weather                    2       3     128           0       0       0",
    ]
    assert list(overview_lines(ReplicaOverview(replicas=[], workers=[]))) == [
        "No replica has joined.",
        "",
        "No worker answers.",
    ]


def test_a_store_of_one_process_has_no_replicas() -> None:
    ran = CliRunner().invoke(replicas, ["--store", "memory:"])

    assert isinstance(ran.exception, ConfigError)
    assert "belongs to one process" in str(ran.exception)
