"""What the catalogue ships, and how an organisation puts its own figure in place of one."""

import csv
import shutil
import time
from collections import Counter
from decimal import Decimal
from pathlib import Path

import pytest
from django.core.exceptions import PermissionDenied
from django.core.management import call_command
from django.db import IntegrityError, transaction

from apps.accounts.models import OrganisationMembership
from apps.accounts.permissions import SYSTEM
from apps.assumptions.models import AssumptionValue, Claim
from apps.catalogue import selectors, services
from apps.catalogue.columns import FOLDER, columns
from apps.catalogue.fixture_files import FixtureError, read_catalogue
from apps.catalogue.models import CatalogueItem, CatalogueValue, Kind
from apps.engine.errors import InputError
from tests.factories import make_organisation, make_organisation_membership, make_user

H100 = {"kind": Kind.ACCELERATOR, "key": "H100 SXM"}


# Files --------------------------------------------------------------------------------------------------------------
def test_the_files_hold_every_row_of_their_sources() -> None:
    kinds = Counter(fixture.item.kind for fixture in read_catalogue())
    assert kinds == {"accelerator": 33, "network_part": 36, "model": 51, "price": 99, "cloud_rate": 42}
    assert kinds["price"] + kinds["cloud_rate"] == 141


def test_every_figure_has_a_source_and_a_mark() -> None:
    values = [value for fixture in read_catalogue() for value in fixture.values]
    assert all(value.source and value.basis in ("read", "memory", "derived") for value in values)
    prices = [value for value in values if value.item.kind in ("price", "cloud_rate")]
    assert all(value.as_of and value.unit for value in prices)


def test_every_column_of_a_file_is_known() -> None:
    of_row = {"key", "name", "kind", "vendor", "region", "unit", "note", "caution"}
    of_row |= {"source", "source_url", "retrieved_on", "basis", "memory_columns"}
    for name, figures in columns().items():
        with (FOLDER / f"{name}.csv").open(newline="") as file:
            head = set(next(csv.reader(file)))
        used = {cell for figure in figures for cell in vars(figure).values()}
        assert head - used <= of_row, name
        assert {figure.column for figure in figures} <= head


def test_the_mark_is_kept_for_each_figure() -> None:
    items = {fixture.item.key: {value.name: value.basis for value in fixture.values} for fixture in read_catalogue()}
    assert (items["H100 SXM"]["bf16_tflops"], items["H100 SXM"]["release_year"]) == ("read", "memory")
    assert (items["SN5600"]["power_typ_w"], items["SN5600"]["power_max_w"]) == ("read", "memory")
    assert (items["MMS4X00-NS"]["power_max_w"], items["MMS4X00-NS"]["price_usd"]) == ("read", "memory")
    assert set(items["H800 SXM"].values()) == {"memory"}


def test_a_blank_cell_is_no_figure() -> None:
    items = {fixture.item.key: {value.name for value in fixture.values} for fixture in read_catalogue()}
    assert "fp8_tflops" not in items["A100 SXM 80GB"]
    assert "tdp_w" not in items["TPU v5e"]


@pytest.mark.parametrize(
    ("file", "old", "new", "told"),
    [
        ("accelerators.csv", "A100 SXM 40GB,A100", ",A100", "accelerators.csv, row 2, key: is empty"),
        ("accelerators.csv", ",read,hbm_gb hbm", ",seen,hbm_gb hbm", "accelerators.csv, row 2, basis: is 'seen'"),
        (
            "accelerators.csv",
            ",read,hbm_gb hbm",
            ",read,hbm",
            "accelerators.csv, row 2, memory_columns: names hbm_gb_s",
        ),
        ("prices.csv", ",price,EU/US,", ",prize,EU/US,", "prices.csv, row 2, kind: is 'prize'"),
        ("prices.csv", "USD/GPU,2025-03-03", "USD/GPU,", "prices.csv, row 2, as_of: is empty"),
        ("models.csv", "GPT-NeoX-20B,GPT-NeoX-20B", "GPT-3 175B,GPT-NeoX-20B", "model files, row 0, key: 'GPT-3 175B'"),
    ],
)
def test_a_bad_cell_is_told_with_file_row_and_field(tmp_path: Path, file: str, old: str, new: str, told: str) -> None:
    shutil.copytree(FOLDER, tmp_path, dirs_exist_ok=True)
    text = (FOLDER / file).read_text()
    assert old in text
    if "hbm_gb hbm" in old and new.endswith("hbm"):
        new += "x"
        told = "accelerators.csv, row 2, memory_columns: names hbmx"
    (tmp_path / file).write_text(text.replace(old, new, 1))
    with pytest.raises(FixtureError) as error:
        read_catalogue(tmp_path)
    assert str(error.value).startswith(told)


# Loading ------------------------------------------------------------------------------------------------------------
@pytest.mark.django_db
def test_one_command_loads_catalogue_assumptions_and_claims_within_two_seconds() -> None:
    started = time.process_time()
    call_command("load_catalogue", verbosity=0)
    assert time.process_time() - started < 2
    assert CatalogueItem.objects.count() == 261
    assert AssumptionValue.objects.exists()
    assert Claim.objects.exists()


@pytest.mark.django_db
def test_loading_again_changes_nothing_and_a_changed_cell_changes_one_row(tmp_path: Path) -> None:
    services.load_catalogue()
    assert services.load_catalogue() == services.Loaded()
    shutil.copytree(FOLDER, tmp_path, dirs_exist_ok=True)
    text = (FOLDER / "prices.csv").read_text()
    (tmp_path / "prices.csv").write_text(text.replace(",46875,41198,", ",46000,41198,", 1))
    assert services.load_catalogue(tmp_path) == services.Loaded(changed=1)


@pytest.mark.django_db
def test_loading_leaves_own_figures_alone() -> None:
    services.load_catalogue()
    organisation = make_organisation()
    override(organisation, "40000")
    services.load_catalogue()
    item = selectors.catalogue_item(organisation=organisation, **H100)
    assert item is not None
    assert item.figures["bf16_tflops"].value == "40000"


# Overrides ----------------------------------------------------------------------------------------------------------
def override(organisation: object, value: str = "900", **values: object) -> CatalogueValue:
    given = {
        "by": SYSTEM,
        "organisation": organisation,
        "item": CatalogueItem.objects.get(**H100),
        "name": "bf16_tflops",
    }
    given |= {"value": value, "source": "our own test", "reason": "measured on our nodes"}
    return services.override_value(**given | values)  # type: ignore[arg-type]


@pytest.mark.django_db
def test_an_own_figure_counts_for_its_organisation_alone_value_by_value() -> None:
    services.load_catalogue()
    organisation = make_organisation()
    override(organisation, "900")
    own = selectors.catalogue_item(organisation=organisation, **H100)
    other = selectors.catalogue_item(organisation=make_organisation(), **H100)
    assert own is not None
    assert other is not None
    figure = own.figures["bf16_tflops"]
    assert (figure.number, figure.own, figure.product_value, figure.basis) == (Decimal(900), True, "989", "own")
    assert (figure.unit, figure.source, figure.label) == ("TFLOPS", "our own test", "Peak, dense BF16")
    assert not own.figures["hbm_gb"].own
    assert other.figures["bf16_tflops"].value == "989"
    services.withdraw_override(
        by=SYSTEM, organisation=organisation, item=CatalogueItem.objects.get(**H100), name="bf16_tflops"
    )
    again = selectors.catalogue_item(organisation=organisation, **H100)
    assert again is not None
    assert again.figures["bf16_tflops"].value == "989"


@pytest.mark.django_db
def test_only_an_administrator_overrides_and_only_with_source_and_reason() -> None:
    services.load_catalogue()
    organisation = make_organisation()
    administrator = make_organisation_membership(organisation=organisation).user
    member = make_organisation_membership(organisation=organisation, role=OrganisationMembership.Role.MEMBER).user
    override(organisation, "900", by=administrator)
    for stranger in (member, make_user(), make_organisation_membership().user):
        with pytest.raises(PermissionDenied):
            override(organisation, "1", by=stranger)
    for empty in ("value", "source", "reason"):
        with pytest.raises(InputError) as refusal:
            override(organisation, **{"value": "900"} | {empty: " "})
        assert refusal.value.name == empty


@pytest.mark.django_db
def test_the_database_holds_a_product_figure_once() -> None:
    services.load_catalogue()
    with pytest.raises(IntegrityError), transaction.atomic():
        CatalogueValue.objects.create(
            item=CatalogueItem.objects.get(**H100), name="bf16_tflops", value="1", source="twice", basis="read"
        )


@pytest.mark.django_db
def test_search_finds_every_word_in_two_queries(django_assert_num_queries: object) -> None:
    services.load_catalogue()
    with django_assert_num_queries(2):  # type: ignore[operator]
        found = selectors.catalogue(organisation=None, kind=Kind.CLOUD_RATE, search="lambda h100")
    assert [item.key for item in found] == ["Lambda 8x H100 SXM on demand"]
    assert found[0].figures["value"].as_of == "2026-09-25"
    assert selectors.catalogue_item(organisation=None, kind="accelerator", key="H999") is None


@pytest.mark.django_db
def test_a_range_without_a_likely_value_is_no_number() -> None:
    services.load_catalogue()
    item = selectors.catalogue_item(organisation=None, kind=Kind.NETWORK_PART, key="QM9700")
    assert item is not None
    price = item.figures["price_usd"]
    assert (price.number, price.low, price.high, price.as_of) == (None, "36000", "50000", "2024-08")
