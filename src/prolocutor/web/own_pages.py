"""Whether a request comes from a page of this server, by the headers that browsers send."""

from __future__ import annotations

from urllib.parse import urlsplit


def is_own_page(origin: str | None, host: str | None) -> bool:
    """Return whether `Origin` names the host that the request is for, or the request has none."""
    if origin is None:
        return True
    try:
        site = urlsplit(origin).netloc
    except ValueError:  # such as "http://["
        return False
    return bool(site) and site == host
