"""What people type about themselves and each other; every label is visible, nothing is told by a placeholder."""

from typing import Any

from allauth.account.forms import LoginForm, ReauthenticateForm
from allauth.mfa.base.forms import AuthenticateForm
from allauth.mfa.base.forms import ReauthenticateForm as ReauthenticateCodeForm
from allauth.mfa.totp.forms import ActivateTOTPForm, DeactivateTOTPForm
from django import forms
from django.contrib.auth import password_validation
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _

from apps.accounts import limits
from apps.accounts.adapter import AccountAdapter
from apps.accounts.models import Role, User
from apps.accounts.passwords import MAX_LENGTH
from apps.accounts.selectors import must_use_one_time_codes

PASSWORD_HELP = _("12 to 128 characters, nothing that is on lists of common passwords. Several words make a good one.")


def _without_placeholders(form: forms.Form) -> None:
    for field in form.fields.values():
        field.widget.attrs.pop("placeholder", None)


# sign-in ------------------------------------------------------------------------------------------------------------
class SignInForm(LoginForm):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        _without_placeholders(self)
        self.fields["login"].label = _("Mail address")
        self.fields["login"].widget.attrs["autocomplete"] = "username"
        self.fields["password"].help_text = ""
        self.fields["password"].max_length = MAX_LENGTH


class PasswordAgainForm(ReauthenticateForm):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        _without_placeholders(self)
        self.fields["password"].help_text = ""


class LimitedCodeMixin:
    """Counts a wrong one-time code before it is looked at, exactly, five in 15 minutes."""

    user: User

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        _without_placeholders(self)  # type: ignore[arg-type]
        code = self.fields["code"]  # type: ignore[attr-defined]
        code.label = _("One-time code")
        code.widget.attrs["inputmode"] = "text"
        code.max_length = 32

    def clean_code(self) -> str:
        attempt = limits.take("one_time_code", str(self.user.pk))
        if attempt is None:
            raise ValidationError(AccountAdapter.error_messages["too_many_login_attempts"])
        code: str = super().clean_code()  # type: ignore[misc]
        attempt.forget_all()
        return code


class CodeForm(LimitedCodeMixin, AuthenticateForm):
    pass


class CodeAgainForm(LimitedCodeMixin, ReauthenticateCodeForm):
    pass


class ActivateCodesForm(LimitedCodeMixin, ActivateTOTPForm):
    pass


class DeactivateCodesForm(DeactivateTOTPForm):
    def clean(self) -> dict[str, Any] | None:
        if must_use_one_time_codes(self.authenticator.user):
            raise ValidationError(_("Your organisation requires one-time codes; they cannot be switched off."))
        return super().clean()


# one's own account ----------------------------------------------------------------------------------------------------
class NameForm(forms.ModelForm):  # type: ignore[type-arg]
    class Meta:
        model = User
        fields = ["display_name"]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["display_name"].widget.attrs["autocomplete"] = "name"


class NewPasswordForm(forms.Form):
    """A new password, typed twice."""

    password = forms.CharField(
        label=_("New password"),
        help_text=PASSWORD_HELP,
        strip=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
    )
    password_again = forms.CharField(
        label=_("New password again"),
        strip=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
    )

    def __init__(self, *args: Any, user: User, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.user = user

    def clean_password(self) -> str:
        password: str = self.cleaned_data["password"]
        password_validation.validate_password(password, self.user)
        return password

    def clean_password_again(self) -> str:
        again: str = self.cleaned_data["password_again"]
        if "password" in self.cleaned_data and again != self.cleaned_data["password"]:
            raise ValidationError(_("The two passwords differ; they must be the same."))
        return again


class ChangePasswordForm(NewPasswordForm):
    current_password = forms.CharField(
        label=_("Current password"),
        strip=False,
        max_length=MAX_LENGTH,
        widget=forms.PasswordInput(attrs={"autocomplete": "current-password"}),
    )
    field_order = ["current_password", "password", "password_again"]

    def clean_current_password(self) -> str:
        current: str = self.cleaned_data["current_password"]
        adapter = AccountAdapter()
        if not adapter.reauthenticate(self.user, current):
            raise adapter.validation_error("incorrect_password")
        return current


class ResetRequestForm(forms.Form):
    email = forms.EmailField(label=_("Mail address"), widget=forms.EmailInput(attrs={"autocomplete": "username"}))


# clients --------------------------------------------------------------------------------------------------------------
class ClientNameForm(forms.Form):
    name = forms.CharField(label=_("Name of the client"), max_length=200)


class DeleteClientForm(forms.Form):
    typed_name = forms.CharField(
        label=_("Name of the client"),
        max_length=200,
        help_text=_("Type the name to confirm."),
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )


class InviteForm(forms.Form):
    email = forms.EmailField(label=_("Mail address"), widget=forms.EmailInput(attrs={"autocomplete": "off"}))
    role = forms.ChoiceField(label=_("Role"), choices=Role.choices, initial=Role.VIEWER)


class RoleForm(forms.Form):
    role = forms.ChoiceField(label=_("Role"), choices=Role.choices)


class NewAccountForm(NewPasswordForm):
    """What a person without an account gives to accept an invitation."""

    display_name = forms.CharField(
        label=_("Your name"), max_length=120, widget=forms.TextInput(attrs={"autocomplete": "name"})
    )
    field_order = ["display_name", "password", "password_again"]


class OneTimeCodesForm(forms.Form):
    required = forms.BooleanField(label=_("Everybody has to use one-time codes"), required=False)
