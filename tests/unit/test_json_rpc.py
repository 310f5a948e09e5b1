"""Messages of JSON-RPC are read and written as the specification has them."""

import msgspec
import pytest

from prolocutor import json_rpc
from prolocutor.json_rpc import (
    RpcFault,
    read_batch,
    read_message,
    read_params,
    rpc_failure,
    rpc_notification,
    rpc_request,
    rpc_result,
)


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (b'{"jsonrpc":"2.0","id":1,"method":"m"}', "request"),
        (b'{"jsonrpc":"2.0","id":null,"method":"m","params":null}', "request"),
        (b'{"jsonrpc":"2.0","method":"m","params":{}}', "notification"),
        (b'{"jsonrpc":"2.0","id":"a","result":null}', "response"),
        (b'{"jsonrpc":"2.0","id":"a","error":{"code":1,"message":"x"}}', "response"),
    ],
)
def test_requests_notifications_and_responses_are_told_apart(body: bytes, kind: str) -> None:
    message = read_message(body)

    found = {message.is_request: "request", message.is_notification: "notification"}
    assert found.get(True, "response") == kind


@pytest.mark.parametrize(
    ("body", "number"),
    [
        (b"{", json_rpc.PARSE_ERROR),
        (b"\xff", json_rpc.PARSE_ERROR),
        (b'{"a":' * 5000, json_rpc.PARSE_ERROR),
        (b"[]", json_rpc.INVALID_REQUEST),
        (b"3", json_rpc.INVALID_REQUEST),
        (b'{"jsonrpc":"1.0","id":1,"method":"m"}', json_rpc.INVALID_REQUEST),
        (b'{"jsonrpc":"2.0","id":{},"method":"m"}', json_rpc.INVALID_REQUEST),
        (b'{"jsonrpc":"2.0","id":1}', json_rpc.INVALID_REQUEST),
    ],
)
def test_what_is_no_message_has_its_number(body: bytes, number: int) -> None:
    with pytest.raises(RpcFault) as fault:
        read_message(body)

    assert fault.value.number == number


def test_a_batch_is_taken_apart_and_a_single_message_is_none() -> None:
    members = read_batch(b' [{"jsonrpc":"2.0","method":"m"}, 3]')

    assert members is not None
    assert [bytes(member) for member in members] == [b'{"jsonrpc":"2.0","method":"m"}', b"3"]
    assert read_batch(b"{}") is None


def test_parameters_that_do_not_fit_name_the_request() -> None:
    class Wanted(msgspec.Struct):
        name: str

    with pytest.raises(RpcFault) as fault:
        read_params(Wanted, read_message(b'{"jsonrpc":"2.0","id":7,"method":"m","params":{}}'))

    assert fault.value.number == json_rpc.INVALID_PARAMS
    assert fault.value.id == 7


def test_what_is_written_is_read_again() -> None:
    failed = read_message(rpc_failure(None, RpcFault(-1, "no", {"why": 1})))

    assert read_message(rpc_request(1, "m", {"a": 1})).params == msgspec.Raw(b'{"a":1}')
    assert read_message(rpc_notification("m")).is_notification
    assert read_message(rpc_result(1, None)).result == msgspec.Raw(b"null")
    assert failed.error is not None
    assert failed.id is None
    assert failed.error.code == -1
    assert failed.error.data == {"why": 1}
