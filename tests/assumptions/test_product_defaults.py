"""The shipped defaults, and how a changed file becomes new versions."""

from decimal import Decimal
from pathlib import Path

import pytest

from apps.analyses.rules.definitions import rules
from apps.assumptions.models import AssumptionValue
from apps.assumptions.product_defaults import FOLDER, FixtureError, load_assumptions, read_assumptions

NEEDED = {
    "discount_rate", "facility_usd_per_kw_month", "staff_usd_per_year", "staff_escalation_fraction_per_year",
    "power.load_factor", "power.pue", "power.electricity_usd_per_kwh", "power.demand_charge_usd_per_kw_month",
    "power.electricity_escalation_fraction_per_year", "availability_fraction", "occupancy_fraction", "goodput_fraction",
    "mfu_fraction", "bridge_usd_per_gpu_hour", "insurance_fraction_per_year", "tax_rate", "correlation.gpu_price",
    "correlation.site", "fabric_support_fraction_per_year", "storage_support_fraction_per_year",
    *(f"residual_fraction.{part}" for part in ("compute", "fabric", "storage")),
    *(f"book_life_months.{part}" for part in ("compute", "fabric", "storage")),
}  # fmt: skip


def test_every_default_has_a_source_and_a_date() -> None:
    values = read_assumptions()
    assert {value.key for value in values} >= NEEDED
    assert all(value.source and value.source_date and value.label and value.unit for value in values)


def test_a_working_assumption_is_never_shipped_as_a_read_one() -> None:
    recalled = [
        value for value in read_assumptions() if "no published source" in value.source or "recalled" in value.source
    ]
    assert recalled
    assert {value.status for value in recalled} == {"memory"}


def test_the_base_case_counts_no_resale_and_says_so() -> None:
    residuals = [value for value in read_assumptions() if value.key.startswith("residual_fraction")]
    assert [(value.likely, value.low, value.high) for value in residuals] == [(Decimal(0), None, None)] * 3
    assert all(value.note for value in residuals)


def test_every_threshold_of_a_rule_is_an_assumption() -> None:
    known = {value.key for value in read_assumptions()}
    used = {key for rule in rules() for key in rule.assumption_keys()}
    assert used <= known
    assert {key for key in known if key.startswith("rule.")} == used


@pytest.mark.django_db
def test_loading_twice_adds_nothing() -> None:
    assert load_assumptions() == len(read_assumptions())
    assert load_assumptions() == 0


@pytest.mark.django_db
def test_a_changed_value_becomes_a_version_and_a_changed_caption_does_not(tmp_path: Path) -> None:
    load_assumptions()
    text = (FOLDER / "assumptions.csv").read_text()
    changed = text.replace("rule,,90,,", "rule,,60,,").replace(
        "discount_rate,Discount rate,", "discount_rate,Interest,"
    )
    (tmp_path / "assumptions.csv").write_text(changed)
    assert load_assumptions(tmp_path / "assumptions.csv") == 1
    versions = AssumptionValue.objects.filter(key="rule.T8.max_age_days").order_by("version")
    assert [(value.version, value.likely) for value in versions] == [(1, Decimal(90)), (2, Decimal(60))]
    assert [value.label for value in AssumptionValue.objects.filter(key="discount_rate")] == ["Interest"]


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("0.06,0.09,0.14", "0.06,nine,0.14", "row 2, likely: is 'nine'"),
        ("0.06,0.09,0.14", "0.16,0.09,0.14", "row 2, low: low is 0.16"),
        ("per year,-0.99,,price", "per year,-0.99,,money", "row 2, topic: is 'money'"),
        ("residual_fraction.compute", "discount_rate", "row 3, key: 'discount_rate' occurs twice"),
    ],
)
def test_a_bad_cell_is_told_with_file_row_and_field(tmp_path: Path, old: str, new: str, told: str) -> None:
    path = tmp_path / "assumptions.csv"
    path.write_text((FOLDER / "assumptions.csv").read_text().replace(old, new, 1))
    with pytest.raises(FixtureError) as error:
        read_assumptions(path)
    assert str(error.value).startswith(f"assumptions.csv, {told}")
