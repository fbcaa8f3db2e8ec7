"""The Celery application of workers and scheduler."""

import contextlib
import os
import resource
import sys
import threading
import time
import uuid
from typing import Any

import structlog
from celery import Celery, signals

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "apps.config.settings")

PARENT_CHECK_S = 1.0

app = Celery("spinecut")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()


def _keep_our_logging(**_: Any) -> None:
    """Django has set up logging already; connecting here stops Celery from doing it again."""


def _check_the_installation(**_: Any) -> None:
    from apps.config.startup import refuse_unsafe_start

    refuse_unsafe_start()


def _prepare_child(**_: Any) -> None:
    """Give a child of the pool its memory limit, and let it end when the worker above it was killed."""
    from django.conf import settings

    limit = settings.RUN_CHILD_MEMORY_MB * 1024 * 1024
    if sys.platform == "linux":  # elsewhere the limit is not kept by the kernel; Celery still replaces a grown child
        resource.setrlimit(resource.RLIMIT_DATA, (limit, resource.getrlimit(resource.RLIMIT_DATA)[1]))
    threading.Thread(target=_end_with_parent, args=(os.getppid(),), daemon=True).start()


def _end_with_parent(parent: int) -> None:
    """End this process once another one is its parent: its run's lease lapses, another worker takes the run over."""
    while os.getppid() == parent:
        time.sleep(PARENT_CHECK_S)
    os._exit(1)


def _bind_task(task_id: str = "", args: Any = (), **_: Any) -> None:
    """Put the run's id into every line that a task logs; a task's only argument is the id of the row it works on."""
    structlog.contextvars.clear_contextvars()
    structlog.contextvars.bind_contextvars(task_id=task_id)
    if args:
        with contextlib.suppress(ValueError):  # a task about something else
            structlog.contextvars.bind_contextvars(run_id=str(uuid.UUID(str(args[0]))))


def _unbind_task(**_: Any) -> None:
    structlog.contextvars.clear_contextvars()


signals.setup_logging.connect(_keep_our_logging)
signals.worker_init.connect(_check_the_installation)
signals.beat_init.connect(_check_the_installation)
signals.worker_process_init.connect(_prepare_child)
signals.task_prerun.connect(_bind_task)
signals.task_postrun.connect(_unbind_task)
