"""A URL of a PostgreSQL store that cannot be meant is an error that never shows the password."""

import pytest

from prolocutor.errors import ConfigError
from prolocutor.plugins.postgresql.store_url import parse


@pytest.mark.parametrize(
    ("url", "what"),
    [
        ("postgresql:", "names no database"),
        ("postgresql://", "names no database"),
        ("postgresql://ann:secret@host", "names no database"),
        ("postgresql://ann:secret@host/", "names no database"),
        ("postgresql://ann:secret@host:99999/db", "'99999' is not a port"),
        ("postgresql://ann:secret@host:x/db", "'x' is not a port"),
        ("postgresql://ann:secret@one,two:0/db", "'0' is not a port"),
        ("postgresql://ann:secret@host/db?sslmod=x", "sslmode"),
        ("postgresql://ann:secret@host/db?target_session_attrs=read", "target_session_attrs is"),
        ("postgresql://ann:secret@host/db?connect_timeout=soon", "number of seconds"),
        ("postgresql://ann:sec@ret@host/db", "%40"),
        ("postgresql://ann:sec#secret@host/db", "%23"),
        ("postgresql://ann:sec/secret@host/db", "%2F"),
        ("postgresql://ann:sec?secret@host/db", "%3F"),
        ("postgresql://ann:secret@host/db?schema=My", "a schema has up to 40 lower-case"),
        ("postgresql://ann:secret@host/db?schema=pg_x", "does not begin pg_"),
        ("postgresql://ann@host/db?password=secret&x=1", "no option 'x'"),
    ],
)
def test_a_wrong_url_says_what_is_wrong(url: str, what: str) -> None:
    with pytest.raises(ConfigError, match=what) as raised:
        parse(url)

    assert "sec" not in str(raised.value).replace("seconds", "")


def test_each_host_is_tried_with_the_same_options() -> None:
    url = parse("postgresql://ann:p%40ss@one,[::1]:5433/my%20db?target_session_attrs=read-write")

    assert parse("postgresql://host/db?password=a@b").servers == (
        "postgresql://host/db?password=a%40b",
    )
    assert url.servers == (
        "postgresql://ann:p%40ss@one/my%20db?target_session_attrs=read-write",
        "postgresql://ann:p%40ss@[::1]:5433/my%20db?target_session_attrs=read-write",
    )
    assert url.database == "my db"
    assert url.connect_timeout == 3.0
    assert url.shown == "postgresql://ann@one,[::1]:5433/my%20db?target_session_attrs=read-write"


def test_a_schema_is_searched_alone() -> None:
    url = parse("postgresql://ann@host/db?schema=acme")

    assert url.schema == "acme"
    assert url.servers == ("postgresql://ann@host/db?search_path=acme",)
    assert url.shown == "postgresql://ann@host/db?schema=acme"
