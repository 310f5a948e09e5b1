import asyncio
import urllib.error
import urllib.request

from prolocutor.plugins.nats.wire import WorkerLoad
from prolocutor.plugins.nats.worker_program import WorkerMetrics


def get(port: int, path: str) -> tuple[int, str]:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=60) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, ""


async def test_the_load_of_each_service_and_the_health_are_served_over_http() -> None:
    ready = False
    load = WorkerLoad(batch_size=4, hold=16, held=6, fill=1.5, calls=2, requests=7, busy=1)
    metrics = WorkerMetrics(lambda: {"weather": load}, lambda: ready)
    port = metrics.start("127.0.0.1", 0)

    paths = ("/metrics", "/health/live", "/health/ready", "/else")
    answers = [await asyncio.to_thread(get, port, path) for path in paths]
    ready = True
    later = await asyncio.to_thread(get, port, "/health/ready")
    metrics.close()

    assert [status for status, _ in answers] == [200, 200, 503, 404]
    assert later == (200, '"OK"')
    assert 'prolocutor_worker_fill{service="weather"} 1.5' in answers[0][1]
    assert 'prolocutor_worker_requests_total{service="weather"} 7.0' in answers[0][1]
