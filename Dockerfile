# The first stage installs Headrace and the tested versions of all it needs, a Java runtime
# among them; the second keeps the result alone. Nothing is compiled.
#
#   docker build -t headrace .
#   docker run --rm headrace demo
#   docker run --rm -p 8080:8080 headrace
#   docker run --rm -v "$PWD:/data:ro" headrace run /data/query.rq --input /data/edges.csv --output -

FROM python:3.11-slim-bookworm AS build
ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
WORKDIR /build
RUN python -m venv /opt/headrace
# The dependencies have a layer of their own, which a change of our code leaves as it is.
COPY pyproject.toml constraints.txt ./
RUN python -c "import tomllib; print(*tomllib.load(open('pyproject.toml', 'rb'))['project']['dependencies'], sep='\n')" > requirements.txt \
    && /opt/headrace/bin/pip install -c constraints.txt -r requirements.txt
COPY . .
RUN /opt/headrace/bin/pip install -c constraints.txt .

FROM python:3.11-slim-bookworm
RUN useradd --uid 10001 --create-home headrace
COPY --from=build /opt/headrace /opt/headrace
ENV PATH=/opt/headrace/bin:$PATH \
    PYTHONUNBUFFERED=1
USER 10001
WORKDIR /home/headrace
EXPOSE 8080
ENTRYPOINT ["headrace"]
CMD ["serve", "--host", "0.0.0.0", "--port", "8080"]
