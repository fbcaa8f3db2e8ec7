"""Addresses of signing in and of one-time codes.

Only those of allauth's pages that are used: no sign-up, no mail addresses, no sign-in by mailed code. Password reset
and everything about people are screens of the web app.
"""

from allauth.account import views
from django.urls import include, path
from django.views.generic import RedirectView

urlpatterns = [
    path("login/", views.login, name="account_login"),
    path("logout/", views.logout, name="account_logout"),
    path("inactive/", views.account_inactive, name="account_inactive"),
    path("reauthenticate/", views.reauthenticate, name="account_reauthenticate"),
    path("password/reset/", RedirectView.as_view(pattern_name="web:password_reset"), name="account_reset_password"),
    path("codes/", include("allauth.mfa.urls")),
]
