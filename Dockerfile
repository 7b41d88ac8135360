# The garden in one container:
#   docker build --tag perennial .
#   docker run --rm --read-only --tmpfs /tmp -p 8000:8000 perennial

FROM node:20-bookworm-slim AS htmx
WORKDIR /htmx
RUN npm pack --silent htmx.org@4.0.1 && tar -xzf htmx.org-4.0.1.tgz package/dist/htmx.min.js
RUN node -e " \
    const file = require('fs').readFileSync('package/dist/htmx.min.js'); \
    const hash = require('crypto').createHash('sha384').update(file).digest('base64'); \
    const known = 'Qp9rdC8H7EqOoX+nR0P3RPG2Noji+qdwJlGpfzwQJsfOpp3sGwIdSP9xO3+UlEhn'; \
    if (hash !== known) { console.error('htmx.min.js has the hash ' + hash + ', not ' + known); process.exit(1); }"


FROM python:3.11-slim-bookworm AS build
RUN apt-get update && apt-get install -y --no-install-recommends git && rm -rf /var/lib/apt/lists/*
ENV PATH=/opt/perennial/bin:$PATH PIP_NO_CACHE_DIR=1 PIP_NO_COMPILE=1 PYTHONDONTWRITEBYTECODE=1
WORKDIR /srv/perennial
RUN python -m venv /opt/perennial

# What changes seldom comes first. Of torch stays what runs: its headers, test programs and compilers go.
COPY setup/requirements.lock setup/torch.sh setup/
RUN python -m pip install --no-deps --require-hashes -r setup/requirements.lock \
    && setup/torch.sh /opt/perennial/bin/python \
    && cd /opt/perennial/lib/python3.11/site-packages/torch \
    && rm -rf include share test lib/*_test.so \
    && find bin -type f ! -name torch_shm_manager -delete \
    && find /opt/perennial \( -name '*.a' -o -name '*.pyi' \) -delete

# The history comes along to here, for the dates that perennial index writes down; the image itself carries no repository.
COPY . .
COPY --from=htmx /htmx/package/dist/htmx.min.js static/
RUN python -m pip install --no-deps --no-build-isolation --editable . \
    && perennial index \
    && python -m pip uninstall --yes pip \
    && python -m compileall -q -j 0 -x /torch/testing/_internal/ /opt/perennial/lib app


FROM python:3.11-slim-bookworm
RUN useradd --system --no-create-home --home-dir /tmp --uid 10001 perennial
COPY --from=build /opt/perennial /opt/perennial
COPY --from=build /srv/perennial/LICENSE /srv/perennial/
COPY --from=build /srv/perennial/app /srv/perennial/app
COPY --from=build /srv/perennial/templates /srv/perennial/templates
COPY --from=build /srv/perennial/static /srv/perennial/static
COPY --from=build /srv/perennial/content /srv/perennial/content
ENV PATH=/opt/perennial/bin:$PATH PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1 \
    PERENNIAL_HOST=0.0.0.0 PERENNIAL_HTMX=local
WORKDIR /srv/perennial
USER perennial
EXPOSE 8000
HEALTHCHECK --start-period=20s --interval=30s --timeout=3s CMD ["python", "-c", \
    "import os, urllib.request as r; r.urlopen(f\"http://127.0.0.1:{os.environ.get('PERENNIAL_PORT', 8000)}/healthz\", timeout=2)"]
ENTRYPOINT ["perennial"]
CMD ["serve"]
