"""What a worker is woken for. A message holds the id of a row and nothing else."""

from celery import shared_task
from celery.app.task import Task

from apps.analyses import execution, sweeper


@shared_task(bind=True)  # type: ignore[untyped-decorator]
def execute_run(self: Task, run_id: str) -> None:
    """Compute a run, if nobody else has claimed it."""
    execution.execute_run(run_id, worker=self.request.hostname or "")


@shared_task(bind=True)  # type: ignore[untyped-decorator]
def execute_chunk(self: Task, chunk_id: str) -> None:
    """Compute one part of a split run, if nobody else has claimed it."""
    execution.execute_chunk(chunk_id, worker=self.request.hostname or "")


@shared_task  # type: ignore[untyped-decorator]
def sweep() -> None:
    """Resend lost wake-ups, end abandoned runs, deliver the outbox; the scheduler calls it in its own process."""
    sweeper.sweep()
