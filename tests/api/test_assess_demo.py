"""The demo cases: they come in as a user's files would, tell their story, and can be loaded twice or removed."""

import io
import json
import subprocess
import sys
from pathlib import Path

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command

from apps.accounts.models import Client, User
from apps.accounts.permissions import SYSTEM
from apps.analyses.demo import CASES, FOLDER, add_demo_case, quote_files
from apps.analyses.inputs import tco_document
from apps.analyses.models import AnalysisRun
from apps.analyses.rules import evaluate, gates_of
from apps.analyses.spec_loading import _as_file, _imported, _version_of, load_spec
from apps.api.assessing import computed_run
from apps.assessments.models import Assessment, Option
from apps.assessments.services import remove_demo
from apps.assessments.spec import SpecError, read_spec, spec_date
from apps.engine import tco
from apps.intake.models import ImportBatch
from apps.vendors.models import QuoteLine, QuoteVersion
from tests.factories import make_client, make_organisation, make_user

LINE_FIELDS = [
    field.name
    for field in QuoteLine._meta.fields
    if field.name not in {"id", "client", "created_at", "updated_at", "quote_version", "source_ref"}
]


@pytest.fixture
def product(db):
    call_command("load_assumptions", verbosity=0)


@pytest.fixture
def organisation(product):
    return make_organisation()


def loaded(key, organisation, draws=1024):
    assessment = add_demo_case(key, organisation=organisation, owner=make_user()).assessment
    assessment.draws = draws
    assessment.save()
    return assessment


def answers(assessment):
    return tco.total_cost_of_ownership(json.loads(json.dumps(tco_document(assessment))))


def likely(results, basis):
    return {key: option[basis]["likely"] for key, option in results["options"].items()}


def facts(version, names):
    return [[getattr(line, name) for name in names] for line in version.lines.order_by("position")]


def test_each_quote_file_gives_the_same_lines_as_the_spec(product):
    spec = {quote["key"]: quote for quote in read_spec(FOLDER / "larkmere.json")["quotes"]}
    for key, file in quote_files().items():
        client = make_client()
        found = [_version_of(_imported(each, key, by=SYSTEM, client=client)) for each in (file, _as_file(spec[key]))]
        assert facts(found[0], LINE_FIELDS) == facts(found[1], LINE_FIELDS), key
        for name in ("date", "valid_until", "currency", "lead_weeks_low", "lead_weeks_likely", "lead_weeks_high",
                     "acceptance_weeks", "term_months"):  # fmt: skip
            assert getattr(found[0], name) == getattr(found[1], name), (key, name)
        assert {n: v["value"] for n, v in found[0].fabric.items()} == {
            n: v["value"] for n, v in found[1].fabric.items()
        }


def test_the_quote_files_are_those_their_script_makes(tmp_path):
    script = FOLDER / "make_quote_files.py"
    subprocess.run([sys.executable, str(script), str(tmp_path)], check=True)
    for path in (FOLDER / "quotes").iterdir():
        assert (tmp_path / path.name).read_bytes() == path.read_bytes(), path.name


def test_case_1_tells_its_story(organisation):
    results = answers(loaded("larkmere", organisation))
    nominal, npv = likely(results, "nominal_usd"), likely(results, "npv_usd")
    assert min("ABCD", key=nominal.get) == "B"
    assert results["ranking"]["nominal"][0] == "B"
    assert nominal["A"] < nominal["C"]  # owning A costs less in sum
    assert npv["C"] < npv["A"]  # paying later turns the order
    assert nominal["A"] == pytest.approx(8_241_113.97, abs=0.01)
    assert nominal["C"] == pytest.approx(9_035_496.22, abs=0.01)


def test_case_1_has_the_capital_and_staff_of_the_quotes(organisation):
    options = answers(loaded("larkmere", organisation, draws=64))["options"]
    capital = {key: options[key]["capital_usd"]["likely"] for key in ("A", "B", "B+", "C")}
    assert capital == {"A": 6_284_400, "B": 5_351_600, "B+": 5_466_800, "C": 25_000}
    staff = {key: options[key]["by_category_usd"]["staff"] for key in ("A", "B", "C")}
    assert staff == pytest.approx({"A": 720_000, "B": 1_560_000, "C": 360_000})


@pytest.mark.django_db(transaction=True)  # the run is computed here, and its engine holds no transaction
def test_option_c_is_ranked_because_a_named_person_waived_f1_and_d_is_not(organisation):
    assessment = loaded("larkmere", organisation, draws=64)
    run = computed_run(by=SYSTEM, assessment=assessment)
    hits = evaluate(assessment, run=run, today=spec_date(read_spec(FOLDER / "larkmere.json")))
    waived = [hit for hit in hits if hit.waived]
    assert [(hit.rule_id, hit.option_letter, hit.waived_by) for hit in waived] == [
        ("F1", "C", "Ines Varga, infrastructure lead")
    ]
    assert waived[0].waiver_reason
    assert [hit.rule_id for hit in gates_of(hits, "C")] == []
    assert "F1" in [hit.rule_id for hit in gates_of(hits, "D")]


def test_case_2_yearly_terms_cost_more_than_owning_and_a_long_term_wins_on_npv(organisation):
    results = answers(loaded("corvane", organisation))
    nominal, npv = likely(results, "nominal_usd"), likely(results, "npv_usd")
    assert nominal["P"] < nominal["R12"]
    assert min(npv, key=npv.get) == "R36"
    assert max(nominal, key=nominal.get) == "Q"


def test_case_3_cloud_serving_is_cheapest(organisation):
    nominal = likely(answers(loaded("pellstone", organisation)), "nominal_usd")
    assert nominal["Z"] < nominal["Y"] < nominal["X"]


def test_every_roadmap_evidence_and_claim_of_case_1_is_stored(organisation):
    assessment = loaded("larkmere", organisation)
    roadmap = list(assessment.roadmap.values_list("name", "first_quarter", "last_quarter"))
    assert roadmap[3] == ("70 B MoE", 3, 5)
    assert len(roadmap) == 6
    levels = {
        option.letter: list(option.evidence.order_by("question").values_list("level", flat=True))
        for option in Option.objects.of_client(assessment.client)
    }
    assert levels["A"] == ["third_party_matching", "claim", "own_measurement"]
    assert levels["B"] == ["specification", "none", "third_party"]
    versions = QuoteVersion.objects.of_client(assessment.client).filter(quote__number="QR-7731").order_by("version")
    assert [version.lines.get(comparison_key="links").quantity for version in versions] == [192, 256]
    assert versions[0].claims[0]["statement"].startswith("Collective bandwidth")
    assert ImportBatch.objects.of_client(assessment.client).filter(kind="quote_xlsx", state="committed").count() == 2


def test_a_case_is_added_once_and_removed_as_a_whole(organisation):
    owner = make_user()
    first = add_demo_case("corvane", organisation=organisation, owner=owner)
    second = add_demo_case("corvane", organisation=organisation, owner=owner)
    assert (first.added, second.added) == (True, False)
    assert first.assessment == second.assessment
    remove_demo(by=owner, client=first.assessment.client)
    assert not Client.objects.filter(organisation=organisation).exists()
    assert add_demo_case("corvane", organisation=organisation, owner=owner).added


def test_what_an_interrupted_start_left_behind_is_replaced(organisation):
    name = read_spec(FOLDER / "corvane.json")["client"]["name"]
    half = make_client(organisation=organisation, name=name, fictional=True)
    case = add_demo_case("corvane", organisation=organisation, owner=make_user())
    assert case.added
    assert not Client.objects.filter(pk=half.pk).exists()


def test_a_spec_that_fails_half_way_leaves_no_quote_behind(product):
    spec = read_spec(FOLDER / "corvane.json")
    spec["assumptions"][0]["key"] = "no_such_assumption"
    client = make_client()
    with pytest.raises(SpecError, match=r"\$\.assumptions\[0\]: .*no_such_assumption"):
        load_spec(spec, by=SYSTEM, client=client)
    assert not QuoteVersion.objects.of_client(client).exists()
    assert not Assessment.objects.of_client(client).exists()


def test_the_demo_is_not_loaded_in_production(db, settings):
    settings.PRODUCTION = True
    with pytest.raises(CommandError, match="production"):
        call_command("load_demo")
    assert not User.objects.exists()


@pytest.mark.worker
def test_load_demo_computes_through_a_real_worker_and_prints_the_comparison(
    celery_worker_process, monkeypatch, capsys, transactional_db
):
    call_command("load_assumptions", verbosity=0)
    monkeypatch.setenv("SPINECUT_DEMO_EMAIL", "demo@example.com")
    monkeypatch.setenv("SPINECUT_DEMO_PASSWORD", "a password of this installation")
    worker = celery_worker_process()
    call_command("load_demo", wait=240, stderr=io.StringIO())
    printed = capsys.readouterr()
    for wanted in ("Larkmere Robotics", "Velmora Compute", "Quarrow Racks", "Nimbrel Cloud", "F1 on C waived by"):
        assert wanted in printed.out, worker.log()
    assert User.objects.get().check_password("a password of this installation")
    runs = AnalysisRun.objects.system("a test")
    assert {run.state for run in runs} == {"succeeded"}
    assert len(runs) == len(CASES)
    call_command("load_demo", wait=5, stderr=io.StringIO())  # a second start computes nothing anew
    assert len(runs.all()) == len(CASES)
    assert Path(settings.VAR_DIR).exists()
