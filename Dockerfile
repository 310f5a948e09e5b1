# syntax=docker/dockerfile:1
# The demo:            docker run -p 4242:4242 -e OPERATOR_KEY=... prolocutor
# Your own assistant:  docker run -p 4242:4242 -v ./my-assistant:/assistant prolocutor
# A file of your own says "host: 0.0.0.0" and who may come in (docs/howto/run-in-production.md).

FROM python:3.13.9-slim-trixie AS build
SHELL ["/bin/bash", "-o", "pipefail", "-c"]
WORKDIR /source
RUN python -m venv /opt/prolocutor
ENV PATH=/opt/prolocutor/bin:$PATH \
    PIP_DISABLE_PIP_VERSION_CHECK=1 \
    PIP_NO_CACHE_DIR=1
# The libraries first: they change less often than the code, and stay in the builder's cache.
COPY requirements/serve.lock requirements/dev.lock requirements/
RUN pip install --no-compile --requirement requirements/serve.lock \
    && pip install --no-compile --constraint requirements/dev.lock asyncpg nats-py
COPY pyproject.toml README.md LICENSE NOTICE ./
COPY src src
RUN pip install --no-compile --no-deps --no-build-isolation . ./src/prolocutor_demo
# The demo's file, with an address that can be reached from outside of the container, and a key.
WORKDIR /assistant
RUN demo=$(python -c 'import pathlib, prolocutor_demo; print(pathlib.Path(prolocutor_demo.__file__).parent)') \
    && sed "s#manifest: \.\./#manifest: $demo/#" "$demo/assistant/assistant.yaml" > assistant.yaml \
    && echo "auth: {keys: ['\${OPERATOR_KEY}']}" >> assistant.yaml \
    && echo "host: 0.0.0.0" >> assistant.yaml \
    && echo "store: sqlite:////data/prolocutor/prolocutor.db" >> assistant.yaml

FROM python:3.13.9-slim-trixie
LABEL org.opencontainers.image.title="Prolocutor" \
      org.opencontainers.image.description="One assistant made out of many agents" \
      org.opencontainers.image.licenses="Apache-2.0"
RUN useradd --uid 10001 --create-home prolocutor \
    && install --directory --owner prolocutor --group prolocutor --mode 700 /data
COPY --from=build /opt/prolocutor /opt/prolocutor
COPY --from=build /assistant /assistant
ENV PATH=/opt/prolocutor/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    XDG_DATA_HOME=/data
USER 10001:10001
WORKDIR /data
VOLUME /data
EXPOSE 4242
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=3 \
    CMD ["python", "-c", "import urllib.request as r; r.urlopen('http://127.0.0.1:4242/health/live', timeout=4)"]
STOPSIGNAL SIGTERM
ENTRYPOINT ["prolocutor"]
CMD ["serve", "/assistant", "--log", "json"]
