# One image for web, worker, scheduler and migrate; docker-compose.yml says which command each of them runs.
FROM python:3.11.11-slim-bookworm AS build
WORKDIR /app
COPY requirements.txt ./
RUN python -m venv /opt/venv && /opt/venv/bin/pip install --no-cache-dir --require-hashes -r requirements.txt

FROM python:3.11.11-slim-bookworm
# Each process computes with one thread: two workers with a thread per core are slower than with one each.
ENV PATH=/opt/venv/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    OPENBLAS_NUM_THREADS=1 \
    OMP_NUM_THREADS=1 \
    MKL_NUM_THREADS=1 \
    SPINECUT_PRODUCTION=True \
    SPINECUT_VAR_DIR=/var/lib/spinecut \
    STATIC_ROOT=/app/staticfiles
RUN useradd --system --uid 10001 --home-dir /app --shell /usr/sbin/nologin spinecut \
    && install -d -o spinecut -g spinecut /var/lib/spinecut
WORKDIR /app
COPY --from=build /opt/venv /opt/venv
COPY . .
# The key of this step signs nothing and is gone with it.
RUN SECRET_KEY="$(python -c 'import secrets; print(secrets.token_urlsafe(60))')" ALLOWED_HOSTS=localhost \
    SPINECUT_VAR_DIR=/tmp/build python manage.py collectstatic --noinput --verbosity 0 \
    && rm -rf /tmp/build
USER spinecut
VOLUME /var/lib/spinecut
EXPOSE 8000
STOPSIGNAL SIGTERM
CMD ["gunicorn", "-c", "python:apps.config.gunicorn", "apps.config.wsgi"]
