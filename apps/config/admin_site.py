"""Django's administration, for staff of the installation only."""

from django.contrib.admin.apps import AdminConfig


class SpinecutAdminConfig(AdminConfig):
    """The stock site; a class of its own so that it can be replaced in one place."""
