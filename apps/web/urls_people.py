"""Addresses of people, clients and accounts; part of the `web` namespace."""

from django.urls import path

from apps.web.views import account, people

CLIENT = "clients/<uuid:client_id>"
ORGANISATION = "organisations/<uuid:organisation_id>"

urlpatterns = [
    path("people/", people.index, name="people"),
    path("people/roles/", people.roles, name="roles"),
    path(f"{CLIENT}/people/", people.members, name="client_people"),
    path(f"{CLIENT}/people/invite/", people.invite, name="invite"),
    path(f"{CLIENT}/people/<uuid:membership_id>/role/", people.change_role, name="change_role"),
    path(f"{CLIENT}/people/<uuid:membership_id>/remove/", people.remove_member, name="remove_member"),
    path(f"{CLIENT}/invitations/<uuid:invitation_id>/revoke/", people.revoke_invitation, name="revoke_invitation"),
    path(f"{CLIENT}/audit/", people.audit_log, name="audit_log"),
    path(f"{CLIENT}/settings/", people.client_settings, name="client_settings"),
    path(f"{CLIENT}/delete/", people.delete_client, name="delete_client"),
    path(f"{ORGANISATION}/", people.organisation, name="organisation"),
    path(f"{ORGANISATION}/clients/", people.create_client, name="create_client"),
    path(f"{ORGANISATION}/one-time-codes/", people.require_one_time_codes, name="require_one_time_codes"),
    path(f"{ORGANISATION}/people/<uuid:user_id>/reset-link/", people.make_reset_link, name="make_reset_link"),
    path("account/", account.account, name="account"),
    path("account/name/", account.change_name, name="change_name"),
    path("account/password/", account.change_password, name="change_password"),
    path("account/sessions/end-others/", account.end_other_sessions, name="end_other_sessions"),
    path("account/sessions/<uuid:session_id>/end/", account.end_session, name="end_session"),
    path("invitations/<str:secret>/", account.invitation, name="invitation"),
    path("password/reset/", account.password_reset, name="password_reset"),
    path("password/new/<str:secret>/", account.password_new, name="password_new"),
]
