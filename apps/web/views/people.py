"""People and clients: members, invitations, the audit log, and how a client is renamed or deleted."""

import uuid
from typing import Any

from allauth.account.decorators import reauthentication_required
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import ValidationError
from django.core.paginator import Paginator
from django.forms import Form
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from apps.accounts import passwords, selectors, services
from apps.accounts.audit import action_words
from apps.accounts.forms import ClientNameForm, DeleteClientForm, InviteForm, OneTimeCodesForm, RoleForm
from apps.accounts.models import Client, Invitation, Membership, Organisation, Role, User
from apps.accounts.permissions import ACTION_MEANINGS, ACTIONS, allowed_actions, require

AUDIT_ENTRIES_PER_PAGE = 100


def signed_in(request: HttpRequest) -> User:
    """The person behind a request that `login_required` let through."""
    assert isinstance(request.user, User)
    return request.user


def require_recent_password(request: HttpRequest) -> None:
    """Go on only within 10 minutes of a typed password; otherwise the person is asked for it, then comes back."""
    reauthentication_required(lambda _request: None, app="accounts")(request)


def add_errors(form: Form, error: ValidationError) -> None:
    """Show what a service refused beside the field it is about."""
    by_field = error.message_dict if hasattr(error, "error_dict") else {"": error.messages}
    for field, texts in by_field.items():
        form.add_error(field if field in form.fields else None, texts)


def _client(request: HttpRequest, client_id: uuid.UUID, action: str) -> Client:
    client = selectors.client_visible_to(request.user, client_id)
    require(request.user, client, action)
    return client


# index --------------------------------------------------------------------------------------------------------------
@require_GET
@login_required
def index(request: HttpRequest) -> HttpResponse:
    """The clients in which the person has a role, and the organisations they administer."""
    user = signed_in(request)
    memberships = Membership.objects.filter(user=user, client__in=selectors.clients_visible_to(user))
    context = {
        "memberships": memberships.select_related("client__organisation").order_by("client__name"),
        "organisations": selectors.organisations_administered_by(user),
    }
    return render(request, "accounts/people.html", context)


# members of a client --------------------------------------------------------------------------------------------------
@require_GET
@login_required
def members(request: HttpRequest, client_id: uuid.UUID) -> HttpResponse:
    """Who holds which role in one client."""
    return _members(request, _client(request, client_id, "view"))


def _members(request: HttpRequest, client: Client, status: int = 200, **extra: Any) -> HttpResponse:
    user = signed_in(request)
    manages = "manage_members" in allowed_actions(user, client)
    context = {
        "shown_client": client,
        "members": selectors.members_of(user, client),
        "invitations": selectors.invitations_of(user, client) if manages else [],
        "manages": manages,
        "roles": Role.choices,
        "form": InviteForm(),
        "mail_is_set_up": bool(settings.EMAIL_URL_HOST),
        **extra,
    }
    return render(request, "accounts/members.html", context, status=status)


@require_POST
@login_required
def invite(request: HttpRequest, client_id: uuid.UUID) -> HttpResponse:
    """Make an invitation; without a mail server its link is shown here, this once."""
    client = _client(request, client_id, "manage_members")
    require_recent_password(request)
    form = InviteForm(request.POST)
    if not form.is_valid():
        return _members(request, client, status=422, form=form)
    mail = bool(settings.EMAIL_URL_HOST)
    try:
        invited = services.invite(
            actor=signed_in(request),
            client=client,
            email=form.cleaned_data["email"],
            role=Role(form.cleaned_data["role"]),
            link_for=lambda secret: _link(request, "web:invitation", secret),
            mail=mail,
        )
    except ValidationError as error:
        add_errors(form, error)
        return _members(request, client, status=422, form=form)
    if mail:
        messages.success(request, _("The invitation is on its way to %s.") % invited.invitation.email)
        return redirect("web:client_people", client.pk)
    link = _link(request, "web:invitation", invited.secret)
    return _members(request, client, new_link=link, new_invitation=invited.invitation)


def _link(request: HttpRequest, name: str, secret: str) -> str:
    return request.build_absolute_uri(reverse(name, args=[secret]))


@require_POST
@login_required
def revoke_invitation(request: HttpRequest, client_id: uuid.UUID, invitation_id: uuid.UUID) -> HttpResponse:
    """Make an open invitation useless."""
    client = _client(request, client_id, "manage_members")
    invitation = get_object_or_404(Invitation.objects.of_client(client), pk=invitation_id)
    services.revoke_invitation(actor=signed_in(request), invitation=invitation)
    messages.success(request, _("The invitation no longer works."))
    return redirect("web:client_people", client.pk)


@require_POST
@login_required
def change_role(request: HttpRequest, client_id: uuid.UUID, membership_id: uuid.UUID) -> HttpResponse:
    """Give a member another role."""
    client = _client(request, client_id, "manage_members")
    membership = get_object_or_404(Membership.objects.select_related("user"), client=client, pk=membership_id)
    require_recent_password(request)
    form = RoleForm(request.POST)
    if not form.is_valid():
        messages.error(request, _("The role is unknown; choose one from the list."))
        return redirect("web:client_people", client.pk)
    try:
        services.change_role(actor=signed_in(request), membership=membership, role=Role(form.cleaned_data["role"]))
    except ValidationError as error:
        messages.error(request, " ".join(error.messages))
    else:
        names = {"person": str(membership.user), "role": membership.get_role_display()}
        messages.success(request, _("%(person)s is now %(role)s.") % names)
    return redirect("web:client_people", client.pk)


@require_POST
@login_required
def remove_member(request: HttpRequest, client_id: uuid.UUID, membership_id: uuid.UUID) -> HttpResponse:
    """Take a person out of the client."""
    client = _client(request, client_id, "manage_members")
    membership = get_object_or_404(Membership.objects.select_related("user"), client=client, pk=membership_id)
    require_recent_password(request)
    try:
        services.remove_member(actor=signed_in(request), membership=membership)
    except ValidationError as error:
        messages.error(request, " ".join(error.messages))
        return redirect("web:client_people", client.pk)
    messages.success(request, _("%s no longer sees this client.") % membership.user)
    return redirect("web:people" if membership.user_id == signed_in(request).pk else _members_url(client))


def _members_url(client: Client) -> str:
    return reverse("web:client_people", args=[client.pk])


@require_GET
@login_required
def audit_log(request: HttpRequest, client_id: uuid.UUID) -> HttpResponse:
    """What happened in one client, newest first."""
    client = _client(request, client_id, "manage_members")
    entries = selectors.audit_entries_visible_to(request.user, client)
    page = Paginator(entries, AUDIT_ENTRIES_PER_PAGE).get_page(request.GET.get("page"))
    rows = [(entry, action_words(entry.action)) for entry in page]
    context = {"shown_client": client, "page": page, "rows": rows}
    return render(request, "accounts/audit_log.html", context)


# clients --------------------------------------------------------------------------------------------------------------
@require_http_methods(["GET", "POST"])
@login_required
def client_settings(request: HttpRequest, client_id: uuid.UUID) -> HttpResponse:
    """Rename the client."""
    client = _client(request, client_id, "delete")
    form = ClientNameForm(request.POST or None, initial={"name": client.name})
    if request.method == "POST" and form.is_valid():
        try:
            services.rename_client(actor=signed_in(request), client=client, name=form.cleaned_data["name"])
        except ValidationError as error:
            add_errors(form, error)
        else:
            messages.success(request, _("The client has its new name."))
            return redirect("web:client_settings", client.pk)
    return _client_settings(request, client, form, DeleteClientForm())


def _client_settings(request: HttpRequest, client: Client, name_form: Form, delete_form: Form) -> HttpResponse:
    status = 422 if name_form.errors or delete_form.errors else 200
    context = {"shown_client": client, "form": name_form, "delete_form": delete_form}
    return render(request, "accounts/client_settings.html", context, status=status)


@require_POST
@login_required
def delete_client(request: HttpRequest, client_id: uuid.UUID) -> HttpResponse:
    """Delete the client with everything in it, after its name was typed."""
    client = _client(request, client_id, "delete")
    require_recent_password(request)
    form = DeleteClientForm(request.POST)
    if form.is_valid():
        try:
            services.delete_client(actor=signed_in(request), client=client, typed_name=form.cleaned_data["typed_name"])
        except ValidationError as error:
            add_errors(form, error)
        else:
            messages.success(request, _("The client and everything in it is deleted."))
            return redirect("web:people")
    return _client_settings(request, client, ClientNameForm(initial={"name": client.name}), form)


# organisations --------------------------------------------------------------------------------------------------------
@require_GET
@login_required
def organisation(request: HttpRequest, organisation_id: uuid.UUID) -> HttpResponse:
    """What an administrator may do: make clients, require one-time codes, help with lost passwords."""
    return _organisation(request, selectors.organisation_administered_by(request.user, organisation_id))


def _organisation(request: HttpRequest, shown: Organisation, status: int = 200, **extra: Any) -> HttpResponse:
    people = [
        {"person": person, "may_reset": selectors.belongs_only_to(person, shown)}
        for person in selectors.people_of(request.user, shown)
    ]
    context = {
        "organisation": shown,
        "people": people,
        "form": ClientNameForm(),
        "codes_form": OneTimeCodesForm(initial={"required": shown.one_time_codes_required}),
        **extra,
    }
    return render(request, "accounts/organisation.html", context, status=status)


@require_POST
@login_required
def create_client(request: HttpRequest, organisation_id: uuid.UUID) -> HttpResponse:
    """Make a client that belongs to the organisation and is owned by the person."""
    shown = selectors.organisation_administered_by(request.user, organisation_id)
    form = ClientNameForm(request.POST)
    if form.is_valid():
        try:
            client = services.create_client(
                actor=signed_in(request), organisation=shown, name=form.cleaned_data["name"]
            )
        except ValidationError as error:
            add_errors(form, error)
        else:
            messages.success(request, _("The client is there; you are its owner."))
            return redirect("web:client_people", client.pk)
    return _organisation(request, shown, status=422, form=form)


@require_POST
@login_required
def require_one_time_codes(request: HttpRequest, organisation_id: uuid.UUID) -> HttpResponse:
    """Switch the requirement on or off."""
    shown = selectors.organisation_administered_by(request.user, organisation_id)
    require_recent_password(request)
    form = OneTimeCodesForm(request.POST)
    form.is_valid()
    required = bool(form.cleaned_data.get("required"))
    services.require_one_time_codes(actor=signed_in(request), organisation=shown, required=required)
    text = _("One-time codes are now required.") if required else _("One-time codes are now everybody's own choice.")
    messages.success(request, text)
    return redirect("web:organisation", shown.pk)


@require_POST
@login_required
def make_reset_link(request: HttpRequest, organisation_id: uuid.UUID, user_id: uuid.UUID) -> HttpResponse:
    """Make a link with which a person sets a new password; it is shown here, this once."""
    shown = selectors.organisation_administered_by(request.user, organisation_id)
    person = get_object_or_404(selectors.people_of(request.user, shown), pk=user_id)
    if not selectors.belongs_only_to(person, shown):
        messages.error(request, _("This person also belongs elsewhere; only staff of the installation can help."))
        return redirect("web:organisation", shown.pk)
    require_recent_password(request)
    secret = passwords.make_reset_link(actor=signed_in(request), organisation=shown, person=person)
    link = _link(request, "web:password_new", secret)
    return _organisation(request, shown, new_link=link, new_link_for=person)


@require_GET
@login_required
def roles(request: HttpRequest) -> HttpResponse:
    """The table of roles and what each may do."""
    table = [
        {"action": action, "meaning": meaning, "allowed": [action in ACTIONS[role] for role in Role]}
        for action, meaning in ACTION_MEANINGS.items()
    ]
    return render(request, "accounts/roles.html", {"roles": [role.label for role in Role], "table": table})
