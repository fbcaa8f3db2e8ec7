"""Administration for staff of the installation. It sees all clients, so a client is asked before it is used."""

from typing import Any

from django import forms
from django.contrib import admin
from django.contrib.auth.admin import UserAdmin
from django.contrib.auth.forms import AdminUserCreationForm
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from apps.accounts.models import (
    AuditEntry,
    Client,
    Invitation,
    Membership,
    Organisation,
    OrganisationMembership,
    OutboxMessage,
    User,
    UserSession,
)


class ClientOwnedAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    """For rows that belong to a client: reads past the scope, shows the client, never moves a row to another."""

    list_filter = ("client",)
    list_select_related = ("client",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return self.model.unscoped.all()


class ReadOnlyAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    """For rows that only the program writes."""

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


class NewUserForm(AdminUserCreationForm):  # type: ignore[type-arg]
    class Meta:
        model = User
        fields = ("email", "display_name")

    def clean_email(self) -> str:
        email: str = self.cleaned_data["email"].lower()
        if User.objects.filter(email=email).exists():
            raise forms.ValidationError(_("This address has an account."))
        return email


class OrganisationMembershipInline(admin.TabularInline):  # type: ignore[type-arg]
    model = OrganisationMembership
    extra = 1
    autocomplete_fields = ("user",)


class MembershipInline(admin.TabularInline):  # type: ignore[type-arg]
    model = Membership
    extra = 0
    autocomplete_fields = ("user",)


@admin.register(User)
class PersonAdmin(UserAdmin):  # type: ignore[type-arg]
    ordering = ("email",)
    list_display = ("email", "display_name", "is_active", "is_staff", "last_login")
    list_filter = ("is_active", "is_staff", "is_superuser")
    search_fields = ("email", "display_name")
    add_form = NewUserForm
    fieldsets = (
        (None, {"fields": ("email", "display_name", "password")}),
        (_("Rights in the installation"), {"fields": ("is_active", "is_staff", "is_superuser")}),
        (_("Dates"), {"fields": ("last_login", "date_joined")}),
    )
    add_fieldsets = ((None, {"fields": ("email", "display_name", "usable_password", "password1", "password2")}),)
    readonly_fields = ("last_login", "date_joined")


@admin.register(Organisation)
class OrganisationAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    list_display = ("name", "one_time_codes_required", "created_at")
    search_fields = ("name",)
    inlines = (OrganisationMembershipInline,)


@admin.register(Client)
class ClientAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    list_display = ("name", "organisation", "fictional", "created_at")
    list_filter = ("organisation", "fictional")
    list_select_related = ("organisation",)
    search_fields = ("name",)
    readonly_fields = ("deleted_at",)
    inlines = (MembershipInline,)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False  # an owner deletes a client on its settings page, which also removes the files


@admin.register(Invitation)
class InvitationAdmin(ReadOnlyAdmin, ClientOwnedAdmin):
    list_display = ("email", "role", "client", "expires_at", "accepted_at", "revoked_at")
    exclude = ("secret_sha256",)


@admin.register(AuditEntry)
class AuditEntryAdmin(ReadOnlyAdmin):
    list_display = ("at", "action", "subject", "actor", "client", "organisation")
    list_filter = ("action", "organisation")
    list_select_related = ("actor", "client", "organisation")
    date_hierarchy = "at"


@admin.register(OutboxMessage)
class OutboxMessageAdmin(ReadOnlyAdmin):
    list_display = ("unique_key", "kind", "created_at", "sent_at", "attempts", "error")
    exclude = ("payload",)  # may hold links


@admin.register(UserSession)
class UserSessionAdmin(ReadOnlyAdmin):
    list_display = ("user", "address", "signed_in_at", "last_seen_at")
    list_select_related = ("user",)
    exclude = ("session_key",)
