"""From upload to quote version and back: preview, answers, corrections, mapping, commit, undo, who may do what."""

from decimal import Decimal
from typing import Any

import pytest
from django.core.exceptions import PermissionDenied
from django.core.files.storage import default_storage

from apps.accounts.models import AuditEntry, Client, Role, User
from apps.accounts.permissions import SYSTEM, NotVisible
from apps.intake import services
from apps.intake.files import clean_name, download_headers, open_file
from apps.intake.models import ColumnMapping, ImportBatch, UploadedFile
from apps.intake.selectors import batches_visible_to, files_visible_to, import_diff, progress
from apps.vendors.models import Quote, QuoteLine, QuoteVersion, Vendor
from apps.vendors.selectors import latest_versions, quote_versions_visible_to, version_diff
from tests.factories import make_client, make_member, make_option_phase
from tests.intake.generate import HEADER, LINES, changed, csv_bytes, saved, workbook

pytestmark = pytest.mark.django_db
State = ImportBatch.State


@pytest.fixture(autouse=True)
def own_storage(settings: Any, tmp_path: Any) -> None:
    settings.STORAGES = {
        **settings.STORAGES,
        "default": {"BACKEND": "django.core.files.storage.FileSystemStorage", "OPTIONS": {"location": str(tmp_path)}},
    }


@pytest.fixture
def client_row() -> Client:
    return make_client()


@pytest.fixture
def analyst(client_row: Client) -> User:
    return make_member(client_row, Role.ANALYST)


def upload(by: Any, client: Client, content: bytes, name: str = "quote.csv", **values: Any) -> ImportBatch:
    values.setdefault("vendor_name", "Tintern Test Systems")
    return services.preview_upload(by=by, client=client, name=name, content=content, **values)


def actions(client: Client) -> list[str]:
    entries = AuditEntry.objects.filter(client=client, action__startswith="import.").order_by("at")
    return list(entries.values_list("action", flat=True))


def test_a_good_file_is_previewed_then_stored_as_the_first_version(client_row: Client, analyst: User) -> None:
    batch = upload(analyst, client_row, saved(workbook()), "q.xlsx", vendor_name="")
    assert batch.state == State.READY
    assert QuoteVersion.objects.of_client(client_row).count() == 0

    version = services.commit_import(by=analyst, batch=batch)

    lines = list(QuoteLine.objects.of_client(client_row).filter(quote_version=version))
    assert (str(version), len(lines)) == ("Tintern Test Systems TT-77 v1", 4)
    assert lines[0].unit_price_likely == Decimal("44000.5")
    assert lines[0].source_ref == "Lines!2"
    assert version.lead_weeks_likely == 12
    assert version.warranty_months == 36
    assert version.terms == {"payment_days": {"value": "30", "ref": "Terms!B3"}}
    assert version.refs["valid_until"] == "Quote!B5"
    assert actions(client_row) == ["import.previewed", "import.committed"]


def test_the_file_is_kept_unchanged_under_a_generated_name(client_row: Client, analyst: User) -> None:
    content = csv_bytes()
    batch = upload(analyst, client_row, content, "../../etc/quote\u202ecsv.exe")
    with open_file(batch.file) as stream:
        assert stream.read() == content
    assert batch.file.original_name == "quotecsv.exe"
    assert batch.file.stored_name.startswith(f"clients/{client_row.pk}/")
    assert "quote" not in batch.file.stored_name


def test_a_double_click_stores_one_version(client_row: Client, analyst: User) -> None:
    batch = upload(analyst, client_row, csv_bytes())
    stale = ImportBatch.objects.of_client(client_row).get(pk=batch.pk)
    first = services.commit_import(by=analyst, batch=batch)
    second = services.commit_import(by=analyst, batch=stale)
    assert first.pk == second.pk
    assert QuoteVersion.objects.of_client(client_row).count() == 1


def test_a_second_file_becomes_the_next_version_and_supersedes_the_first(client_row: Client, analyst: User) -> None:
    first = services.commit_import(by=analyst, batch=upload(analyst, client_row, csv_bytes()))
    batch = upload(analyst, client_row, csv_bytes(changed(3, 4, 5)))
    diff = import_diff(batch)
    assert diff is not None
    assert [(c.field, c.old, c.new) for line in diff.lines for c in line.changes] == [("quantity", 3, 5)]

    second = services.commit_import(by=analyst, batch=batch)

    first.refresh_from_db(from_queryset=QuoteVersion.objects.of_client(client_row))
    assert (first.state, second.version, second.state) == ("superseded", 2, "received")
    assert list(latest_versions(client_row)) == [second]
    changes = [change for line in version_diff(first, second).lines for change in line.changes]
    assert round(changes[0].percent or 0, 2) == Decimal("66.67")


def test_undo_removes_the_batch_and_the_version_before_counts_again(client_row: Client, analyst: User) -> None:
    first = services.commit_import(by=analyst, batch=upload(analyst, client_row, csv_bytes()))
    batch = upload(analyst, client_row, csv_bytes(changed(3, 4, 5)))
    services.commit_import(by=analyst, batch=batch)

    services.undo_import(by=analyst, batch=batch)

    first.refresh_from_db(from_queryset=QuoteVersion.objects.of_client(client_row))
    assert (batch.state, first.state) == (State.UNDONE, "received")
    assert QuoteVersion.objects.of_client(client_row).count() == 1
    with pytest.raises(services.ImportStateError, match="nothing to undo"):
        services.undo_import(by=analyst, batch=batch)


def test_undo_of_the_only_import_leaves_no_vendor_behind(client_row: Client, analyst: User) -> None:
    batch = upload(analyst, client_row, csv_bytes())
    services.commit_import(by=analyst, batch=batch)
    services.undo_import(by=analyst, batch=batch)
    left = [model.objects.of_client(client_row).count() for model in (Vendor, Quote, QuoteVersion, QuoteLine)]
    assert left == [0, 0, 0, 0]
    assert ImportBatch.objects.of_client(client_row).get(pk=batch.pk).state == State.UNDONE


def test_undo_is_refused_while_an_option_uses_the_version(client_row: Client, analyst: User) -> None:
    batch = upload(analyst, client_row, csv_bytes())
    version = services.commit_import(by=analyst, batch=batch)
    phase = make_option_phase(client=client_row, quote_version=version)
    with pytest.raises(services.ImportStateError, match=f"Option {phase.option.letter}"):
        services.undo_import(by=analyst, batch=batch)
    batch.refresh_from_db(from_queryset=ImportBatch.objects.of_client(client_row))
    assert batch.state == State.COMMITTED


def test_undo_is_refused_when_an_app_above_pins_the_version(
    client_row: Client, analyst: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    batch = upload(analyst, client_row, csv_bytes())
    services.commit_import(by=analyst, batch=batch)
    monkeypatch.setattr(services, "PINS", [lambda version: "Run 42 is signed."])
    with pytest.raises(services.ImportStateError, match="Run 42"):
        services.undo_import(by=analyst, batch=batch)


def test_an_ambiguous_number_blocks_until_it_is_answered(client_row: Client, analyst: User) -> None:
    line = [1, "service", "Setup", "X", 2, "lot", "1.100", "1.250", "1.300", "EUR", "one-off", "", 0, "claim"]
    batch = upload(analyst, client_row, csv_bytes([line]))
    assert batch.state == State.QUESTIONS
    with pytest.raises(services.ImportStateError, match="questions open"):
        services.commit_import(by=analyst, batch=batch)

    batch = services.answer(by=analyst, batch=batch, answers={"number_style": "."})

    assert batch.state == State.READY
    assert batch.preview["lines"][0]["unit_price_likely"] == "1.250"
    batch = services.answer(by=analyst, batch=batch, answers={"number_style": ","})
    assert batch.preview["lines"][0]["unit_price_likely"] == "1250"


def test_a_wrong_cell_is_corrected_in_the_preview_and_the_file_stays(client_row: Client, analyst: User) -> None:
    content = csv_bytes(changed(2, 7, "n/a"))
    batch = upload(analyst, client_row, content)
    (message,) = [m for m in batch.preview["messages"] if m["severity"] == "error"]
    assert (batch.state, message["cell"]) == (State.QUESTIONS, "Lines!H2")

    batch = services.answer(by=analyst, batch=batch, corrections={"Lines!H2": "44000.50"})

    assert batch.state == State.READY
    assert batch.preview["lines"][0]["unit_price_likely"] == "44000.50"
    with open_file(batch.file) as stream:
        assert stream.read() == content


def test_a_file_that_is_no_quote_is_refused_audited_and_not_kept(client_row: Client, analyst: User) -> None:
    batch = upload(analyst, client_row, b"%PDF-1.7 x", "quote.csv")
    assert (batch.state, batch.file.stored_name) == (State.REFUSED, "")
    assert "PDF" in batch.preview["messages"][0]["text"]
    entry = AuditEntry.objects.get(client=client_row, action="import.refused")
    assert (entry.actor, entry.subject, entry.details["outcome"]) == (analyst, "quote.csv", "reject")
    assert upload(analyst, client_row, csv_bytes()).state == State.READY


def test_a_file_without_a_vendor_asks_for_one(client_row: Client, analyst: User) -> None:
    batch = upload(analyst, client_row, csv_bytes(), vendor_name="")
    assert [question["id"] for question in batch.preview["questions"]] == ["vendor_name"]
    batch = services.answer(by=analyst, batch=batch, answers={"vendor_name": "Ystrad Racks"})
    assert str(services.commit_import(by=analyst, batch=batch)) == "Ystrad Racks quote v1"


def test_the_same_file_twice_for_one_quote_is_noticed(client_row: Client, analyst: User) -> None:
    services.commit_import(by=analyst, batch=upload(analyst, client_row, csv_bytes()))
    again = upload(analyst, client_row, csv_bytes())
    assert again.preview["duplicate_of"]["version"] == 1
    assert "already version 1" in again.preview["messages"][-1]["text"]


OWN_HEADINGS = ("Pos", "Group", "Text", "Code", "Menge", "ME", "a", "Listenpreis", "b", "Whg", "Art", "", "Rabatt", "x")


def test_a_vendors_own_headings_are_asked_once_and_remembered(client_row: Client, analyst: User) -> None:
    lines = [[*line[:6], "", line[7], "", "", "", "", line[12], ""] for line in LINES[:3]]
    content = csv_bytes(lines, header=OWN_HEADINGS)
    batch = upload(analyst, client_row, content)
    asked = {question["id"] for question in batch.preview["questions"]}
    assert {"map:C", "map:H"} <= asked
    answers = {
        question["id"]: question["suggested"] for question in batch.preview["questions"] if question["suggested"]
    }
    batch = services.answer(by=analyst, batch=batch, answers={**answers, "currency": "EUR"})
    assert batch.state == State.READY, batch.preview["questions"]
    services.commit_import(by=analyst, batch=batch)
    assert ColumnMapping.objects.of_client(client_row).get().mapping["Listenpreis"] == "unit_price_likely"

    later = upload(analyst, client_row, csv_bytes([*lines, lines[0]], header=OWN_HEADINGS))

    assert later.preview["mapping_remembered"] is True
    assert not [question for question in later.preview["questions"] if question["id"].startswith("map:")]


def test_a_mapping_given_by_hand_overrules_the_headings(client_row: Client, analyst: User) -> None:
    header = ("A", "B", "C", "D")
    content = csv_bytes([["8-GPU node", 2, 250000.5, "USD"], ["Switch", 1, 30000.5, "USD"]], header=header)
    batch = upload(analyst, client_row, content)
    assert {"column:description", "column:quantity"} <= {question["id"] for question in batch.preview["questions"]}
    mapping = {"A": "description", "B": "quantity", "C": "unit_price_likely", "D": "currency"}
    batch = services.answer(by=analyst, batch=batch, mapping=mapping, answers={"charge": "one_off"})
    assert batch.state == State.READY, batch.preview["questions"]
    assert [line["unit_price_likely"] for line in batch.preview["lines"]] == ["250000.5", "30000.5"]


def test_an_optional_column_mapped_by_hand_is_remembered_too(client_row: Client, analyst: User) -> None:
    content = csv_bytes([[*line, "compute_nodes"] for line in LINES], header=(*HEADER, "Zeile im Blatt"))
    batch = upload(analyst, client_row, content)
    assert batch.preview["mapping_needed"] == []
    batch = services.answer(by=analyst, batch=batch, mapping={"Zeile im Blatt": "comparison_key"})
    services.commit_import(by=analyst, batch=batch)

    later = upload(analyst, client_row, content)

    assert later.preview["mapping_remembered"] is True
    assert later.preview["mapping"]["Zeile im Blatt"] == "comparison_key"
    assert later.preview["lines"][0]["comparison_key"] == "compute_nodes"
    once_more = services.answer(by=analyst, batch=later, mapping={"Zeile im Blatt": None})
    assert once_more.preview["mapping"]["Zeile im Blatt"] is None
    assert once_more.preview["mapping"]["quantity"] == "quantity"


def test_a_remembered_mapping_never_drops_the_read_one_of_two_equal_headings(client_row: Client, analyst: User) -> None:
    header = (*HEADER[:7], "Preis", "Preis", "currency")
    content = csv_bytes([[*LINES[0][:7], "44000.50", "43000.25", "EUR"]], header=header)
    batch = upload(analyst, client_row, content)
    batch = services.answer(
        by=analyst,
        batch=batch,
        answers={"duplicate:unit_price_likely": "H", "charge": "one_off"},
    )
    assert batch.state == State.READY, batch.preview["questions"]
    services.commit_import(by=analyst, batch=batch)
    later = upload(analyst, client_row, content)
    assert "duplicate:unit_price_likely" in {question["id"] for question in later.preview["questions"]}


def test_what_no_field_holds_is_kept_with_the_quote_and_said_to_change_no_number(
    client_row: Client, analyst: User
) -> None:
    book = workbook()
    book["Terms"].append(["Liability cap", "100 % of the order"])
    book["Quote"].append(["Account manager", "B. Byrne"])
    batch = upload(analyst, client_row, saved(book), "q.xlsx")
    (text,) = [one["text"] for one in batch.preview["messages"] if one["text"].startswith("Kept, not used in numbers")]
    assert "liability_cap (Terms!B" in text
    assert "account_manager (Quote!B" in text
    version = services.commit_import(by=analyst, batch=batch)
    assert version.terms["liability_cap"]["value"] == "100 % of the order"
    assert version.terms["account_manager"]["value"] == "B. Byrne"


def test_an_answer_is_taken_back_and_asked_again(client_row: Client, analyst: User) -> None:
    content = csv_bytes([[1, "service", "Setup", "", 1, "lot", "", "1.234", "", "EUR", "one-off", "", "", ""]])
    batch = upload(analyst, client_row, content, vendor_name="")
    batch = services.answer(by=analyst, batch=batch, answers={"number_style": ",", "vendor_name": "Tintern"})
    assert batch.state == State.READY
    batch = services.answer(by=analyst, batch=batch, answers={"number_style": None})
    assert batch.answers["answers"] == {"vendor_name": "Tintern"}
    assert [question["id"] for question in batch.preview["questions"]] == ["number_style"]
    batch = services.answer(by=analyst, batch=batch, answers={"vendor_name": None})
    assert batch.vendor_name == ""
    assert "vendor_name" in {question["id"] for question in batch.preview["questions"]}


def test_cancelled_imports_cannot_be_stored(client_row: Client, analyst: User) -> None:
    batch = services.cancel_import(by=analyst, batch=upload(analyst, client_row, csv_bytes()))
    with pytest.raises(services.ImportStateError, match="cancelled"):
        services.commit_import(by=analyst, batch=batch)


def test_a_viewer_may_not_import_and_a_stranger_finds_no_client(client_row: Client) -> None:
    with pytest.raises(PermissionDenied):
        upload(make_member(client_row, Role.VIEWER), client_row, csv_bytes())
    stranger = make_member(make_client())
    with pytest.raises(NotVisible):
        upload(stranger, client_row, csv_bytes())
    assert not batches_visible_to(stranger).exists()
    assert not files_visible_to(stranger).exists()
    assert not quote_versions_visible_to(stranger).exists()


def test_ids_of_another_client_are_refused_like_unknown_ones(client_row: Client, analyst: User) -> None:
    other = make_member(make_client())
    theirs = services.commit_import(by=SYSTEM, batch=upload(SYSTEM, make_client(), csv_bytes()))
    texts = set()
    for vendor_id in (theirs.quote.vendor_id, other.pk):
        content = b'{"quote": {"vendor_id": "%s"}, "lines": [{"description": "x"}]}' % str(vendor_id).encode()
        preview = upload(analyst, client_row, content, "q.json").preview
        texts.add(next(m["text"] for m in preview["messages"] if m["field"] == "vendor_id"))
    assert len(texts) == 1


def test_imports_are_limited_per_client_and_hour(client_row: Client, analyst: User, settings: Any) -> None:
    settings.IMPORTS_PER_CLIENT_AND_HOUR = 2
    for _ in range(2):
        upload(analyst, client_row, csv_bytes())
    with pytest.raises(services.TooManyImportsError, match="2 imports"):
        upload(analyst, client_row, csv_bytes())
    assert upload(SYSTEM, client_row, csv_bytes()).state == State.READY


def test_a_preview_that_cannot_be_stored_leaves_no_file(
    client_row: Client, analyst: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any, **__: Any) -> None:
        raise OSError("No space left on device")

    monkeypatch.setattr(services, "_audit", full)
    with pytest.raises(OSError, match="No space"):
        upload(analyst, client_row, csv_bytes())
    assert UploadedFile.objects.of_client(client_row).count() == 0
    assert default_storage.listdir(f"clients/{client_row.pk}")[1] == []


def test_progress_counts_what_is_ready_wrong_and_asked(client_row: Client, analyst: User) -> None:
    counts = progress(upload(analyst, client_row, csv_bytes(changed(2, 7, "n/a"))))
    assert counts["errors"] == 1
    assert counts["ready"] > 30


NAMES = {
    "../../etc/passwd": "passwd",
    "..\\..\\quote.xlsx": "quote.xlsx",
    "quote.csv\r\nX-Injected: 1": "quote.csvX-Injected_ 1",
    "CON.csv": "upload-CON.csv",
    "quote\u202ecsv.exe": "quotecsv.exe",
    "quote\x00.csv": "quote.csv",
    '"; filename="evil.html': "__ filename=_evil.html",
    "\u0441\u043c\u0435\u0442\u0430 \U0001f9fe.csv": "\u0441\u043c\u0435\u0442\u0430 \U0001f9fe.csv",
    ".htaccess": "htaccess",
    " ": "upload",
    "q" * 300 + ".csv": "q" * 116 + ".csv",
}


@pytest.mark.parametrize(("name", "shown"), NAMES.items())
def test_file_names_are_cleaned_and_downloads_carry_one_safe_name(name: str, shown: str) -> None:
    assert clean_name(name) == shown
    headers = download_headers(UploadedFile(original_name=name, size_bytes=1))
    disposition = headers["Content-Disposition"]
    assert disposition.startswith('attachment; filename="')
    assert disposition.count('"') == 2
    assert disposition.isascii()
    assert not set("\r\n\x00") & set(disposition)
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Content-Security-Policy"].startswith("sandbox")


def test_every_field_of_the_header_is_read_back_from_the_database(client_row: Client, analyst: User) -> None:
    version = services.commit_import(by=analyst, batch=upload(analyst, client_row, csv_bytes()))
    stored = QuoteLine.objects.of_client(client_row).filter(quote_version=version)
    for line, given in zip(stored, LINES, strict=True):
        row = dict(zip(HEADER, given, strict=True))
        assert line.unit_price_high == Decimal(row["unit_price_high"])
        assert (line.part_number, line.kind, line.currency) == (row["part_number"], row["kind"], "EUR")
