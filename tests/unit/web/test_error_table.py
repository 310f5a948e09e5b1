"""The one table of errors."""

import json
import logging

import pytest

from prolocutor import errors
from prolocutor.web.error_table import error_response


@pytest.mark.parametrize(
    ("error", "status", "code", "header"),
    [
        (errors.BadInput("no", field="f"), 400, "bad_input", None),
        (errors.Unauthenticated("no"), 401, "unauthenticated", "WWW-Authenticate"),
        (errors.Forbidden("no"), 403, "forbidden", None),
        (errors.NotFound("no"), 404, "not_found", None),
        (errors.Conflict("no", field="f"), 422, "conflict", None),
        (errors.Overloaded("no"), 429, "overloaded", "Retry-After"),
        (errors.Stopping("no"), 503, "stopping", "Retry-After"),
        (errors.StoreFull("no"), 503, "store_full", "Retry-After"),
    ],
)
def test_an_error_of_the_tree_has_its_status(
    error: errors.ProlocutorError, status: int, code: str, header: str | None
) -> None:
    response = error_response(error).response()

    field = getattr(error, "field", None)
    assert isinstance(response.body, bytes)
    assert json.loads(response.body) == {"error": "no", "code": code, "field": field}
    assert response.status == status
    assert list(response.headers) == ([header] if header else [])


@pytest.mark.parametrize(
    "error",
    [
        ValueError("secret"),
        errors.StoreCorrupt("secret"),
        errors.ServiceRaised("secret"),
        errors.ProlocutorError("secret"),
        KeyError("secret"),
    ],
)
def test_anything_else_is_logged_under_the_id_that_is_shown(
    error: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    refusal = error_response(error)

    assert refusal.status == 500
    assert refusal.code == "internal"
    assert "secret" not in refusal.error
    (record,) = caplog.records
    assert record.levelno == logging.ERROR
    assert refusal.error.rpartition(" ")[2] in record.getMessage()
    assert "secret" in record.getMessage()


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (errors.StoreError("secret"), "store"),
        (errors.TakenOver("secret"), "store"),
        (errors.StoreAway("secret"), "store_away"),
    ],
)
def test_a_store_that_is_away_is_said_without_its_own_words(
    error: Exception, code: str, caplog: pytest.LogCaptureFixture
) -> None:
    refusal = error_response(error)

    assert refusal.status == 503
    assert refusal.code == code
    assert refusal.headers == {"Retry-After": "1"}
    assert "secret" not in refusal.error
    assert "secret" in caplog.text
