"""Waiting for processes of others to be gone."""

import os
import select

import pytest


def is_gone(pid: int, seconds: float = 10.0) -> bool:
    """Wait until the process has ended; False if it has not within `seconds`."""
    if not hasattr(os, "pidfd_open"):
        pytest.skip("waiting for processes of others (needs Linux)")
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([handle], [], [], seconds)[0])
    finally:
        os.close(handle)
