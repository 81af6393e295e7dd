# The first stage installs Headrace and the tested versions of its dependencies, a Java runtime
# among them, and builds the page. The second stage copies only the installed environment.
#
#   docker build -t headrace .
#   docker run --rm headrace demo
#   docker run --rm --init -p 127.0.0.1:8080:8080 -v headrace:/var/lib/headrace headrace
#   docker run --rm -v "$PWD:/data:ro" headrace run /data/query.rq --input /data/edges.csv --output -
#
# Headrace writes only to /var/lib/headrace and /tmp: with --tmpfs /tmp the image runs --read-only.

FROM python:3.11-slim-bookworm AS build
ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
WORKDIR /build
RUN python -m venv /opt/headrace
# Dependencies are a separate layer, so a change of the code does not rebuild them.
COPY pyproject.toml constraints.txt ./
RUN python -c "import tomllib; p = tomllib.load(open('pyproject.toml', 'rb'))['project']; print(*p['dependencies'], *p['optional-dependencies']['postgres'], sep='\n')" > requirements.txt \
    && /opt/headrace/bin/pip install -c constraints.txt -r requirements.txt
COPY . .
# The image contains all compiled kernels; on another processor they are compiled again at first use.
RUN /opt/headrace/bin/pip install -c constraints.txt . \
    && /opt/headrace/bin/headrace warm

FROM python:3.11-slim-bookworm
RUN useradd --uid 10001 --create-home headrace \
    && install --directory --owner=10001 --mode=0700 /var/lib/headrace
COPY --from=build /opt/headrace /opt/headrace
# Kernels compiled at run time are stored in the volume, beside copies of the image's kernels.
ENV PATH=/opt/headrace/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    HEADRACE_HOME=/var/lib/headrace \
    NUMBA_CACHE_DIR=/var/lib/headrace/compiled
USER 10001
WORKDIR /var/lib/headrace
VOLUME /var/lib/headrace
EXPOSE 8080
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s \
    CMD ["python", "-c", "from urllib.request import urlopen; urlopen('http://127.0.0.1:8080/healthz', timeout=4)"]
ENTRYPOINT ["headrace"]
CMD ["serve", "--host", "0.0.0.0", "--port", "8080"]
