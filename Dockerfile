# syntax=docker/dockerfile:1
# The demo:            docker run -p 4242:4242 -e OPERATOR_KEY=... prolocutor
# Your own assistant:  docker run -p 4242:4242 -v ./my-assistant:/assistant prolocutor
# Without the demo:    docker build --target core --tag prolocutor:core .
# A file of your own says "host: 0.0.0.0" and who may come in (docs/howto/run-in-production.md).
# The images hold Python, Prolocutor and the libraries that they need: no shell and no pip.

ARG BASE=python:3.13.9-slim-trixie@sha256:326df678c20c78d465db501563f3492d17c42a4afe33a1f2bf5406a1d56b0e86
FROM $BASE AS build
WORKDIR /source
# Of this stage only `strip` is used, and nothing of it stays.
# hadolint ignore=DL3008,DL3009
RUN apt-get update && apt-get install --yes --no-install-recommends binutils ca-certificates
COPY requirements/constraints.txt requirements/
RUN python -m venv /builder && python -m venv --without-pip /opt/prolocutor
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 \
    PIP_NO_CACHE_DIR=1 \
    PIP_PYTHON=/builder/bin/python
# What builds stays in an environment of its own.
RUN /builder/bin/pip install --constraint requirements/constraints.txt hatchling
COPY pyproject.toml README.md LICENSE NOTICE ./
COPY src src
RUN /builder/bin/pip wheel --no-deps --no-build-isolation --wheel-dir /wheels . ./src/prolocutor_demo
COPY deploy/image/root.py /root.py
RUN PIP_PYTHON=/opt/prolocutor/bin/python /builder/bin/pip install --no-compile \
        --constraint requirements/constraints.txt "$(echo /wheels/prolocutor-*.whl)[postgresql,nats]" \
    && python /root.py /opt/prolocutor /core

FROM build AS build-demo
RUN PIP_PYTHON=/opt/prolocutor/bin/python /builder/bin/pip install --no-compile \
        --constraint requirements/constraints.txt "$(echo /wheels/prolocutor-*.whl)[almond,asks]" \
        /wheels/prolocutor_demo-*.whl \
    && python /root.py /opt/prolocutor /demo
# The demo's file, with an address that can be reached from outside of the container, and a key.
WORKDIR /demo/assistant
RUN demo=$(/opt/prolocutor/bin/python -c 'import pathlib, prolocutor_demo; print(pathlib.Path(prolocutor_demo.__file__).parent)') \
    && sed "s#manifest: \.\./#manifest: $demo/#" "$demo/assistant/assistant.yaml" > assistant.yaml \
    && echo "auth: {keys: ['\${OPERATOR_KEY}']}" >> assistant.yaml \
    && echo "host: 0.0.0.0" >> assistant.yaml \
    && echo "store: sqlite:////data/prolocutor/prolocutor.db" >> assistant.yaml

FROM scratch AS image
LABEL org.opencontainers.image.title="Prolocutor" \
      org.opencontainers.image.description="One assistant made out of many agents" \
      org.opencontainers.image.licenses="Apache-2.0"
ENV PATH=/opt/prolocutor/bin \
    PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    XDG_DATA_HOME=/data
USER 10001:10001
EXPOSE 4242
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=3 \
    CMD ["python", "-c", "import urllib.request as r; r.urlopen('http://127.0.0.1:4242/health/live', timeout=4)"]
STOPSIGNAL SIGTERM
ENTRYPOINT ["prolocutor"]
CMD ["serve", "/assistant", "--log", "json"]

FROM image AS core
COPY --from=build /core /
WORKDIR /data
VOLUME /data

FROM image
COPY --from=build-demo /demo /
WORKDIR /data
VOLUME /data
