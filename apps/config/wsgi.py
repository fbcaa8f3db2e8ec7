"""The web application that gunicorn serves."""

import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "apps.config.settings")

application = get_wsgi_application()

from apps.config.startup import refuse_unsafe_start  # noqa: E402 - needs the settings to be ready

refuse_unsafe_start()
