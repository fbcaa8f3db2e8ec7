"""Everything the demo's database needs before a process opens it, in one process because each start takes a second.

Unlike its neighbours this module runs inside `.venv`, with Django.
"""

from __future__ import annotations

import os
import sys


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "apps.config.settings")
    import django
    from django.core.management import call_command

    django.setup()
    call_command("migrate", verbosity=0, interactive=False)
    call_command("createcachetable", verbosity=0)
    call_command("load_catalogue", stdout=sys.stderr)


if __name__ == "__main__":
    main()
