"""Nothing of client B is reached from client A, at any address, by any method (reliability T-T1, T-T2, T-T4)."""

import itertools
import re
import uuid
from collections import deque
from typing import Any

import pytest
from django.db import models
from django.db.models import Model
from django.test import Client as Browser
from django.urls import reverse

from apps.accounts.models import AuditEntry, Client, Membership
from tests.tenancy import cases
from tests.tenancy.cases import CLIENT_OWNED, Side, World, make_world
from tests.tenancy.routes import METHODS, Route, address, all_routes, answer, ours

ROLES = [
    "owner of A",
    "viewer of A",
    "member of two clients",
    "removed from B",
    "staff of the installation",
]
ABOUT_OBJECTS = [route for route in ours() if any(map(cases.names_an_object, route.parameters))]
MARKER = "zqmarkerzq"


@pytest.fixture
def world(db: None) -> World:
    return make_world()


def signed_in(world: World, role: str) -> Browser:
    browser = Browser()
    browser.force_login(world.people[role])
    return browser


def ids(route: Route, values: dict[str, Any]) -> list[object]:
    return [values[name] for name in route.parameters if cases.names_an_object(name)]


def rows_of(client: Client) -> dict[str, list[dict[str, Any]]]:
    """Everything stored about a client, to see whether anything changed."""
    rows = {
        model.__name__: list(model.unscoped.filter(client=client).order_by("pk").values()) for model in CLIENT_OWNED
    }
    rows["Client"] = list(Client.objects.filter(pk=client.pk).values())
    rows["Membership"] = list(Membership.objects.filter(client=client).order_by("pk").values())
    rows["AuditEntry"] = list(AuditEntry.objects.filter(client=client).order_by("pk").values())
    return rows


# the list of routes ---------------------------------------------------------------------------------------------------
def test_every_route_has_a_name() -> None:
    assert [route.pattern for route in ours() if not route.name] == []


@pytest.mark.django_db
def test_every_parameter_of_every_route_is_known() -> None:
    side = cases.make_side("Larkmere")
    unknown = []
    for route in ours():
        for parameter in route.parameters:
            if parameter in cases.SECRETS:
                continue
            try:
                cases.value_of(route.name, parameter, side)
            except KeyError:
                unknown.append(f"{route.name}: {parameter}")
    assert unknown == [], "Add these to tests/tenancy/cases.py."


def test_there_are_routes_about_objects() -> None:
    assert len(ABOUT_OBJECTS) >= 12


# T-T1 -----------------------------------------------------------------------------------------------------------------
def foreign_values(route: Route, world: World) -> list[dict[str, Any]]:
    """The route's parameters with ids of B in every mixture with ids of A, except A's alone."""
    objects = [name for name in route.parameters if cases.names_an_object(name)]
    constants = {name: cases.CONSTANTS[name] for name in route.parameters if name in cases.CONSTANTS}
    mixtures = []
    for sides in itertools.product([world.b, world.a], repeat=len(objects)):
        if world.b in sides:
            mixture = {name: cases.value_of(route.name, name, side) for name, side in zip(objects, sides, strict=True)}
            mixtures.append({**mixture, **constants})
    return mixtures


def unknown_like(route: Route, values: dict[str, Any], world: World) -> dict[str, Any]:
    """The same values with an unknown id wherever an id of B stands."""
    own = {name: cases.value_of(route.name, name, world.a) for name in route.parameters if name in values}
    return {
        name: value if value == own[name] or name in cases.CONSTANTS else uuid.uuid4() for name, value in values.items()
    }


def reached(browser: Browser, route: Route, world: World) -> list[str]:
    """Where the route answers differently about B than about nothing, one line an answer."""
    found = []
    for foreign in foreign_values(route, world):
        unknown = unknown_like(route, foreign, world)
        for method, headers in (*((method, {}) for method in METHODS), ("get", {"HX-Request": "true"})):
            got = answer(browser, method, address(route, foreign), ids(route, foreign), headers=headers)
            expected = answer(browser, method, address(route, unknown), ids(route, unknown), headers=headers)
            # 403: a person of A whose role does not allow this page about A, asked with a second id of B.
            about_a = len(ids(route, foreign)) > 1 and got[0] == 403
            if got != expected or not (got[0] in (404, 405) or about_a):
                found.append(f"{method} {route.name} {headers}: {got[0]}, about nothing {expected[0]}")
    return found


@pytest.mark.parametrize("role", ROLES)
def test_an_id_of_another_client_is_answered_as_an_unknown_one(world: World, role: str) -> None:
    browser = signed_in(world, role)
    before = rows_of(world.b.client)
    assert [line for route in ABOUT_OBJECTS for line in reached(browser, route, world)] == []
    assert rows_of(world.b.client) == before


def let_in(route: Route, world: World) -> list[str]:
    """What the route answers to nobody other than the way to the sign-in form, one line an answer."""
    values = {name: cases.value_of(route.name, name, world.b) for name in route.parameters}
    unknown = {name: cases.unknown_value(name) for name in route.parameters}
    found = []
    for method in METHODS:
        response = getattr(Browser(), method)(address(route, values))
        status = response.status_code
        sent_away = status == 302 and response["Location"].startswith(reverse("account_login"))
        refused = status in (401, 403) and route.pattern.startswith("api/")
        same = getattr(Browser(), method)(address(route, unknown)).status_code == status
        if not (same and (sent_away or refused or status == 405)):
            found.append(f"{method} {route.name}: {status}")
    return found


def test_nobody_gets_past_the_sign_in(world: World) -> None:
    before = rows_of(world.b.client)
    closed = [route for route in ours() if route.name not in cases.PUBLIC]
    assert [line for route in closed for line in let_in(route, world)] == []
    assert rows_of(world.b.client) == before


@pytest.mark.parametrize("role", ROLES[:4])
def test_the_administration_is_closed_to_people_of_clients(world: World, role: str) -> None:
    browser = signed_in(world, role)
    for route in all_routes():
        if (
            route.pattern.startswith("admin/")
            and not route.parameters
            and route.name not in ("admin:login", "admin:logout", "")
        ):
            response = browser.get(reverse(route.name))
            assert response.status_code in (302, 403, 405), route.name
            if response.status_code == 302:
                assert "login" in response["Location"]
    assert browser.get(reverse("admin:login")).status_code == 403


# T-T4: ids of B in fields of forms ------------------------------------------------------------------------------------
def test_a_form_takes_an_id_of_another_client_as_an_unknown_one(world: World) -> None:
    browser = signed_in(world, "owner of A")
    for route in (route for route in ours() if route.name in cases.FOREIGN_FIELDS):
        own = {parameter: cases.value_of(route.name, parameter, world.a) for parameter in route.parameters}
        for field, parameter in cases.FOREIGN_FIELDS[route.name].items():
            foreign, unknown = cases.value_of(route.name, parameter, world.b), uuid.uuid4()
            got = answer(browser, "post", address(route, own), [foreign], data={field: foreign})
            assert got == answer(browser, "post", address(route, own), [unknown], data={field: unknown}), route.name
            assert str(foreign) not in browser.get(address(route, own)).content.decode()


# T-T2: a marker in every text of B ------------------------------------------------------------------------------------
def _mark(row: Model) -> list[str]:
    """Write the marker into every free text of a row; returns the fields that hold it."""
    marked = []
    for field in row._meta.concrete_fields:
        value = getattr(row, field.attname)
        if isinstance(field, models.JSONField) and isinstance(value, dict):
            setattr(row, field.attname, {**value, MARKER: MARKER})
        elif (
            isinstance(field, models.CharField | models.TextField)
            and not field.choices
            and (field.max_length or 99) > len(MARKER) + 1
            and not isinstance(field, models.EmailField)
        ):
            setattr(row, field.attname, f"{MARKER}{uuid.uuid4().hex}"[: field.max_length])
        else:
            continue
        marked.append(field.name)
    if marked:
        type(row)._base_manager.filter(pk=row.pk).update(**{name: getattr(row, name) for name in marked})
    return marked


def _mark_everything(side: Side) -> int:
    rows: list[Model] = [side.client, side.client.organisation, side.owner, *side.rows.values()]
    for model in CLIENT_OWNED:  # rows that factories made on the way, such as the vendor of a quote
        rows += [row for row in model.unscoped.filter(client=side.client) if row not in rows]
    AuditEntry.objects.create(client=side.client, action="quote.imported", subject=MARKER)
    return sum(len(_mark(row)) for row in rows)


LINK = re.compile(r'(?:href|action|src|hx-get|hx-post)="(/[^"#]*)"')
NOT_FOLLOWED = ("/static/", "/accounts/logout/", "/admin/", "/health/")


def _start_addresses(world: World) -> list[str]:
    """Every route without parameters, and every one about A."""
    found = []
    for route in ours():
        if cases.SECRETS & set(route.parameters):
            continue
        values = {name: cases.value_of(route.name, name, world.a) for name in route.parameters}
        found.append(address(route, values))
    return found


@pytest.mark.parametrize("role", ["owner of A", "viewer of A", "member of two clients"])
def test_no_text_of_another_client_is_in_any_answer(
    world: World, role: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _mark_everything(world.b) > 60
    browser = signed_in(world, role)
    waiting = deque(_start_addresses(world))
    seen: set[str] = set()
    while waiting and len(seen) < 400:
        url = waiting.popleft()
        if url in seen or url.startswith(NOT_FOLLOWED):
            continue
        seen.add(url)
        for headers in ({}, {"HX-Request": "true"}):
            response = browser.get(url, headers=headers)
            body = b"".join(response.streaming_content) if response.streaming else response.content
            assert response.status_code < 500, url
            assert MARKER not in body.decode(errors="replace"), url
            assert MARKER not in str(response.headers), url
            if response.headers.get("Content-Type", "").startswith("text/html"):
                waiting.extend(found.replace("&amp;", "&") for found in LINK.findall(body.decode()))
    assert len(seen) > 15
    output = capsys.readouterr()
    assert MARKER not in output.out + output.err


def test_the_marker_is_found_by_the_people_of_its_own_client(world: World) -> None:
    _mark_everything(world.b)
    browser = Browser()
    browser.force_login(world.b.owner)
    assert MARKER in browser.get(reverse("web:client_people", args=[world.b.client.pk])).content.decode()
