"""What the isolation tests need to know about addresses. A new route whose parameters are not known here fails.

To add a screen or an API route: use `<uuid:assessment_id>`, `<uuid:quote_version_id>` and so on, the model's name in
snake case with `_id`, and there is nothing to do here. Otherwise add its parameter to `OF_CLIENT` (an id of an object)
or to `CONSTANTS` (a word of the address that names no object). A form that takes ids belongs into `FOREIGN_FIELDS`.
"""

import re
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from django.apps import apps
from django.db.models import Model

from apps.accounts.models import Client, Membership, Role, User
from apps.accounts.scoping import ClientOwned
from tests.factories import (
    FACTORIES,
    make_assumption_value,
    make_client,
    make_member,
    make_membership,
    make_organisation,
    make_organisation_membership,
    make_user,
    make_user_session,
)

CLIENT_OWNED = [model for model in apps.get_models() if issubclass(model, ClientOwned)]


def snake_case(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


@dataclass
class Side:
    """One client with one row of every model, its owner, and the owner's organisation and session."""

    client: Client
    owner: User
    rows: dict[str, Model] = field(default_factory=dict)  # model name in snake case -> a row of the client


@dataclass
class World:
    """Client A, whose people try; client B, whose rows they must not reach; and those who try."""

    a: Side
    b: Side
    people: dict[str, User]


def make_side(name: str) -> Side:
    organisation = make_organisation(name=f"{name} group")
    client = make_client(name=name, organisation=organisation)
    owner = make_member(client, Role.OWNER, display_name=f"{name} owner")
    make_organisation_membership(organisation=organisation, user=owner)
    side = Side(client=client, owner=owner)
    side.rows["user_session"] = make_user_session(user=owner)
    for model in CLIENT_OWNED:
        side.rows[snake_case(model.__name__)] = FACTORIES[model](client=client)
    return side


def make_world() -> World:
    """Two full clients and the roles of reliability T-T1 that exist so far."""
    a, b, third = make_side("Larkmere"), make_side("Corvane"), make_client(name="Pellstone")
    removed = make_user()
    Membership.objects.filter(pk=make_membership(client=b.client, user=removed).pk).delete()
    make_membership(client=a.client, user=removed, role=Role.ANALYST)
    two_clients = make_member(a.client, Role.ANALYST)
    make_membership(client=third, user=two_clients, role=Role.OWNER)
    people = {
        "owner of A": a.owner,
        "viewer of A": make_member(a.client, Role.VIEWER),
        "member of two clients": two_clients,
        "removed from B": removed,
        "staff of the installation": make_user(is_staff=True),
    }
    return World(a=a, b=b, people=people)


# Parameters that are ids of objects but not named after a client-owned model.
OF_CLIENT: dict[str, Callable[[Side], Any]] = {
    "client_id": lambda side: side.client.pk,
    "organisation_id": lambda side: side.client.organisation_id,
    "membership_id": lambda side: Membership.objects.get(client=side.client, user=side.owner).pk,
    "user_id": lambda side: side.owner.pk,
    "session_id": lambda side: side.rows["user_session"].pk,
    "assumption_value_id": lambda side: make_assumption_value(client=side.client).pk,
}
# Short names that screens use for a model, such as "run_id" for an analysis run.
ALIASES: dict[str, str] = {
    "run_id": "analysis_run",
    "configuration_id": "rack_configuration",
    "item_id": "roadmap_item",
    "batch_id": "import_batch",
    "import_id": "import_batch",
    "file_id": "uploaded_file",
    "version_id": "quote_version",
    "line_id": "quote_line",
    "waiver_id": "rule_waiver",
    "phase_id": "option_phase",
    "staff_id": "option_staff",
}
# Parameters whose meaning depends on the route: {"api:run-detail": {"pk": "analysis_run"}}.
BY_ROUTE: dict[str, dict[str, str]] = {}
# Words of an address that name no object of a client.
CONSTANTS: dict[str, Any] = {"format": "json", "part": "results"}
# Secrets of links: whoever holds one may open it, so they are tested with their feature.
SECRETS = {"secret"}
# Routes that anybody may open without signing in.
PUBLIC = {
    "account_login",
    "account_logout",
    "account_inactive",
    "account_reset_password",
    "web:password_reset",
    "web:password_new",
    "web:invitation",
    "health_live",
    "health_ready",
    "admin:login",
    "mfa_authenticate",  # leads to the sign-in form unless a password was typed before
}
# Forms that take ids: route of A -> {field: parameter}. With an id of B they answer as with an unknown one.
FOREIGN_FIELDS: dict[str, dict[str, str]] = {
    "web:restore_assumption": {"value": "assumption_value_id"},
    "web:override_value": {"organisation": "organisation_id"},
    "web:withdraw_override": {"organisation": "organisation_id"},
}


def value_of(route: str, parameter: str, side: Side) -> Any:
    """What stands for `parameter` in an address about the client of `side`; KeyError when nothing is known of it."""
    if parameter in BY_ROUTE.get(route, {}):
        return side.rows[BY_ROUTE[route][parameter]].pk
    if parameter in OF_CLIENT:
        return OF_CLIENT[parameter](side)
    if parameter in CONSTANTS:
        return CONSTANTS[parameter]
    name = ALIASES.get(parameter, parameter.removesuffix("_id"))
    return side.rows[name].pk


def unknown_value(parameter: str) -> Any:
    """An id that nothing has."""
    return CONSTANTS.get(parameter, uuid.uuid4())


def names_an_object(parameter: str) -> bool:
    return parameter not in CONSTANTS and parameter not in SECRETS
