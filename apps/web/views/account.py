"""One's own account: name, password, sessions; and the links that come from outside, invitation and reset."""

import uuid
from collections.abc import Callable
from typing import Any, TypeVar

from allauth.account.adapter import get_adapter
from django.conf import settings
from django.contrib import messages
from django.contrib.auth import update_session_auth_hash
from django.contrib.auth.decorators import login_required
from django.core.exceptions import ValidationError
from django.forms import BaseForm
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from apps.accounts import limits, passwords, selectors, services, sessions
from apps.accounts.forms import ChangePasswordForm, NameForm, NewAccountForm, NewPasswordForm, ResetRequestForm
from apps.accounts.middleware import has_one_time_codes
from apps.accounts.models import Invitation, User
from apps.accounts.permissions import NotVisible
from apps.web.views.people import add_errors, signed_in

T = TypeVar("T")


# one's own account ----------------------------------------------------------------------------------------------------
@require_GET
@login_required
def account(request: HttpRequest) -> HttpResponse:
    """Name, password, one-time codes and sessions of the person themselves."""
    return _account(request)


def _account(request: HttpRequest, **forms: BaseForm) -> HttpResponse:
    user = signed_in(request)
    context: dict[str, Any] = {
        "name_form": NameForm(instance=User.objects.get(pk=user.pk)),
        "password_form": ChangePasswordForm(user=user),
        "sessions": selectors.sessions_of(user),
        "this_session_key": request.session.session_key,
        "has_codes": has_one_time_codes(user.pk),
        "must_use_codes": selectors.must_use_one_time_codes(user),
        **forms,
    }
    return render(request, "accounts/account.html", context, status=422 if forms else 200)


@require_POST
@login_required
def change_name(request: HttpRequest) -> HttpResponse:
    form = NameForm(request.POST, instance=signed_in(request))
    if not form.is_valid():
        return _account(request, name_form=form)
    form.save()
    messages.success(request, _("Your name is changed."))
    return redirect("web:account")


@sensitive_post_parameters()
@require_POST
@login_required
def change_password(request: HttpRequest) -> HttpResponse:
    """Set a new password; every other session of the person ends."""
    user = signed_in(request)
    form = ChangePasswordForm(request.POST, user=user)
    if not form.is_valid():
        return _account(request, password_form=form)
    old_key = request.session.session_key
    passwords.change_password(user=user, password=form.cleaned_data["password"], keep_session_key=old_key)
    update_session_auth_hash(request, user)  # gives this session a new key
    sessions.follow_new_key(request, old_key)
    messages.success(request, _("Your password is changed. You are signed out everywhere else."))
    return redirect("web:account")


@require_POST
@login_required
def end_session(request: HttpRequest, session_id: uuid.UUID) -> HttpResponse:
    """Sign out of one other browser."""
    session = get_object_or_404(selectors.sessions_of(signed_in(request)), pk=session_id)
    sessions.end_session(session)
    messages.success(request, _("That session has ended."))
    return redirect("web:account")


@require_POST
@login_required
def end_other_sessions(request: HttpRequest) -> HttpResponse:
    """Sign out everywhere but here."""
    sessions.end_sessions(user=signed_in(request), keep_key=request.session.session_key)
    messages.success(request, _("You are signed out everywhere else."))
    return redirect("web:account")


# links from outside ---------------------------------------------------------------------------------------------------
class TooManyTriesError(Exception):
    """An address tried too many links that do not exist."""


def _opened(request: HttpRequest, open_link: Callable[[str], T], secret: str) -> T:
    """What the link opens; wrong links are counted per address, so that nobody can try many."""
    attempt = limits.take("link_address", limits.address_of(request))
    if attempt is None:
        raise TooManyTriesError
    opened = open_link(secret)
    attempt.forget()
    return opened


def _too_many(request: HttpRequest) -> HttpResponse:
    response = render(request, "429.html", status=429)
    response["Retry-After"] = "60"
    return response


@sensitive_post_parameters()
@never_cache
@require_http_methods(["GET", "POST"])
def invitation(request: HttpRequest, secret: str) -> HttpResponse:
    """Accept an invitation, signed in or by making an account."""
    try:
        opened = _opened(request, services.open_invitation, secret)
    except TooManyTriesError:
        return _too_many(request)
    if request.user.is_authenticated:
        return _accept_signed_in(request, opened, secret)
    if User.objects.filter(email=opened.email).exists():
        sign_in = f"{reverse('account_login')}?next={request.path}"
        return render(request, "accounts/invitation.html", {"invitation": opened, "sign_in_url": sign_in})
    return _accept_new(request, opened, secret)


def _accept_signed_in(request: HttpRequest, opened: Invitation, secret: str) -> HttpResponse:
    user = signed_in(request)
    context: dict[str, Any] = {"invitation": opened, "is_mine": user.email == opened.email}
    if request.method == "POST" and context["is_mine"]:
        membership = services.accept_invitation(secret=secret, user=user)
        messages.success(request, _("You now see %s.") % membership.client)
        return redirect(settings.LOGIN_REDIRECT_URL)
    return render(request, "accounts/invitation.html", context)


def _accept_new(request: HttpRequest, opened: Invitation, secret: str) -> HttpResponse:
    form = NewAccountForm(request.POST or None, user=User(email=opened.email))
    if request.method == "POST" and form.is_valid():
        try:
            membership = services.accept_invitation(
                secret=secret, display_name=form.cleaned_data["display_name"], password=form.cleaned_data["password"]
            )
        except ValidationError as error:
            add_errors(form, error)
        else:
            get_adapter(request).login(request, membership.user)
            messages.success(request, _("You now see %s.") % membership.client)
            return redirect(settings.LOGIN_REDIRECT_URL)
    context = {"invitation": opened, "form": form}
    return render(request, "accounts/invitation.html", context, status=422 if form.errors else 200)


@require_http_methods(["GET", "POST"])
def password_reset(request: HttpRequest) -> HttpResponse:
    """Ask for a link by mail; without a mail server the page says who can help."""
    context: dict[str, Any] = {"mail_is_set_up": bool(settings.EMAIL_URL_HOST), "form": ResetRequestForm()}
    if request.method == "POST" and context["mail_is_set_up"]:
        form = context["form"] = ResetRequestForm(request.POST)
        if form.is_valid():
            email = form.cleaned_data["email"].strip().lower()
            address = limits.address_of(request)
            wanted = ("password_reset_account", email), ("password_reset_address", address)
            if limits.take_all(*wanted) is None:
                return _too_many(request)
            passwords.mail_reset_link(
                email=email,
                link_for=lambda secret: request.build_absolute_uri(reverse("web:password_new", args=[secret])),
            )
            context["sent"] = True
    status = 422 if context["form"].errors else 200
    return render(request, "accounts/password_reset.html", context, status=status)


@sensitive_post_parameters()
@never_cache
@require_http_methods(["GET", "POST"])
def password_new(request: HttpRequest, secret: str) -> HttpResponse:
    """Set a new password with a link."""
    try:
        link = _opened(request, passwords.open_reset_link, secret)
    except TooManyTriesError:
        return _too_many(request)
    form = NewPasswordForm(request.POST or None, user=link.user)
    if request.method == "POST" and form.is_valid():
        try:
            passwords.use_reset_link(secret=secret, password=form.cleaned_data["password"])
        except NotVisible:  # used in another window meanwhile
            messages.error(request, _("This link was used already."))
        else:
            messages.success(request, _("Your password is changed. Sign in with it."))
        return redirect("account_login")
    context = {"form": form, "person": link.user}
    return render(request, "accounts/password_new.html", context, status=422 if form.errors else 200)
