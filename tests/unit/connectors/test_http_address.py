"""A URL is taken apart once: where to connect, what is sent, what may be shown."""

import pytest

from prolocutor.connectors.parts.url import HttpAddress, Url, header_lines
from prolocutor.errors import ConfigError


def sent(url: str, **headers: str) -> list[str]:
    return HttpAddress(url, headers).head.decode().split("\r\n")


@pytest.mark.parametrize(
    ("url", "host", "port", "line", "header"),
    [
        ("http://a", "a", 80, "POST / HTTP/1.1", "Host: a"),
        ("http://a:80/", "a", 80, "POST / HTTP/1.1", "Host: a"),
        ("https://a/b?c=d%20e#f", "a", 443, "POST /b?c=d%20e HTTP/1.1", "Host: a"),
        ("http://a:8080/b c", "a", 8080, "POST /b%20c HTTP/1.1", "Host: a:8080"),
        ("http://[::1]:80/", "::1", 80, "POST / HTTP/1.1", "Host: [::1]"),
        ("http://[::1]:81/", "::1", 81, "POST / HTTP/1.1", "Host: [::1]:81"),
        ("http://ü.de/ö", "xn--tda.de", 80, "POST /%C3%B6 HTTP/1.1", "Host: xn--tda.de"),
    ],
)  # fmt: skip
def test_a_url_is_taken_apart(url: str, host: str, port: int, line: str, header: str) -> None:
    address = HttpAddress(url, {})

    assert address.host == host
    assert address.port == port
    assert sent(url)[0] == line
    assert header in sent(url)


@pytest.mark.parametrize("host", ["a" * 64, "a..b", ".a", "xn--", "a b"])
def test_a_host_that_cannot_be_looked_up_is_refused(host: str) -> None:
    with pytest.raises(ConfigError, match="is not a URL"):
        HttpAddress(f"http://{host}/", {})


def test_user_and_password_become_basic_authorization_and_are_not_shown() -> None:
    url = "http://ann:s3%20cret@host/path?key=s3cret"

    assert "Authorization: Basic YW5uOnMzIGNyZXQ=" in sent(url)
    assert HttpAddress(url, {}).shown == "http://host/path"


def test_a_header_of_the_configuration_replaces_ours() -> None:
    lines = sent("http://ann:secret@host/", Authorization="Bearer x", Accept="text/plain")

    assert "Authorization: Bearer x" in lines
    assert "Accept: text/plain" in lines
    assert not any("Basic" in line or "*/*" in line for line in lines)


@pytest.mark.parametrize("value", ["a\r\nX: b", "a\nb", "a\rb", "a\0b", "a\r\n"])
def test_a_header_that_would_end_its_line_is_refused(value: str) -> None:
    with pytest.raises(ConfigError, match="line break"):
        header_lines({"A": "b", "X": value})


def test_a_proxy_of_the_environment_is_known_but_for_hosts_that_need_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("http_proxy", "http://proxy:3128")
    monkeypatch.setenv("no_proxy", "localhost,.intern")

    assert HttpAddress("http://a.example/", {}).environment_proxy() == "http://proxy:3128"
    assert HttpAddress("http://a.intern/", {}).environment_proxy() is None


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("HTTP://Example.COM:80/A", "http://example.com/A"),
        ("ws://h:1/x%zz?a=ü b#c", "ws://h:1/x%25zz?a=%C3%BC%20b#c"),
        ("https://:k%20y@h/v1", "https://:k%20y@h/v1"),
        ("http://[::1]:81", "http://[::1]:81/"),
    ],
)
def test_a_url_is_written_as_it_is_sent(text: str, written: str) -> None:
    assert str(Url.read(text)) == written


@pytest.mark.parametrize("text", ["", "a", "ftp://a", "http://", "http://a:x/", "ws://a:99999/"])
def test_an_invalid_url_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"write it|[Pp]ort"):
        Url.read(text)


def test_parameters_are_replaced_by_their_names() -> None:
    url = Url.read("http://h/?a=1&b=2&a=3").replace_parameters(a="x y", c="")

    assert url.target == "/?b=2&a=x%20y&c="
    assert url.parameters == {"b": "2", "a": "x y", "c": ""}
