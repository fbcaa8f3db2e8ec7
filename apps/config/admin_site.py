"""Django's administration, for staff of the installation only."""

from django.contrib.admin import AdminSite
from django.contrib.admin.apps import AdminConfig
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext_lazy as _


class SpinecutAdminSite(AdminSite):
    """Staff sign in where everybody does, with the same limits and one-time codes; the stock form has neither."""

    site_header = site_title = _("Spinecut administration")
    enable_nav_sidebar = False

    def login(self, request: HttpRequest, extra_context: dict[str, object] | None = None) -> HttpResponse:
        from allauth.account.decorators import secure_admin_login  # needs the models, which load after this module

        response: HttpResponse = secure_admin_login(super().login)(request, extra_context)
        return response


class SpinecutAdminConfig(AdminConfig):
    default_site = "apps.config.admin_site.SpinecutAdminSite"
