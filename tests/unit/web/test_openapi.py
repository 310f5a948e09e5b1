"""The OpenAPI document is one, and says what the routes say."""

import pytest
from openapi_spec_validator import OpenAPIV31SpecValidator

from prolocutor.almond.door.door import Almond
from prolocutor.assistant.assistant import Assistant
from prolocutor.deeppavlov.door.api import DeepPavlov
from prolocutor.testing.channel_kit import Gate, pipeline
from prolocutor.web.openapi import document


@pytest.mark.parametrize("with_metrics", [True, False])
def test_the_document_keeps_to_openapi(with_metrics: bool) -> None:
    made = document("a", [DeepPavlov(assistant()), Almond(assistant())], with_metrics)

    assert [str(error) for error in OpenAPIV31SpecValidator(made).iter_errors()] == []
    assert ("/metrics" in made["paths"]) == with_metrics


def test_every_operation_has_a_name_of_its_own() -> None:
    paths = document("a", [DeepPavlov(assistant()), Almond(assistant())], True)["paths"]
    names = [operation["operationId"] for path in paths.values() for operation in path.values()]

    assert len(names) == len(set(names))


def assistant() -> Assistant:
    return Assistant(pipeline(Gate()), store="memory:")
