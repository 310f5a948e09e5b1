from pathlib import Path

from prolocutor.cli.serve_program import greeting

URL = "http://127.0.0.1:4242"


def test_the_demo_is_greeted_with_commands_that_find_it() -> None:
    lines = greeting("Demo", URL, "sqlite:////d/p.db", file=None, store=None).splitlines()

    assert lines[0] == f"Demo listens on {URL} (Ctrl-C ends it)."
    assert "/d/p.db" in lines[1]
    assert lines[2] == "  prolocutor chat"
    assert lines[3].startswith('  prolocutor ask "what is 15%')
    assert lines[4].startswith(f"  curl {URL} ")


def test_the_commands_name_the_file_and_the_store_that_were_given() -> None:
    file, store = Path("my bot/a.yaml"), "my.db"

    lines = greeting("Mine", URL, "sqlite:///my.db", file=file, store=store).splitlines()

    assert lines[2] == "  prolocutor chat 'my bot/a.yaml' --store my.db"
    assert lines[3] == """  prolocutor ask "hello" --assistant 'my bot/a.yaml' --store my.db"""


def test_a_store_that_others_cannot_find_is_reached_over_http_alone() -> None:
    lines = greeting("Demo", URL, "memory:", file=None, store="memory:").splitlines()

    assert all(line.startswith(f"  curl {URL}") for line in lines[2:])
    assert len(lines) == 5


def test_passwords_are_not_shown() -> None:
    url = "postgresql://ann:secret@db1,db2/d?sslpassword=secret&sslmode=require"
    said = greeting("Demo", URL, url, file=None, store=url)

    assert "secret" not in said
    assert "postgresql://ann@db1,db2/d?sslmode=require." in said


def test_the_key_of_this_process_is_shown_where_it_alone_makes_an_operator() -> None:
    said = greeting("Demo", URL, "memory:", file=None, store=None, key="k-1")

    lines = said.splitlines()
    assert "Until this server ends: k-1 (" in lines[-1]
    assert all("-H 'Authorization: Bearer k-1'" in lines[n] for n in (2, 4))


def test_a_page_is_named_where_there_is_one() -> None:
    said = greeting("Demo", URL, "memory:", file=None, store=None, page=True)

    assert said.splitlines()[-1] == f"Or talk to it in a browser: {URL}"


def test_the_page_for_operators_is_named_where_a_door_has_one() -> None:
    said = greeting("Demo", URL, "memory:", file=None, store=None, operators_page="/desk")

    assert said.splitlines()[-1].endswith(f"{URL}/desk")
