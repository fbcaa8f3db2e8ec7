"""The settings under test, on databases, queue and folders of the test process's own.

`SPINECUT_TEST_STACK` chooses what is underneath: `embedded` (SQLite, messages as files; the default) or `team`
(PostgreSQL and a Redis-protocol server, from `TEST_DATABASE_URL` and `TEST_REDIS_URL` or started here). Everything is
handed on through the environment, so a worker process that a test starts has the very same configuration.
"""

import atexit
import os
import shutil
import tempfile
from pathlib import Path

from scripts.services import PostgresServer, RedisServer

STACK = os.environ.get("SPINECUT_TEST_STACK", "embedded")
XDIST_WORKER = os.environ.get("PYTEST_XDIST_WORKER", "")
OWN_REDIS: RedisServer | None = None
OWN_POSTGRES: PostgresServer | None = None

if not XDIST_WORKER:
    os.environ["SPINECUT_TEST_DIR"] = tempfile.mkdtemp(prefix="spinecut-test-")
    atexit.register(shutil.rmtree, os.environ["SPINECUT_TEST_DIR"], ignore_errors=True)
    os.chmod(os.environ["SPINECUT_TEST_DIR"], 0o755)
TEST_DIR = Path(os.environ["SPINECUT_TEST_DIR"]) / (XDIST_WORKER or "main")
TEST_DIR.mkdir(parents=True, exist_ok=True)

for name in ("DATABASE_URL", "REDIS_URL", "CACHE_URL", "SPINECUT_PRODUCTION", "DEBUG", "EMAIL_HOST", "SECRET_KEY"):
    os.environ.pop(name, None)
os.environ["SPINECUT_VAR_DIR"] = str(TEST_DIR / "var")
# A paragraph of a test run must not be decided by how many cores the machine has.
os.environ.update({name: "1" for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")})

if STACK == "team":
    if "TEST_DATABASE_URL" not in os.environ:  # the workers of xdist inherit the one that their parent starts
        OWN_POSTGRES = PostgresServer().start()
        atexit.register(OWN_POSTGRES.close)
        os.environ["TEST_DATABASE_URL"] = OWN_POSTGRES.url
    os.environ["DATABASE_URL"] = os.environ["TEST_DATABASE_URL"]
    if os.environ.get("TEST_REDIS_URL"):
        os.environ["REDIS_URL"] = os.environ["TEST_REDIS_URL"]
    else:  # one a process, so that tests may empty, stop and kill it
        OWN_REDIS = RedisServer().start()
        atexit.register(OWN_REDIS.close)
        os.environ["REDIS_URL"] = f"{OWN_REDIS.url}/0"
        os.environ["CACHE_URL"] = f"{OWN_REDIS.url}/1"

from apps.config.settings import *  # noqa: E402, F403
from apps.config.settings import DATABASES  # noqa: E402

if STACK == "embedded":
    # A file, not memory: worker processes and the live server open it too.
    DATABASES["default"]["TEST"] = {"NAME": str(TEST_DIR / "test.sqlite3")}
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]  # the real one is slow on purpose
STATIC_ROOT = None  # finders serve the files; whitenoise would warn that nothing is collected
