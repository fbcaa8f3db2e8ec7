"""Configurations side by side and their forms: what is shown, what is refused beside which field, who may."""

from decimal import Decimal
from typing import Any

import pytest
from pytest_django import DjangoAssertNumQueries

from apps.accounts.models import Role
from apps.assessments.models import Option
from apps.racks.models import RackConfiguration
from apps.racks.templates import TEMPLATES
from apps.web.configuration_table import audit_missing, bisection_tbit_per_s
from apps.web.forms.configuration import ConfigurationForm
from tests import factories
from tests.web.input_pages import Desk, make_desk, text_of

pytestmark = pytest.mark.django_db

FABRIC = {
    "n_accelerators": 128,
    "accelerators_per_node": 8,
    "nics_per_node": 8,
    "nic_gbit_per_s": Decimal(400),
    "topology": "two_tier",
    "oversubscription": Decimal(2),
}


@pytest.fixture
def desk(db: None) -> Desk:
    return make_desk()


def configured(desk: Desk, letter: str = "", **values: Any) -> RackConfiguration:
    """A configuration of the assessment; with a letter also an option that uses it."""
    values.setdefault("template", "disaggregated")
    values.setdefault("name", f"Racks {letter}")
    client = desk.assessment.client
    row = factories.make_rack_configuration(client=client, assessment_id=desk.assessment.pk, **values)
    if letter:
        option = factories.make_option(
            client=client, assessment=desk.assessment, letter=letter, name=f"Vendor {letter}"
        )
        version = factories.make_quote_version(client=client)
        factories.make_option_phase(client=client, option=option, configuration=row, quote_version=version)
    return row


def stored(desk: Desk) -> RackConfiguration:
    return RackConfiguration.objects.of_client(desk.assessment.client).get()


def typed(row: RackConfiguration, **changes: str) -> dict[str, str]:
    """What a browser would send for the form of a configuration."""
    form = ConfigurationForm(template=row.template, configuration=row)
    values = {name: form[name].value() for name in form.fields}
    return {name: "" if value is None else str(value) for name, value in values.items()} | changes


# the table ------------------------------------------------------------------------------------------------------------
def test_an_empty_assessment_offers_all_six_kinds(desk: Desk) -> None:
    page = text_of(desk.get("configuration"))
    assert "No configuration yet" in page
    assert all(f"?kind={key}" in page for key in TEMPLATES)


def test_bisection_is_half_the_nics_times_their_speed_over_the_oversubscription() -> None:
    row = RackConfiguration(template="disaggregated", **FABRIC)
    assert bisection_tbit_per_s(row) == Decimal("12.8")
    assert audit_missing(row) == []


@pytest.mark.parametrize("name", ["nics_per_node", "nic_gbit_per_s", "topology", "oversubscription", "n_accelerators"])
def test_without_one_of_its_facts_there_is_no_bisection(name: str) -> None:
    empty = "" if name == "topology" else None
    row = RackConfiguration(template="disaggregated", **{**FABRIC, name: empty})
    assert bisection_tbit_per_s(row) is None
    assert "bisection" in audit_missing(row)


def test_values_stand_with_source_and_evidence_and_missing_ones_as_not_given(desk: Desk) -> None:
    source = {"level": "specification", "source": "Quarrow QR-1", "ref": "Fabric!B3"}
    configured(desk, "B", **FABRIC, sources={"oversubscription": source})
    configured(desk, "C", template="cloud_reserved", n_accelerators=128, accelerators_per_node=8)
    page = text_of(desk.get("configuration"))
    assert "B: fabric audit complete; C: facts missing" in page
    assert "Quarrow QR-1 Fabric!B3" in page
    assert "128 / 2 × 400 / 2 = 12,800 Gb/s" in page
    assert "Audit 5 of 5" in page
    assert "F1 open" in page
    assert "Not given: NIC speed; number of NICs; topology; oversubscription; bisection" in page
    assert "not needed" in page  # a rented configuration has no IT load


def test_the_page_does_not_ask_more_for_more_options(
    desk: Desk, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    for letter in ("A", "B", "C", "D"):
        configured(desk, letter, **FABRIC)
    with django_assert_max_num_queries(26):
        desk.get("configuration")


# the form -------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("kind", sorted(TEMPLATES))
def test_each_kind_can_be_added_filled_in_and_emptied(desk: Desk, kind: str) -> None:
    response = desk.post("configuration_new", data={"name": "Mine", "template": kind})
    row = stored(desk)
    assert response["Location"] == desk.url("configuration_edit", row.pk)
    page = text_of(desk.get("configuration_edit", row.pk))
    assert all(f'name="{name}"' in page for name in TEMPLATES[row.template].fields if name != "serving")
    response = desk.post(
        "configuration_edit", row.pk, data=typed(row, goodput_low="0.8", goodput_likely="0.9", goodput_high="0.95")
    )
    assert response.status_code == 302, text_of(response)
    row = stored(desk)
    assert (row.goodput_low, row.goodput_likely) == (Decimal("0.8"), Decimal("0.9"))
    desk.post("configuration_edit", row.pk, data=typed(row, goodput_low="", goodput_likely="", goodput_high=""))
    assert stored(desk).goodput_likely is None


def test_the_serving_facts_of_a_fleet_are_kept(desk: Desk) -> None:
    row = configured(desk, template="inference_fleet", serving={"kept": "yes"})
    desk.post("configuration_edit", row.pk, data=typed(row, serving_regions="Frankfurt, Sofia"))
    assert stored(desk).serving == {"kept": "yes", "regions": "Frankfurt, Sofia"}


def test_errors_name_field_and_value_and_keep_what_was_typed(desk: Desk) -> None:
    row = configured(desk)
    data = typed(row, nic_gbit_per_s="400G", goodput_likely="93", n_accelerators="1.5", oversubscription="0.5")
    response = desk.post("configuration_edit", row.pk, data=data)
    page = text_of(response)
    assert response.status_code == 422
    assert "4 fields to correct" in page
    assert "NIC speed is “400G”; it must be a number such as 1250.5" in page
    assert "Goodput is “93”; it must be 1 or less." in page
    assert "Accelerators is “1.5”; it must be a whole number." in page
    assert "Oversubscription is “0.5”; it must be 1 or more." in page
    assert 'value="400G"' in page
    assert 'aria-describedby="id_nic_gbit_per_s_error"' in page
    assert stored(desk).nic_gbit_per_s is None


def test_a_range_that_does_not_rise_is_refused_by_the_service_beside_its_field(desk: Desk) -> None:
    row = configured(desk)
    data = typed(row, goodput_low="0.9", goodput_likely="0.8", goodput_high="0.95")
    page = text_of(desk.post("configuration_edit", row.pk, data=data))
    assert "goodput is 0.9 / 0.8 / 0.95; it must be low, likely and high in rising order." in page
    assert 'id="id_goodput_likely_error"' in page


def test_a_changed_value_loses_the_source_of_the_old_one(desk: Desk) -> None:
    source = {"level": "specification", "source": "Quarrow QR-1", "ref": "Fabric!B3"}
    row = configured(desk, **FABRIC, sources={"oversubscription": source, "topology": source})
    desk.post("configuration_edit", row.pk, data=typed(row, oversubscription="1"))
    sources = stored(desk).sources
    assert sources["topology"] == source
    assert sources["oversubscription"]["source"].startswith(f"entered by {desk.user}")
    row = stored(desk)
    data = {"oversubscription": "3", "source:oversubscription": "mail of 24 Nov", "level:oversubscription": "claim"}
    desk.post("configuration_edit", row.pk, data=typed(row, **data))
    assert stored(desk).sources["oversubscription"] == {"level": "claim", "source": "mail of 24 Nov", "ref": ""}


def test_saving_without_a_change_keeps_every_source(desk: Desk) -> None:
    source = {"level": "claim", "source": "Sales call", "ref": "p. 2"}
    row = configured(desk, **FABRIC, it_load_kw_likely=Decimal(188), sources={"it_load_kw": source, "topology": source})
    desk.post("configuration_edit", row.pk, data=typed(row))
    assert stored(desk).sources == {"it_load_kw": source, "topology": source}


def test_two_clicks_on_add_make_one_and_a_taken_name_is_refused(desk: Desk) -> None:
    for _click in range(2):
        assert desk.post("configuration_new", data={"name": "Mine", "template": "rack_scale"}).status_code == 302
    assert stored(desk).template == "rack_scale"
    response = desk.post("configuration_new", data={"name": "Mine", "template": "dgx_class"})
    assert "Name is “Mine”; it must be one that no other configuration has." in text_of(response)
    response = desk.post("configuration_new", data={"name": ""})
    assert "Kind is empty; it must be given." in text_of(response)


def test_only_an_unused_configuration_is_removed(desk: Desk) -> None:
    row = configured(desk, "B")
    page = desk.browser.post(desk.url("configuration_delete", row.pk), follow=True)
    assert "Option B uses this configuration" in text_of(page)
    Option.objects.of_client(desk.assessment.client).delete()
    desk.post("configuration_delete", row.pk)
    assert RackConfiguration.objects.of_client(desk.assessment.client).count() == 0


def test_a_viewer_sees_the_table_and_no_button(desk: Desk) -> None:
    row = configured(desk, "B", **FABRIC)
    viewer = desk.as_(Role.VIEWER)
    page = text_of(viewer.get("configuration"))
    assert "Audit 5 of 5" in page
    assert "Add configuration" not in page
    assert "Edit" not in page
    answers = [
        viewer.get("configuration_edit", row.pk).status_code,
        viewer.post("configuration_edit", row.pk, data=typed(row)).status_code,
        viewer.post("configuration_new", data={"name": "X", "template": "dgx_class"}).status_code,
        viewer.post("configuration_delete", row.pk).status_code,
    ]
    assert answers == [403, 403, 403, 403]


def test_a_configuration_of_another_client_or_assessment_is_unknown(desk: Desk) -> None:
    foreign = factories.make_rack_configuration()
    sister = factories.make_assessment(client=desk.assessment.client)
    elsewhere = factories.make_rack_configuration(client=desk.assessment.client, assessment_id=sister.pk)
    for row in (foreign, elsewhere):
        assert desk.get("configuration_edit", row.pk).status_code == 404
        assert desk.post("configuration_delete", row.pk).status_code == 404
