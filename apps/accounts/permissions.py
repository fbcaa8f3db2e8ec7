"""Who may do what in a client: one table, and the two functions that read it."""

from typing import Final

from django.contrib.auth.models import AnonymousUser
from django.core.exceptions import PermissionDenied
from django.http import Http404
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from apps.accounts.models import Client, Membership, Role, User

# What each action lets a person do; docs/roles.md is checked against both tables.
ACTION_MEANINGS = {
    "view": gettext_lazy("open every page of the client"),
    "edit": gettext_lazy("change assessments, configurations, options and the roadmap"),
    "import": gettext_lazy("import quotes and undo an import"),
    "run": gettext_lazy("start and cancel runs, make scenarios"),
    "waive": gettext_lazy("take responsibility for a rule that is not met, and withdraw it"),
    "assumptions": gettext_lazy("add versions of assumptions and exchange rates, judge claims"),
    "manage_members": gettext_lazy("invite and remove people, change roles, read the audit log"),
    "export": gettext_lazy("download workbooks, tables and run documents"),
    "review": gettext_lazy("challenge, sign or reject"),
    "delete": gettext_lazy("rename or delete the client, delete an assessment"),
}

_TABLE = """
                  view  edit  import  run  waive  assumptions  manage_members  export  review  delete
owner             yes   yes   yes     yes  yes    yes          yes             yes     yes     yes
analyst           yes   yes   yes     yes  no     yes          no              yes     no      no
finance_reviewer  yes   no    no      yes  no     yes          no              yes     yes     no
architect         yes   yes   no      yes  yes    yes          no              yes     no      no
viewer            yes   no    no      no   no     no           no              no      no      no
"""


def _read(table: str) -> dict[Role, frozenset[str]]:
    """Role -> the actions marked yes in the written table."""
    head, *rows = [line.split() for line in table.strip().splitlines()]
    return {
        Role(role): frozenset(action for action, mark in zip(head, marks, strict=True) if mark == "yes")
        for role, *marks in rows
    }


ACTIONS: Final[dict[Role, frozenset[str]]] = _read(_TABLE)


class NotVisible(Http404):
    """The client is not the user's, or does not exist: nobody can tell which."""


class SystemActor:
    """Stands for commands and the queue where a person usually acts; never made from a request."""

    is_authenticated = False

    def __repr__(self) -> str:
        return "SYSTEM"


SYSTEM: Final = SystemActor()
Actor = User | SystemActor
AnyUser = User | AnonymousUser | SystemActor


def role_of(user: AnyUser, client: Client) -> Role | None:
    """The user's role in the client; None without one, when signed out, and in a deleted client."""
    if not isinstance(user, User) or not user.is_active:
        return None
    roles = Membership.objects.filter(user=user, client=client, client__deleted_at__isnull=True)
    role = roles.values_list("role", flat=True).first()
    return Role(role) if role else None


def allowed_actions(user: AnyUser, client: Client) -> frozenset[str]:
    """Every action the user may do in the client, for pages that show or hide several buttons."""
    if user is SYSTEM:
        return frozenset(ACTION_MEANINGS)
    role = role_of(user, client)
    return ACTIONS[role] if role else frozenset()


def can(user: AnyUser, client: Client, action: str) -> bool:
    """Whether the user's role in the client allows the action."""
    if action not in ACTION_MEANINGS:
        raise ValueError(f"action is {action!r}; it must be one of {', '.join(ACTION_MEANINGS)}.")
    return action in allowed_actions(user, client)


def require(user: AnyUser, client: Client, action: str) -> None:
    """Return if the user may do the action in the client.

    Raises `NotVisible`, a 404, without a role in the client, and `PermissionDenied` when the role does not allow it.
    """
    if can(user, client, action):
        return
    if role_of(user, client) is None:
        raise NotVisible(_("Page not found"))
    raise PermissionDenied(_("Your role in this client does not allow this."))
