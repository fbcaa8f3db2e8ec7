"""Upload, preview, corrections, commit and undo as pages: what they say, who may do it, what a second click does."""

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.core.files.storage import default_storage
from django.test import Client as Browser
from pytest_django import DjangoAssertNumQueries

from apps.accounts.models import Role
from apps.assessments.models import EvidenceAnswer, Option, OptionPhase
from apps.intake.models import ImportBatch
from apps.intake.parsing import limits
from apps.racks.models import RackConfiguration
from apps.vendors.models import QuoteLine, QuoteVersion
from apps.web.import_preview import place_of
from apps.web.quote_facts import share_in
from apps.web.quote_statements import question_of
from tests import factories
from tests.intake.generate import csv_bytes, saved, workbook
from tests.web.input_pages import Desk, make_desk, text_of

pytestmark = pytest.mark.django_db
State = ImportBatch.State
QUOTES = Path(settings.BASE_DIR) / "fixtures" / "demo" / "quotes"


@pytest.fixture(autouse=True)
def own_storage(settings: Any, tmp_path: Path) -> None:
    place = {"BACKEND": "django.core.files.storage.FileSystemStorage", "OPTIONS": {"location": str(tmp_path)}}
    settings.STORAGES = {**settings.STORAGES, "default": place}


@pytest.fixture
def desk(db: None) -> Desk:
    return make_desk()


def broken_workbook() -> bytes:
    book = workbook()
    book["Lines"]["H2"] = "n/a"
    book["Lines"]["E3"] = "three"
    return saved(book)


def previewed(desk: Desk, content: bytes, name: str = "quote.xlsx", **data: Any) -> ImportBatch:
    response = desk.upload(content, name, **data)
    assert response.status_code == 302, text_of(response)
    return desk.batch()


def committed(desk: Desk, content: bytes | None = None, name: str = "quote.xlsx") -> ImportBatch:
    batch = previewed(desk, content or saved(workbook()), name)
    assert desk.post("import_preview_commit", batch.pk).status_code == 302
    batch.refresh_from_db(from_queryset=ImportBatch.objects.of_client(desk.assessment.client))
    assert batch.state == State.COMMITTED
    return batch


# upload ---------------------------------------------------------------------------------------------------------------
def test_the_page_offers_template_schema_and_names_the_limits(desk: Desk) -> None:
    page = text_of(desk.get("intake"))
    assert "20 MB" in page
    assert "10,000 lines" in page
    workbook_ = desk.get("intake_template", "xlsx")
    assert workbook_.content[:2] == b"PK"
    assert "attachment" in workbook_["Content-Disposition"]
    assert b"unit_price_likely" in desk.get("intake_template", "csv").content
    assert json.loads(desk.get("intake_template", "json").content)["title"] == "Quote"
    assert desk.get("intake_template", "exe").status_code == 404


def test_an_upload_without_a_file_or_with_a_large_one_says_so_beside_the_field(desk: Desk, monkeypatch: Any) -> None:
    response = desk.post("intake", vendor_name="Quarrow")
    assert response.status_code == 422
    assert "Quote file is empty; it must be given." in text_of(response)
    assert 'value="Quarrow"' in text_of(response)
    monkeypatch.setattr(limits, "FILE_BYTES", 100)
    response = desk.upload(b"x" * 101, "large.csv")
    assert "large.csv has" in text_of(response)
    assert response.status_code == 422
    assert 'aria-describedby="id_file_error"' in text_of(response)


def test_a_file_that_cannot_be_used_shows_why_and_stores_nothing(desk: Desk) -> None:
    batch = previewed(desk, b"PK\x03\x04 no workbook", "bad.xlsx")
    page = text_of(desk.get("import_preview", batch.pk))
    assert batch.state == State.REFUSED
    assert "This file cannot be used" in page
    assert "bad.xlsx" in page
    assert "damaged" in page
    assert desk.get("import_preview_file", batch.pk).status_code == 404
    assert QuoteVersion.objects.of_client(desk.assessment.client).count() == 0


def test_uploading_the_same_file_twice_at_once_gives_one_import(desk: Desk) -> None:
    content = saved(workbook())
    first = previewed(desk, content)
    assert previewed(desk, content).pk == first.pk


def test_too_many_imports_are_answered_with_the_limit(desk: Desk, settings: Any) -> None:
    settings.IMPORTS_PER_CLIENT_AND_HOUR = 1
    previewed(desk, saved(workbook()))
    response = desk.upload(csv_bytes(), "second.csv")
    assert response.status_code == 429
    assert "1 imports in the last hour" in text_of(response)


# preview --------------------------------------------------------------------------------------------------------------
def test_every_error_names_file_sheet_row_field_and_has_its_number_in_the_cell(desk: Desk) -> None:
    batch = previewed(desk, broken_workbook(), "quarrow-v2.xlsx")
    page = text_of(desk.get("import_preview", batch.pk))
    assert "2 cells to correct" in page
    assert "quarrow-v2.xlsx becomes version 1 of the quote" in page
    assert "Nothing is stored yet" in page
    assert "Lines!H2" in page
    assert "Price, likely (unit_price_likely) is “n/a”" in page
    assert "Lines!E3" in page
    assert "Quantity (quantity) is “three”" in page
    assert 'class="cell-red"><a href="#entry-1"><bdi>n/a</bdi> <sup>1</sup>' in page
    assert "<sup>2</sup>" in page
    assert "Import after 2 corrections" in page


def test_a_csv_error_names_row_and_column(desk: Desk) -> None:
    content = csv_bytes().replace(b"44000.50", b"n/a", 1)
    batch = previewed(desk, content, "lines.csv", vendor_name="Tintern")
    page = text_of(desk.get("import_preview", batch.pk))
    assert "row 2, column H" in page
    assert "lines.csv becomes" in page


def test_json_is_shown_as_a_table_of_lines(desk: Desk) -> None:
    document = json.loads((QUOTES / "nimbrel.json").read_text())
    document["lines"][0]["quantity"] = "many"
    batch = previewed(desk, json.dumps(document).encode(), "nimbrel.json")
    page = text_of(desk.get("import_preview", batch.pk))
    assert '<bdi dir="ltr">lines[0]</bdi>' in page
    assert "lines[0].quantity" in page
    assert "Quantity (quantity) is “many”" in page
    assert "Comparison row" in page  # the row that says where each column goes
    desk.post("import_preview_answer", batch.pk, data={"cell:lines[0].quantity": "128"})
    assert desk.batch().state == State.READY


def test_a_fact_of_json_is_corrected_where_it_stands(desk: Desk) -> None:
    document = json.loads((QUOTES / "nimbrel.json").read_text())
    document["quote"]["valid_until"] = "31.11.2026"
    batch = previewed(desk, json.dumps(document).encode(), "nimbrel.json")
    page = text_of(desk.get("import_preview", batch.pk, sheet="quote"))
    assert 'name="cell:quote.valid_until" value="31.11.2026"' in page
    desk.post("import_preview_answer", batch.pk, data={"cell:quote.valid_until": "2026-11-30"})
    assert desk.batch().state == State.READY


def test_corrections_make_it_ready_and_can_be_taken_back(desk: Desk) -> None:
    batch = previewed(desk, broken_workbook())
    desk.post("import_preview_answer", batch.pk, data={"cell:Lines!H2": "44000.5", "cell:Lines!E3": "three"})
    assert desk.batch().answers["corrections"] == {"Lines!H2": "44000.5"}
    assert "1 cell to correct" in text_of(desk.get("import_preview", batch.pk))
    desk.post("import_preview_answer", batch.pk, data={"cell:Lines!E3": "3"})
    assert desk.batch().state == State.READY
    assert "Done so far" in text_of(desk.get("import_preview", batch.pk))
    desk.post("import_preview_answer", batch.pk, take_back="Lines!E3")
    assert desk.batch().state == State.QUESTIONS


def test_not_given_empties_a_cell(desk: Desk) -> None:
    book = workbook()
    book["Lines"]["H2"] = "n/a"
    batch = previewed(desk, saved(book))
    desk.post("import_preview_answer", batch.pk, data={"cell:Lines!H2": "n/a", "not_given": "Lines!H2"})
    assert desk.batch().answers["corrections"] == {"Lines!H2": ""}


def test_an_ambiguous_number_waits_for_a_choice_even_when_one_is_suggested(desk: Desk) -> None:
    content = b"description;quantity;unit price;currency\nSwitch;1;1.200;USD\nNode;2;1.300;USD\n"
    batch = previewed(desk, content, "own.csv", vendor_name="Quarrow")
    page = text_of(desk.get("import_preview", batch.pk))
    assert "can be read in two ways" in page
    assert " checked" in page
    desk.post("import_preview_commit", batch.pk)
    assert desk.batch().state == State.QUESTIONS
    assert QuoteVersion.objects.of_client(desk.assessment.client).count() == 0
    questions = batch.preview["questions"]
    desk.post("import_preview_answer", batch.pk, data={f"answer:{one['id']}": one["suggested"] for one in questions})
    assert desk.batch().state == State.READY
    desk.post("import_preview_answer", batch.pk, ask_again="1")
    assert desk.batch().state == State.QUESTIONS


def test_the_meaning_of_columns_is_asked_and_remembered(desk: Desk) -> None:
    content = b"Dings;Anzahl;Stueckgeld;Geld\nSwitch;4;1250.50;USD\nNode;2;300.25;USD\n"
    batch = previewed(desk, content, "own.csv", vendor_name="Quarrow")
    assert batch.preview["mapping_needed"]
    page = text_of(desk.get("import_preview", batch.pk))
    assert "Change mapping" in page
    assert "not imported" in page
    fields = {"Dings": "description", "Anzahl": "quantity", "Stueckgeld": "unit_price_likely", "Geld": "currency"}
    data = {f"column-{n}": fields[heading] for n, heading in enumerate(batch.preview["mapping"])}
    desk.post("import_preview_columns", batch.pk, data=data)
    questions = desk.batch().preview["questions"]
    answers = {f"answer:{one['id']}": one["suggested"] or one["choices"][0]["value"] for one in questions}
    desk.post("import_preview_answer", batch.pk, data=answers)
    assert desk.batch().state == State.READY
    desk.post("import_preview_commit", batch.pk)
    again = previewed(desk, content, "again.csv", vendor_name="Quarrow")
    assert again.pk != batch.pk
    assert again.preview["mapping"] == fields
    assert "Mapped as last time" in text_of(desk.get("import_preview", again.pk))


def test_what_the_import_would_change_is_told_against_the_version_before(desk: Desk) -> None:
    committed(desk)
    book = workbook()
    book["Lines"]["E3"] = 5
    batch = previewed(desk, saved(book), "second.xlsx")
    page = text_of(desk.get("import_preview", batch.pk))
    assert "becomes version 2" in page
    assert "Against v1" in page
    assert 'Leaf switch, 32 x 200 Gb/s <span class="muted"><bdi dir="ltr">Lines!E3</bdi></span>' in page
    assert "+2" in page
    assert "Paid once, k EUR" in page
    assert 'cell-changed"><bdi>5</bdi>' in page.replace("num cell-changed", "cell-changed")


def test_a_tab_replaces_the_sheet_alone(desk: Desk) -> None:
    batch = previewed(desk, saved(workbook()))
    headers = {"HX-Request": "true", "HX-Target": "sheet"}
    response = desk.browser.get(desk.url("import_preview", batch.pk), {"sheet": "Terms"}, headers=headers)
    assert "<html" not in text_of(response)
    assert "warranty" in text_of(response)


def test_text_of_a_file_never_becomes_markup(desk: Desk) -> None:
    book = workbook()
    book["Lines"]["C2"] = "<script>alert(1)</script>"
    batch = previewed(desk, saved(book), "<b>q.xlsx")
    page = text_of(desk.get("import_preview", batch.pk))
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert(1)" in page


def test_places_are_written_as_in_the_file() -> None:
    assert place_of(["Lines!E7", "Lines!F7", "Lines!G7"], "quote_xlsx") == "Lines!E7:G7"
    assert place_of(["Lines!E7", "Lines!E8"], "quote_xlsx") == "Lines!E7 and 1 more"
    assert place_of(["Lines!F9"], "quote_csv") == "row 9, column F"
    assert place_of([], "quote_csv") == ""


# commit, undo, cancel, file -----------------------------------------------------------------------------------------
def test_two_clicks_on_import_store_one_version(desk: Desk) -> None:
    batch = committed(desk)
    desk.post("import_preview_commit", batch.pk)
    versions = QuoteVersion.objects.of_client(desk.assessment.client)
    assert [version.version for version in versions] == [1]
    assert "facts that a comparison needs are given" in text_of(desk.get("import_preview", batch.pk))


def test_undo_removes_everything_once_and_says_why_it_cannot(desk: Desk) -> None:
    batch = committed(desk)
    version = QuoteVersion.objects.of_client(desk.assessment.client).get()
    phase = factories.make_option_phase(client=desk.assessment.client, quote_version=version)
    page = desk.browser.post(desk.url("import_preview_undo", batch.pk), follow=True)
    assert f"Option {phase.option.letter}" in text_of(page)
    assert desk.batch().state == State.COMMITTED
    OptionPhase.objects.of_client(desk.assessment.client).delete()
    for _click in range(2):
        assert "is undone" in text_of(desk.browser.post(desk.url("import_preview_undo", batch.pk), follow=True))
    assert QuoteLine.objects.of_client(desk.assessment.client).count() == 0


def test_a_cancelled_import_cannot_be_stored(desk: Desk) -> None:
    batch = previewed(desk, saved(workbook()))
    for _click in range(2):
        desk.post("import_preview_cancel", batch.pk)
    page = desk.browser.post(desk.url("import_preview_commit", batch.pk), follow=True)
    assert "cannot be stored" in text_of(page)
    assert QuoteVersion.objects.of_client(desk.assessment.client).count() == 0


def test_the_original_file_is_a_download_that_no_browser_opens(desk: Desk) -> None:
    content = csv_bytes()
    batch = previewed(desk, content, "<lines>.csv", vendor_name="Tintern")
    response = desk.get("import_preview_file", batch.pk)
    assert b"".join(response.streaming_content) == content
    assert response["Content-Disposition"].startswith("attachment;")
    assert response["X-Content-Type-Options"] == "nosniff"
    assert "sandbox" in response["Content-Security-Policy"]
    default_storage.delete(batch.file.stored_name)
    assert desk.get("import_preview_file", batch.pk).status_code == 404


# the option ---------------------------------------------------------------------------------------------------------
FORM = {
    "letter": "A",
    "name": "Tintern",
    "template": "disaggregated",
    "n_accelerators": "40",
    "accelerators_per_node": "4",
    "facility": "colocation",
}


def test_an_imported_quote_becomes_an_option_once(desk: Desk) -> None:
    batch = committed(desk)
    for _click in range(2):
        assert desk.post("import_preview_option", batch.pk, **FORM).status_code == 302
    client = desk.assessment.client
    option = Option.objects.of_client(client).get()
    phase = OptionPhase.objects.of_client(client).select_related("quote_version", "configuration").get()
    assert (option.letter, phase.quote_version_id) == ("A", desk.batch().quote_version_id)
    configuration = phase.configuration
    assert (configuration.template, configuration.n_accelerators) == ("disaggregated", 40)
    assert "Used by" in text_of(desk.get("import_preview", batch.pk))


def test_the_configuration_takes_the_facts_of_the_quote_with_their_cells(desk: Desk) -> None:
    batch = committed(desk, (QUOTES / "nimbrel.json").read_bytes(), "nimbrel.json")
    page = text_of(desk.get("import_preview", batch.pk))
    assert 'name="n_accelerators" value="128"' in page  # from the rented GPUs
    assert 'value="cloud_reserved" checked' in page
    desk.post("import_preview_option", batch.pk, **{**FORM, "template": "cloud_reserved", "facility": "none"})
    configuration = RackConfiguration.objects.of_client(desk.assessment.client).get()
    assert (configuration.nics_per_node, configuration.tenancy) == (8, "shared")
    assert configuration.oversubscription is None
    assert configuration.sources["nic_gbit_per_s"] == {
        "level": "specification",
        "source": "Nimbrel Cloud NC-0412 v1",
        "ref": "fabric.nic_gbit_per_s",
    }


def test_a_taken_letter_and_missing_answers_are_named_beside_the_fields(desk: Desk) -> None:
    factories.make_option(client=desk.assessment.client, assessment=desk.assessment, letter="A")
    batch = committed(desk)
    response = desk.post("import_preview_option", batch.pk, **FORM)
    assert response.status_code == 422
    assert "Letter is “A”; it must be one that no other option has." in text_of(response)
    assert RackConfiguration.objects.of_client(desk.assessment.client).count() == 0
    response = desk.post("import_preview_option", batch.pk, **{**FORM, "template": "", "n_accelerators": "many"})
    page = text_of(response)
    assert "What is offered is empty" in page
    assert "Accelerators in all is “many”; it must be a number" in page
    assert 'value="many"' in page


def by_hand(desk: Desk, name: str, **typed: Any) -> Option:
    """Import a demo quote and press the button with what the page has preset, as a newcomer does."""
    batch = previewed(desk, (QUOTES / name).read_bytes(), name)
    mapping = json.loads((QUOTES / "quarrow.columns.json").read_text()) if name == "quarrow.xlsx" else {}
    if mapping:
        headings = list(batch.preview["mapping"])
        desk.post("import_preview_columns", batch.pk, data={f"column-{n}": mapping[h] for n, h in enumerate(headings)})
    desk.post("import_preview_commit", batch.pk)
    response = desk.get("import_preview", batch.pk)
    preset = {key: value for key, value in response.context["option_form"].initial.items() if value is not None}
    assert desk.post("import_preview_option", batch.pk, data={**preset, **typed}).status_code == 302
    return Option.objects.of_client(desk.assessment.client).order_by("-created_at")[0]


# What Larkmere's options hold and the three files do not say: the assessor has found it elsewhere.
NOT_IN_THE_FILES = {"goodput_low", "goodput_likely", "goodput_high", "slowdown_low", "slowdown_likely", "slowdown_high"}
COMPARED = (
    *("template", "n_accelerators", "accelerators_per_node", "nics_per_node", "nic_gbit_per_s", "topology"),
    *("leaf_placement", "oversubscription", "fabric_kind", "tenancy", "storage_tb", "storage_write_gbyte_per_s"),
    *("it_load_kw_likely", "it_load_basis", "fabric_efficiency", *sorted(NOT_IN_THE_FILES)),
)


@pytest.mark.parametrize(
    ("name", "key", "levels"),
    [
        # The files have no measurement of the buyer's for A (question 3) and no specification of B (question 1).
        ("velmora.xlsx", "a", {1: "third_party_matching", 2: "claim", 3: "claim"}),
        ("quarrow.xlsx", "b", {1: "claim", 3: "third_party"}),
        ("nimbrel.json", "c", {1: "claim", 3: "claim"}),
    ],
)
def test_a_quote_imported_by_hand_gives_what_the_demo_holds(
    desk: Desk, name: str, key: str, levels: dict[int, str]
) -> None:
    option = by_hand(desk, name)
    spec = json.loads((QUOTES.parent / "larkmere.json").read_text())
    expected = next(one for one in spec["configurations"] if one["key"] == key)
    made = OptionPhase.objects.of_client(desk.assessment.client).select_related("configuration").get().configuration
    for field in COMPARED:
        found = getattr(made, field)
        if field in NOT_IN_THE_FILES:
            assert found is None, field
        else:
            wanted = expected.get(field) or None
            same = found == wanted or str(found or None) == str(wanted) or float(found) == float(wanted)
            assert same, (field, found, wanted)
    answers = EvidenceAnswer.objects.of_client(desk.assessment.client).filter(option=option)
    assert {answer.question: answer.level for answer in answers} == levels
    assert "H100 SXM 80 GB" in made.node_type
    assert made.sources["storage_tb"]["ref"]
    assert made.sources["fabric_efficiency"]["source"].endswith("of the theoretical value”")
    page = text_of(desk.get("import_preview", desk.batch().pk))
    assert "What was taken over" in page
    assert "stays as it was" not in page
    assert "The file does not give:" in page
    assert "Goodput" in page.partition("The file does not give:")[2][:300]


def test_letters_follow_the_order_of_import(desk: Desk) -> None:
    letters = [by_hand(desk, name).letter for name in ("velmora.xlsx", "quarrow.xlsx", "nimbrel.json")]
    assert letters == ["A", "B", "C"]


def test_the_preset_kind_is_named_as_a_guess(desk: Desk) -> None:
    batch = committed(desk, (QUOTES / "velmora.xlsx").read_bytes(), "velmora.xlsx")
    page = text_of(desk.get("import_preview", batch.pk))
    assert 'value="dgx_class" checked' in page
    assert "is a guess from the lines: bought, and a compute line says DGX." in page


def with_claims(*claims: tuple[str, str, str]) -> bytes:
    document = json.loads((QUOTES / "nimbrel.json").read_text())
    document["claims"] = [
        {"topic": topic, "statement": text, "evidence_level": level, "source": "p. 2"} for topic, text, level in claims
    ]
    return json.dumps(document).encode()


def test_a_vendors_own_measurement_counts_as_a_claim_and_other_topics_stay_listed(desk: Desk) -> None:
    content = with_claims(
        ("all-to-all", "All-to-all was measured", "own measurement"),
        ("goodput", "Goodput is 93 % over a month", "third-party"),
        ("cooling", "Air is enough", "specification"),
    )
    batch = committed(desk, content, "nimbrel.json")
    desk.post("import_preview_option", batch.pk, **{**FORM, "template": "cloud_reserved", "facility": "none"})
    client = desk.assessment.client
    answer = EvidenceAnswer.objects.of_client(client).get(question=2)
    assert answer.level == "claim"
    assert "a vendor's measurement counts as a claim" in answer.note
    assert "Nimbrel Cloud NC-0412 v1" in answer.note
    made = RackConfiguration.objects.of_client(client).get()
    assert (str(made.goodput_likely), made.sources["goodput"]["level"]) == ("0.93", "third_party")
    page = text_of(desk.get("import_preview", batch.pk))
    assert "cooling: Air is enough" in page
    option = Option.objects.of_client(client).get()
    assert "Air is enough" in text_of(desk.get("option", option.pk))
    assert "Air is enough" in text_of(desk.get("claims"))


@pytest.mark.parametrize(
    ("statement", "of_theory", "share"),
    [
        ("Collective bandwidth reaches 0.80 of the theoretical value", True, "0.80"),
        ("Collective bandwidth reaches 0,8 of peak", True, "0.8"),
        ("80 % of line rate in 0.5 % of packets", True, "0.8"),
        ("Up to 0.95 of the theoretical value", True, None),
        ("Loss stays at 0.5 % of packets", True, None),
        ("0.7 of peak alone, 0.6 of peak shared", True, None),
        ("Goodput 0.93 on 128 GPUs", False, "0.93"),
        ("Goodput from 0.90 to 0.96", False, None),
        ("Goodput 120 %", False, None),
    ],
)
def test_a_share_is_read_from_a_statement_only_where_it_is_the_one(
    statement: str, of_theory: bool, share: str | None
) -> None:
    found = share_in(statement, of_theory=of_theory)
    assert found == (None if share is None else Decimal(share))


@pytest.mark.parametrize(
    ("topic", "statement", "question"),
    [
        ("fabric", "Collective bandwidth reaches 0.8", 1),
        ("fabric", "Switches have 64 ports", None),
        ("all-to-all bandwidth", "", 2),
        ("storage", "Checkpoints are written at 12 GB/s", 3),
        ("cooling", "Collective bandwidth needs no water", None),
    ],
)
def test_a_topic_leads_to_the_question_it_is_about(topic: str, statement: str, question: int | None) -> None:
    assert question_of(topic, statement) == question


def test_goodput_and_nodes_of_the_sheets_are_taken_over(desk: Desk) -> None:
    document = json.loads((QUOTES / "nimbrel.json").read_text())
    document["terms"] |= {"goodput_low": "0.8", "goodput": "90 %", "slowdown": "1.4"}
    document["terms"] |= {"it_load_kw_low": "90", "it_load_kw_likely": "100", "it_load_kw_high": "120"}
    document["fabric"]["gpus_per_node"] = "4"
    batch = committed(desk, json.dumps(document).encode(), "nimbrel.json")
    preset = desk.get("import_preview", batch.pk).context["option_form"].initial
    assert preset["accelerators_per_node"] == 4
    assert preset["it_load_kw_likely"] == 100
    typed = {"template": "rack_scale", "facility": "none", "it_load_kw_likely": "100"}
    desk.post("import_preview_option", batch.pk, **{**FORM, **typed})
    made = RackConfiguration.objects.of_client(desk.assessment.client).get()
    assert (made.it_load_kw_low, made.it_load_kw_likely, made.it_load_kw_high) == (90, 100, 120)
    assert (str(made.goodput_low), str(made.goodput_likely), made.slowdown_likely) == ("0.8", "0.9", None)
    assert made.sources["goodput"]["ref"].startswith("terms.goodput")
    assert made.n_accelerators == 40  # typed, so it does not stand in the quote
    assert "n_accelerators" not in made.sources
    assert "It must be a fraction from 0 to 1" in text_of(desk.get("import_preview", batch.pk))


def test_a_text_file_named_as_a_workbook_is_said_to_be_one(desk: Desk) -> None:
    batch = previewed(desk, csv_bytes(), "lines.xlsx", vendor_name="Tintern")
    assert "It is not a workbook; it was read as CSV." in text_of(desk.get("import_preview", batch.pk))
    batch = previewed(desk, b"description,quantity,unit price\n", "bare.xlsx")
    page = text_of(desk.get("import_preview", batch.pk))
    assert batch.state == State.REFUSED
    assert "It is not a workbook; it was read as CSV." in page
    assert "Below stands why" in page


def test_an_existing_option_takes_the_version(desk: Desk) -> None:
    client = desk.assessment.client
    option = factories.make_option(client=client, assessment=desk.assessment)
    phase = factories.make_option_phase(client=client, option=option, quote_version=None)
    batch = committed(desk)
    desk.post("import_preview_pin", batch.pk, phase=phase.pk)
    assert OptionPhase.objects.of_client(client).get().quote_version_id == desk.batch().quote_version_id


def test_a_phase_of_another_client_is_no_choice(desk: Desk) -> None:
    foreign = factories.make_option_phase(quote_version=None)
    batch = committed(desk)
    factories.make_option_phase(
        client=desk.assessment.client,
        option=factories.make_option(client=desk.assessment.client, assessment=desk.assessment),
    )
    assert desk.post("import_preview_pin", batch.pk, phase=foreign.pk).status_code == 422
    assert OptionPhase.objects.of_client(foreign.client).get().quote_version_id is None


# who may --------------------------------------------------------------------------------------------------------------
def test_a_viewer_reads_and_cannot_post(desk: Desk) -> None:
    batch = previewed(desk, broken_workbook())
    viewer = desk.as_(Role.VIEWER)
    for response in (viewer.get("intake"), viewer.get("import_preview", batch.pk)):
        assert response.status_code == 200
        assert "csrfmiddlewaretoken" not in text_of(response)
    names = ("answer", "columns", "commit", "cancel", "undo", "option", "pin")
    answers = [viewer.post(f"import_preview_{name}", batch.pk).status_code for name in names]
    assert answers == [403] * len(names)
    assert viewer.upload(csv_bytes()).status_code == 403
    assert desk.batch().state == State.QUESTIONS


def test_an_import_of_another_client_or_assessment_is_unknown(desk: Desk) -> None:
    foreign = factories.make_import_batch()
    own_client = factories.make_assessment(client=desk.assessment.client)
    elsewhere = factories.make_import_batch(client=desk.assessment.client, assessment_id=own_client.pk)
    for batch in (foreign, elsewhere):
        assert desk.get("import_preview", batch.pk).status_code == 404
        assert desk.post("import_preview_commit", batch.pk).status_code == 404
        assert desk.get("import_preview_file", batch.pk).status_code == 404


def test_posts_need_the_token_of_their_page(desk: Desk) -> None:
    batch = previewed(desk, saved(workbook()))
    strict = Browser(enforce_csrf_checks=True)
    strict.force_login(desk.user)
    assert strict.post(desk.url("import_preview_commit", batch.pk)).status_code == 403


def test_queries_do_not_grow_with_imports(desk: Desk, django_assert_max_num_queries: DjangoAssertNumQueries) -> None:
    for _number in range(12):
        factories.make_import_batch(client=desk.assessment.client, assessment_id=desk.assessment.pk, kind="quote_csv")
    batch = committed(desk)
    with django_assert_max_num_queries(12):
        desk.get("intake")
    with django_assert_max_num_queries(22):
        desk.get("import_preview", batch.pk)


def test_an_older_import_is_still_compared_with_the_version_before_it(desk: Desk) -> None:
    first = committed(desk)
    book = workbook()
    book["Lines"]["E3"] = 5
    second = committed(desk, saved(book), "second.xlsx")
    book["Lines"]["E3"] = 6
    committed(desk, saved(book), "third.xlsx")
    page = text_of(desk.get("import_preview", second.pk))
    assert "Against v1" in page
    assert 'class="num">v2<' in page
    assert "The first version of this quote" in text_of(desk.get("import_preview", first.pk))
