"""Settings, root addresses and the Celery application; nothing that another app imports."""

# Every process that can send a task has to know the application, or `shared_task` would look for a broker of its own.
from apps.config.celery import app as celery_app

__all__ = ["celery_app"]
