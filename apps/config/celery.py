"""The Celery application of workers and scheduler."""

import contextlib
import os
import threading
import time
import uuid
from typing import Any

import structlog
from celery import Celery, signals
from kombu.transport import TRANSPORT_ALIASES

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "apps.config.settings")

TRANSPORT_ALIASES["filesystem"] = "apps.analyses.queue_files:Transport"

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
    """Let a child of the pool end when the worker above it was killed, and keep it within its memory limit."""
    threading.Thread(target=_end_with_parent, args=(os.getppid(),), daemon=True).start()
    from apps.analyses.keeper import prepare_pool_process

    prepare_pool_process()


def _end_with_parent(parent: int) -> None:
    """End this process once another one is its parent: its run's lease lapses, another worker takes the run over."""
    while os.getppid() == parent:
        time.sleep(PARENT_CHECK_S)
    os._exit(1)


def _sweep_at_start(**_: Any) -> None:
    """What was left behind while no worker was there goes on at once."""
    app.send_task("apps.analyses.tasks.sweep", expires=60, retry=False, ignore_result=True)


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
signals.worker_ready.connect(_sweep_at_start)
signals.task_prerun.connect(_bind_task)
signals.task_postrun.connect(_unbind_task)
