"""Root addresses."""

from django.contrib import admin
from django.urls import include, path

from apps.web.views import health

urlpatterns = [
    path("health/live", health.live, name="health_live"),
    path("health/ready", health.ready, name="health_ready"),
    path("", include("apps.web.urls")),
    path("accounts/", include("apps.accounts.urls")),
    path("api/v1/", include("apps.api.urls")),
    path("admin/", admin.site.urls),
]

handler400 = "apps.web.views.errors.bad_request"
handler403 = "apps.web.views.errors.forbidden"
handler404 = "apps.web.views.errors.not_found"
handler500 = "apps.web.views.errors.server_error"
