"""Each rule: when it speaks, when it is silent, and when it says that facts are missing."""

import json
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from apps.analyses.rules import RuleHit, gates_of, open_gates, ranked_letters, ready_to_sign
from apps.analyses.rules.definitions import FOLDER, RuleError, read_rules, rule, rules
from apps.analyses.rules.evaluation import PLACE, hit_of
from apps.analyses.rules.logic import Known
from apps.analyses.rules.vocabulary import FACTS, caption, joined, money, number, written
from apps.assumptions.product_defaults import read_assumptions

THRESHOLDS = {value.key: value.likely for value in read_assumptions()}
TODAY = date(2026, 11, 30)
DISAGGREGATED = {"disaggregated": True, "staff_lines": 1, "staff_fte": Decimal("3.25"), "break_even_text": "B saves."}
SITE = {"owned": True, "liquid_on_air_site": False, "nameplate_billed": False}
T3 = {"n_quotes": 1, "signature_date": date(2026, 12, 1)}
LEAD = {"own_racks": True, "rack_lead_weeks": 20, "delivery_committed": False}
USE = {"occupancy_fraction": Decimal("0.85"), "availability_given": False, "goodput_given": True}

# rule, facts, severity of the hit or None, whether it says "not given"
CASES: list[tuple[str, dict[str, Any], str | None, bool]] = [
    ("F1", {"fabric_facts_missing": ["oversubscription", "bisection"]}, "gate", False),
    ("F1", {"fabric_facts_missing": []}, None, False),
    ("F1", {}, "gate", True),
    ("T1", DISAGGREGATED | {"staff_lines": 0, "staff_fte": None}, "gate", False),
    ("T1", DISAGGREGATED | {"break_even_fte": Decimal("4.3")}, "info", False),
    ("T1", DISAGGREGATED | {"break_even_fte": Decimal("2.1")}, "amber", False),
    ("T1", {"disaggregated": False, "staff_lines": 0}, None, False),
    ("T1", DISAGGREGATED, "info", True),
    ("T2", LEAD, "amber", False),
    ("T2", LEAD | {"rack_lead_weeks": 26}, None, False),
    ("T2", LEAD | {"delivery_committed": True}, None, False),
    ("T2", LEAD | {"delivery_committed": None}, "amber", True),
    ("T2", LEAD | {"delivery_committed": None, "rack_lead_weeks": 40}, None, False),
    ("T2", LEAD | {"rack_lead_weeks": None}, "amber", True),
    ("T2", {"own_racks": False}, None, False),
    ("T3", T3 | {"quote_valid_until": date(2026, 11, 30)}, "red", False),
    ("T3", T3 | {"quote_valid_until": date(2026, 12, 1)}, None, False),
    ("T3", T3, "amber", True),
    ("T3", {"n_quotes": 0}, None, False),
    ("T4", {"sign_off_missing": ["tax basis"], "n_sign_off_missing": 1}, "gate", False),
    ("T4", {"sign_off_missing": [], "n_sign_off_missing": 0}, None, False),
    ("T4", {}, "gate", True),
    ("T5", SITE | {"rack_power_kw": 132, "site_rack_limit_kw": 40}, "red", False),
    ("T5", SITE | {"rack_power_kw": 40, "site_rack_limit_kw": 40}, None, False),
    ("T5", SITE | {"rack_power_kw": 30, "site_rack_limit_kw": 40, "liquid_on_air_site": True}, "red", False),
    ("T5", SITE | {"rack_power_kw": 30, "site_rack_limit_kw": 40, "nameplate_billed": True}, "red", False),
    ("T5", SITE | {"rack_power_kw": 30}, "info", True),
    ("T5", {"owned": False}, None, False),
    ("T6", {"nominal_winner": "A", "npv_winner": "C", "reordered_pairs": ["A and C"]}, "banner", False),
    ("T6", {"nominal_winner": "B", "npv_winner": "B", "reordered_pairs": ["A and C"]}, "banner", False),
    ("T6", {"nominal_winner": "B", "npv_winner": "B", "reordered_pairs": []}, None, False),
    ("T6", {}, "info", True),
    ("T7", USE, None, False),
    ("T7", USE | {"occupancy_fraction": Decimal("0.96")}, "amber", False),
    ("T7", USE | {"occupancy_fraction": Decimal("0.95")}, None, False),
    ("T7", USE | {"goodput_given": False}, "amber", False),
    ("T7", USE | {"occupancy_fraction": None}, "amber", True),
    ("T8", {"price_ages": [("Colocation", 334)], "undated_prices": []}, "amber", False),
    ("T8", {"price_ages": [("Colocation", 90)], "undated_prices": []}, None, False),
    ("T8", {"price_ages": [], "undated_prices": []}, None, False),
    ("T8", {"price_ages": [], "undated_prices": ["Staff"]}, "amber", False),
    ("T8", {}, "info", True),
    ("C3", {"reserved_accelerators": 1000, "owned_option_beside": False}, "gate", False),
    ("C3", {"reserved_accelerators": 1000, "owned_option_beside": True}, None, False),
    ("C3", {"reserved_accelerators": 999, "owned_option_beside": None}, None, False),
    ("C3", {"reserved_accelerators": 1024, "owned_option_beside": None}, "gate", True),
    ("C3", {"reserved_accelerators": None, "owned_option_beside": False}, "gate", True),
    ("E1", {"weakest_evidence_rank": 1, "evidence_levels": "claim", "evidence": [("claim", 1)]}, "gate", False),
    ("E1", {"weakest_evidence_rank": 4}, None, False),
    ("E1", {}, "gate", True),
    ("E4", {"contested_drivers": ["Pay is recalled, not read"], "n_contested_drivers": 1}, "amber", False),
    ("E4", {"contested_drivers": []}, None, False),
    ("E4", {}, "info", True),
]  # fmt: skip


def hit(rule_id: str, facts: dict[str, Any], letter: str | None = "B") -> RuleHit | None:
    found = rule(rule_id)
    assert found is not None
    return hit_of(found, Known(facts, THRESHOLDS, TODAY), letter)


@pytest.mark.parametrize(("rule_id", "facts", "severity", "not_given"), CASES, ids=lambda part: str(part)[:40])
def test_each_rule_speaks_when_it_should(
    rule_id: str, facts: dict[str, Any], severity: str | None, not_given: bool
) -> None:
    found = hit(rule_id, facts)
    assert (found.severity if found else None) == severity
    if found is not None:
        assert found.not_given is not_given
        texts = (found.title, found.value_text, found.what, found.remedy, found.why, found.source, found.supplier)
        assert all(texts)
        assert not any("{" in text for text in texts)
        if not_given:
            assert found.value_text == "not given"
            assert found.missing


def test_every_rule_has_cases_that_hit_and_that_do_not_and_that_lack_facts() -> None:
    for each in rules():
        outcomes = {
            (severity is not None, not_given) for rule_id, _f, severity, not_given in CASES if rule_id == each.id
        }
        assert outcomes == {(True, False), (False, False), (True, True)}, each.id


def test_the_rules_of_the_first_version_are_all_there() -> None:
    assert {each.id for each in rules()} >= {"F1", "C3", "E4", *(f"T{number}" for number in range(1, 9))}


def test_every_place_in_a_text_is_a_fact_or_the_threshold() -> None:
    for each in json.loads((FOLDER / "rules.json").read_text()):
        texts = [each["why"], each["remedy"], each["supplier"], each["source"], each["unknown"]["what"]]
        texts += [level[name] for level in each["levels"] for name in ("what", "value", "threshold")]
        for name, argument in (match for text in texts for match in PLACE.findall(text)):
            if name in ("max", "over", "under"):
                assert argument in FACTS
            else:
                assert name in FACTS or name in ("threshold", "missing", "options"), (each["id"], name)


def test_a_threshold_is_read_from_the_assumption_and_not_from_the_rule() -> None:
    assert rule("C3") is not None
    facts = {"reserved_accelerators": 128, "owned_option_beside": False}
    lowered = Known(facts, THRESHOLDS | {"rule.C3.min_gpus": Decimal(100)}, TODAY)
    found = hit_of(rule("C3"), lowered, "C")  # type: ignore[arg-type]
    assert found is not None
    assert (found.value_text, found.threshold_text) == ("128 reserved GPUs", "from 100 GPUs")


def test_old_prices_are_named_and_fresh_ones_are_not() -> None:
    found = hit("T8", {"price_ages": [("Colocation", 334), ("Bridge", 150), ("Rate", 12)], "undated_prices": []})
    assert found is not None
    assert (found.what, found.value_text, found.threshold_text) == ("Colocation; Bridge", "334 days", "over 90 days")


def test_missing_facts_are_named_in_words() -> None:
    found = hit("T3", T3)
    assert found is not None
    assert found.what == "Not given: quote valid until"


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"severity": "worse"}, "is not one of"),
        ({"when": {"=": [1]}}, "too short"),
        ({"when": {"run": "code"}}, "not"),
        ({"when": {"missing": "colour"}}, "colour is not a fact"),
        ({"when": {"=": [{"fact": "owned"}, True]}}, "owned is a fact of an option"),
    ],
)
def test_a_rule_that_cannot_be_used_is_refused(tmp_path: Path, change: dict[str, Any], told: str) -> None:
    document = json.loads((FOLDER / "rules.json").read_text())
    broken = next(each for each in document if each["id"] == "T4")
    broken["levels"][0] |= change
    path = tmp_path / "rules.json"
    path.write_text(json.dumps(document))
    with pytest.raises(RuleError, match=told):
        read_rules(path)


def test_a_rule_may_stand_once(tmp_path: Path) -> None:
    document = json.loads((FOLDER / "rules.json").read_text())
    path = tmp_path / "rules.json"
    path.write_text(json.dumps([*document, document[0]]))
    with pytest.raises(RuleError, match="F1: occurs twice"):
        read_rules(path)


# Consequences -------------------------------------------------------------------------------------------------------
def made(rule_id: str, letter: str | None, **values: Any) -> RuleHit:
    texts = dict.fromkeys(("title", "value_text", "threshold_text", "what", "remedy", "why", "source", "supplier"), "x")
    return RuleHit(
        rule_id=rule_id, option_letter=letter, **{"severity": "gate", "blocks": ("ranking",)} | texts | values
    )


def test_a_gate_takes_its_option_out_of_the_ranking_and_no_other() -> None:
    hits = [made("F1", "C"), made("T3", "A", severity="red", blocks=())]
    ranking = ranked_letters(hits, ["B", "A", "C"])
    assert ranking.letters == ("B", "A")
    assert {letter: [hit.rule_id for hit in held] for letter, held in ranking.unranked.items()} == {"C": ["F1"]}
    assert gates_of(hits, "A") == []
    assert not ready_to_sign(hits)


def test_a_waived_gate_holds_nothing_back() -> None:
    hits = [made("F1", "C", waived_by="A. Person", waiver_reason="measured")]
    assert ranked_letters(hits, ["C"]).letters == ("C",)
    assert ready_to_sign(hits)


def test_a_gate_of_the_sign_off_does_not_touch_the_ranking() -> None:
    hits = [made("T4", None, blocks=("sign_off",))]
    assert ranked_letters(hits, ["A", "B"]).letters == ("A", "B")
    assert [hit.rule_id for hit in open_gates(hits)] == ["T4"]


# Words --------------------------------------------------------------------------------------------------------------
def test_values_are_written_for_people() -> None:
    assert [number(Decimal(text)) for text in ("1024", "4.3", "0.85", "43.27", "1234567")] == [
        "1,024", "4.3", "0.85", "43.3", "1,234,567",
    ]  # fmt: skip
    assert [money(8_760_123.0, "USD"), money(930.4, "EUR"), money(932_800.0, "USD")] == [
        "8.76 M USD", "930 EUR", "0.93 M USD",
    ]  # fmt: skip
    assert (written(None), written(True), written(date(2026, 12, 2))) == ("not given", "yes", "2 Dec 2026")
    assert joined(["A", "B", "C"]) == "A, B and C"
    assert (caption("owned"), caption("rule.C3.min_gpus")) == ("own hardware", "rule.C3.min_gpus")


def test_the_documentation_names_every_rule_with_its_threshold() -> None:
    lines = (FOLDER.parent / "docs" / "rules.md").read_text().splitlines()
    for each in rules():
        (line,) = [line for line in lines if line.startswith(f"| {each.id} |")]
        assert f"| {each.scope} |" in line
        assert each.threshold is None or f"`{each.threshold}`" in line
        assert f"| {each.levels[0].severity}" in line
