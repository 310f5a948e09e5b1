"""The services of a pipeline at other hosts than its file says."""

from __future__ import annotations

import re
from collections.abc import Mapping
from ipaddress import IPv6Address
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import msgspec

from prolocutor.errors import ConfigError
from prolocutor.plan.pipeline import Pipeline, StageService


def read_hosts(given: str) -> str | dict[str, str]:
    """Return the common host of all services, or the map of a JSON file: `{"host:port": "url"}`.

    Raise `ConfigError` for other texts, and for URLs in the map that are not http or https.
    """
    if not given.endswith(".json"):
        return _host(given)
    try:
        hosts = msgspec.json.decode(Path(given).read_bytes(), type=dict[str, str])
    except (OSError, msgspec.DecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f'{given}: expected {{"host:port": "url"}}: {error}') from None
    for place, url in hosts.items():
        if not re.match(r"https?://[^\s/]", url):
            raise ConfigError(f"expected a URL of http or https, found {url!r:.200}", key=place)
    return hosts


def _host(given: str) -> str:
    bare = given.removeprefix("[").removesuffix("]")
    try:
        return f"[{IPv6Address(bare)}]"
    except ValueError:
        if re.fullmatch(r"[\w.-]+", given):
            return given
    what = "expected a host without a port, or a map in a file that ends in .json"
    raise ConfigError(f"{what}, found {given!r:.200}", key="--hosts")


def replace_hosts(pipeline: Pipeline, hosts: str | Mapping[str, str]) -> Pipeline:
    """Return the pipeline with the URLs of its services at other hosts.

    `hosts` is a common host of all services, which keep their ports, or a URL for each moving
    `host:port`.
    """
    return pipeline.change_services(lambda one: _replace_host(one, hosts))


def _replace_host(service: StageService, hosts: str | Mapping[str, str]) -> StageService:
    target = service.call.target
    if isinstance(target, str) and target.startswith(("http://", "https://")):
        return service.calling(_url(target, hosts))
    return service


def _url(url: str, hosts: str | Mapping[str, str]) -> str:
    parts = urlsplit(url)
    port = "" if parts.port is None else f":{parts.port}"
    if isinstance(hosts, str):
        return urlunsplit(parts._replace(netloc=f"{hosts}{port}"))
    usual = {"http": 80, "https": 443}[parts.scheme]
    other = hosts.get(parts.netloc) or hosts.get(f"{parts.hostname}:{parts.port or usual}")
    if other is None:
        return url
    base = urlsplit(other)
    path = f"{base.path.rstrip('/')}{parts.path}"
    return urlunsplit(parts._replace(scheme=base.scheme, netloc=base.netloc, path=path))
