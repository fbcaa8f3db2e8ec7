"""The editor of an option: letter, phases, people, own lines, payment, dropping; errors beside fields; who may."""

from datetime import date
from decimal import Decimal
from typing import Any

import pytest
from django.core.exceptions import ValidationError
from pytest_django import DjangoAssertNumQueries

from apps.accounts.models import Role
from apps.assessments.models import Option, OptionPhase, OptionStaff
from apps.web.forms.base import NumberField, WholeNumberField
from apps.web.forms.options import OptionForm
from tests import factories
from tests.web.input_pages import Desk, make_desk, text_of

pytestmark = pytest.mark.django_db

NEW = {"letter": "B", "name": "Quarrow Racks", "facility": "colocation", "financing_kind": "cash", "shortlisted": "on"}


@pytest.fixture
def desk(db: None) -> Desk:
    return make_desk(signature_date=date(2026, 12, 1))


@pytest.fixture
def option(desk: Desk) -> Option:
    return factories.make_option(client=desk.assessment.client, assessment=desk.assessment, letter="A", name="Velmora")


def configuration(desk: Desk, **values: Any) -> Any:
    return factories.make_rack_configuration(client=desk.assessment.client, assessment_id=desk.assessment.pk, **values)


def stored(option: Option) -> Option:
    return Option.objects.of_client(option.client).get(pk=option.pk)


def facts(option: Option, **changes: str) -> dict[str, str]:
    """What a browser would send for the form of the option itself."""
    form = OptionForm(option=stored(option))
    values = {name: form[name].value() for name in form.fields}
    sent = {name: "on" if value is True else str(value) for name, value in values.items() if value not in (None, False)}
    return {"part": "facts", **sent, **changes}


# new ------------------------------------------------------------------------------------------------------------------
def test_an_option_is_added_with_the_next_letter_and_colour(desk: Desk, option: Option) -> None:
    assert 'name="letter" value="B"' in text_of(desk.get("option_new"))
    response = desk.post("option_new", data={**NEW, "bridge_enabled": "on"})
    made = Option.objects.of_client(option.client).get(letter="B")
    assert response["Location"] == desk.url("option", made.pk)
    assert (made.slot, made.shortlisted, made.financing, made.bridge) == (
        2 if option.slot == 1 else 1,
        True,
        {"kind": "cash"},
        {},
    )


def test_a_taken_letter_and_missing_facts_are_named_beside_their_fields(desk: Desk, option: Option) -> None:
    response = desk.post("option_new", data={**NEW, "letter": "A"})
    assert response.status_code == 422
    assert "Letter is “A”; it must be one that no other option has." in text_of(response)
    page = text_of(desk.post("option_new", data={**NEW, "name": "", "financing_kind": "loan"}))
    assert "Name is empty; it must be given." in page
    page = text_of(desk.post("option_new", data={**NEW, "financing_kind": "loan"}))
    assert "Rate a year is empty; it must be given for a loan or a lease." in page
    assert Option.objects.of_client(option.client).count() == 1


# facts ----------------------------------------------------------------------------------------------------------------
def test_a_lease_is_stored_as_the_engine_reads_it(desk: Desk, option: Option) -> None:
    changes = {
        "financing_kind": "lease",
        "financing_term_months": "36",
        "financing_starts": "delivery",
        "financing_annual_rate_low": "0.06",
        "financing_annual_rate_likely": "0.07",
        "financing_annual_rate_high": "0.08",
        "financing_residual_share_likely": "0.1",
        "bridge_usd_per_gpu_hour_likely": "2.9",
        "bridge_source": "Nimbrel list price",
    }
    assert desk.post("option", option.pk, data=facts(option, **changes)).status_code == 302
    found = stored(option)
    assert found.financing == {
        "kind": "lease",
        "term_months": 36,
        "starts": "delivery",
        "annual_rate": {"low": "0.06", "likely": "0.07", "high": "0.08"},
        "residual_share": {"likely": "0.1"},
    }
    assert found.bridge == {"usd_per_gpu_hour": {"likely": "2.9"}, "source": "Nimbrel list price"}
    desk.post("option", option.pk, data=facts(option))
    assert stored(option).financing == found.financing  # saving again changes nothing


def test_a_range_that_does_not_rise_is_named(desk: Desk, option: Option) -> None:
    changes = {f"bridge_usd_per_gpu_hour_{end}": value for end, value in (("low", "3"), ("likely", "2"), ("high", "4"))}
    response = desk.post("option", option.pk, data=facts(option, **changes))
    assert response.status_code == 422
    assert "Low, likely and high must rise: 3, 2, 4." in text_of(response)


# phases ---------------------------------------------------------------------------------------------------------------
def test_phases_are_added_changed_and_removed(desk: Desk, option: Option) -> None:
    cloud, racks = configuration(desk, template="cloud_reserved"), configuration(desk)
    version = factories.make_quote_version(client=option.client)
    data = {
        "part": "phases",
        "phases-rows": "2",
        "phases-0-configuration": str(cloud.pk),
        "phases-0-order_month": "0",
        "phases-0-end_month": "9",
        "phases-0-quantity_scale": "0.5",
        "phases-1-configuration": str(racks.pk),
        "phases-1-quote_version": str(version.pk),
        "phases-1-order_month": "1",
        "phases-1-quantity_scale": "1",
        "phases-1-n_accelerators": "64",
        "add_row": "1",
    }
    response = desk.post("option", option.pk, data=data)  # a further row first: nothing is stored, nothing is lost
    assert response.status_code == 200
    assert 'name="phases-2-configuration"' in text_of(response)
    assert 'value="0.5"' in text_of(response)
    assert OptionPhase.objects.of_client(option.client).count() == 0
    del data["add_row"]
    assert desk.post("option", option.pk, data=data).status_code == 302
    first, second = OptionPhase.objects.of_client(option.client).order_by("position")
    assert (first.end_month, first.quantity_scale, second.n_accelerators) == (Decimal(9), Decimal("0.5"), 64)
    assert second.quote_version_id == version.pk
    newer = factories.make_quote_version(client=option.client, quote=version.quote, version=2)
    change = {
        "part": "phases",
        "phases-rows": "2",
        "phases-0-id": str(first.pk),
        "phases-0-remove": "on",
        "phases-1-id": str(second.pk),
        "phases-1-quote_version": str(newer.pk),
        "phases-1-order_month": "2",
        "phases-1-quantity_scale": "1",
    }
    assert desk.post("option", option.pk, data=change).status_code == 302
    kept = OptionPhase.objects.of_client(option.client).get()
    assert (kept.pk, kept.quote_version_id, kept.order_month, kept.n_accelerators) == (second.pk, newer.pk, 2, None)


def test_a_refused_phase_stores_none_of_them(desk: Desk, option: Option) -> None:
    racks = configuration(desk)
    data = {"part": "phases", "phases-rows": "2"}
    data |= {"phases-0-configuration": str(racks.pk), "phases-0-order_month": "0", "phases-0-quantity_scale": "1"}
    data |= {"phases-1-configuration": str(racks.pk), "phases-1-order_month": "9", "phases-1-end_month": "3"}
    response = desk.post("option", option.pk, data=data)
    assert response.status_code == 422
    assert "end_month is 3; it must be later than order_month, 9." in text_of(response)
    assert OptionPhase.objects.of_client(option.client).count() == 0


def test_configurations_and_quotes_of_other_clients_are_no_choice(desk: Desk, option: Option) -> None:
    foreign = factories.make_rack_configuration()
    version = factories.make_quote_version()
    data = {"part": "phases", "phases-rows": "1", "phases-0-configuration": str(foreign.pk)}
    response = desk.post("option", option.pk, data={**data, "phases-0-quote_version": str(version.pk)})
    assert response.status_code == 422
    assert "must be one of the list" in text_of(response)
    assert str(foreign.pk) not in text_of(desk.get("option", option.pk))


# people and lines -----------------------------------------------------------------------------------------------------
def test_people_are_replaced_as_typed(desk: Desk, option: Option) -> None:
    response = desk.post("option", option.pk, data={"part": "staff", "staff-rows": "0", "add_row": "1"})
    assert 'name="staff-0-role"' in text_of(response)
    row = {"role": "Fabric operations", "fte_low": "1", "fte_likely": "1.5", "fte_high": "2", "starts": "signature"}
    data = {"part": "staff", "staff-rows": "2", **{f"staff-0-{name}": value for name, value in row.items()}}
    for _click in range(2):
        assert desk.post("option", option.pk, data=data).status_code == 302
    person = OptionStaff.objects.of_client(option.client).get()
    assert (person.role, person.fte_likely, person.starts) == ("Fabric operations", Decimal("1.5"), "signature")
    assert desk.post("option", option.pk, data={**data, "staff-0-remove": "on"}).status_code == 302
    assert OptionStaff.objects.of_client(option.client).count() == 0


def test_people_without_a_number_are_refused_beside_the_field(desk: Desk, option: Option) -> None:
    data = {"part": "staff", "staff-rows": "1", "staff-0-role": "Operator", "staff-0-fte_likely": "some"}
    response = desk.post("option", option.pk, data=data)
    assert response.status_code == 422
    assert "FTE, likely is “some”; it must be a number" in text_of(response)
    assert 'value="Operator"' in text_of(response)


def test_own_lines_keep_what_the_form_does_not_show(desk: Desk, option: Option) -> None:
    option.extra_lines = [
        {"kind": "service", "description": "Freight", "charge": "one_off", "comparison_key": "freight"}
    ]
    option.save()
    data = {
        "part": "lines",
        "lines-rows": "2",
        "lines-0-description": "Freight and insurance",
        "lines-0-kind": "service",
        "lines-0-charge": "one_off",
        "lines-0-unit_price_likely": "12000",
        "lines-1-description": "Site guard",
        "lines-1-kind": "facility",
        "lines-1-charge": "month",
        "lines-1-unit_price_low": "900",
        "lines-1-unit_price_likely": "1 000",
        "lines-1-unit_price_high": "1100",
    }
    assert desk.post("option", option.pk, data=data).status_code == 302
    first, second = stored(option).extra_lines
    assert (first["comparison_key"], first["unit_price_likely"]) == ("freight", "12000")
    assert (second["charge"], second["period"], second["unit_price_likely"]) == ("recurring", "month", "1000")


# numbers --------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("typed", "number"),
    [
        ("1,5", "1.5"),
        ("-0,125", "-0.125"),
        ("1234,567", "1234.567"),
        ("1,234,567", "1234567"),
        ("1,234.5", "1234.5"),
        ("1.234,5", "1234.5"),
        ("1 234,50", "1234.50"),
        ("1250.5", "1250.5"),
    ],
)
def test_a_decimal_comma_is_read_where_it_can_be_nothing_else(typed: str, number: str) -> None:
    assert NumberField(label="Rate").clean(typed) == Decimal(number)


def test_a_number_with_two_readings_is_refused_with_both() -> None:
    with pytest.raises(ValidationError, match=r"Rate is “1,234”, which can be 1234 or 1\.234; write one"):
        NumberField(label="Rate").clean("1,234")
    assert WholeNumberField(label="Nodes").clean("1,234") == 1234


@pytest.mark.parametrize("typed", ["1,5,6", "1.2,3,4", "12,34.5", "1,", ",", "n/a"])
def test_a_comma_that_makes_no_number_is_refused(typed: str) -> None:
    with pytest.raises(ValidationError, match="it must be a number"):
        NumberField(label="Rate").clean(typed)


def test_the_option_form_takes_a_decimal_comma(desk: Desk, option: Option) -> None:
    data = {"part": "staff", "staff-rows": "1", "staff-0-role": "Operations", "staff-0-fte_likely": "1,5"}
    assert desk.post("option", option.pk, data={**data, "staff-0-starts": "delivery"}).status_code == 302
    assert OptionStaff.objects.of_client(option.client).get().fte_likely == Decimal("1.5")


# shortlist, drop, remove ----------------------------------------------------------------------------------------------
def test_dropping_needs_a_reason_and_can_be_taken_back(desk: Desk, option: Option) -> None:
    response = desk.post("option", option.pk, part="drop", reason="")
    assert response.status_code == 422
    assert "Reason is empty; it must be given." in text_of(response)
    desk.post("option", option.pk, part="drop", reason="Too late")
    assert (stored(option).dropped_reason, stored(option).shortlisted) == ("Too late", False)
    assert "Out of the comparison: Too late" in text_of(desk.get("option", option.pk))
    desk.post("option", option.pk, part="restore")
    assert stored(option).dropped_reason == ""


def test_removing_leaves_the_quote_and_the_configuration(desk: Desk, option: Option) -> None:
    racks = configuration(desk)
    factories.make_option_phase(client=option.client, option=option, configuration=racks, quote_version=None)
    desk.post("option", option.pk, part="delete")
    assert Option.objects.of_client(option.client).count() == 0
    assert racks.name in text_of(desk.get("configuration"))


# who may --------------------------------------------------------------------------------------------------------------
def test_a_viewer_reads_and_cannot_post(desk: Desk, option: Option) -> None:
    viewer = desk.as_(Role.VIEWER)
    response = viewer.get("option", option.pk)
    assert response.status_code == 200
    assert 'type="submit"' not in text_of(response)
    posts = ("facts", "phases", "staff", "lines", "drop", "restore", "delete")
    assert [viewer.post("option", option.pk, part=part).status_code for part in posts] == [403] * len(posts)
    assert viewer.get("option_new").status_code == 403


def test_an_option_of_another_client_or_assessment_is_unknown(desk: Desk, option: Option) -> None:
    foreign = factories.make_option()
    elsewhere = factories.make_option(client=option.client)
    for other in (foreign, elsewhere):
        assert desk.get("option", other.pk).status_code == 404
        assert desk.post("option", other.pk, part="delete").status_code == 404
    assert desk.post("option", option.pk, part="nonsense").status_code == 404


def test_queries_do_not_grow_with_phases(
    desk: Desk, option: Option, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    racks = configuration(desk)
    for position in range(1, 4):
        version = factories.make_quote_version(client=option.client)
        factories.make_option_phase(
            client=option.client, option=option, configuration=racks, quote_version=version, position=position
        )
    with django_assert_max_num_queries(20):
        desk.get("option", option.pk)
