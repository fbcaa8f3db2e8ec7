"""Conditions with "not given" as third truth value."""

from datetime import date
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.analyses.rules.logic import Condition, Known, Unknown, evaluate, names_in, value_of
from apps.analyses.rules.periods import period

TODAY = date(2026, 11, 30)
NAMES = ("a", "b", "c", "d")


def known(**facts: Any) -> Known:
    return Known(facts, {"limit": Decimal(90), "unset": None}, TODAY)


# A condition over four facts, without missing and present: those two are about what is given and change with it.
numbers = st.one_of(st.none(), st.integers(-3, 3))
operands = st.one_of(
    st.integers(-3, 3),
    st.sampled_from(NAMES).map(lambda name: {"fact": name}),
    st.lists(st.sampled_from(NAMES).map(lambda name: {"fact": name}), min_size=1, max_size=3).map(lambda s: {"sum": s}),
)
comparisons = st.tuples(st.sampled_from(["<", "<=", ">", ">=", "=", "!="]), operands, operands).map(
    lambda parts: {parts[0]: [parts[1], parts[2]]}
)
conditions = st.recursive(
    comparisons,
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=3).map(lambda parts: {"all": parts}),
        st.lists(inner, min_size=1, max_size=3).map(lambda parts: {"any": parts}),
        inner.map(lambda part: {"not": part}),
    ),
    max_leaves=8,
)
all_facts = st.fixed_dictionaries({name: numbers for name in NAMES})


@settings(max_examples=400)
@given(condition=conditions, facts=all_facts)
def test_every_condition_is_true_false_or_unknown_with_a_missing_fact(condition: Condition, facts: Any) -> None:
    truth = evaluate(condition, known(**facts))
    if isinstance(truth, Unknown):
        assert truth.missing
        assert truth.missing <= {name for name, value in facts.items() if value is None}
    else:
        assert isinstance(truth, bool)


@settings(max_examples=400)
@given(condition=conditions, facts=all_facts, fill=st.fixed_dictionaries({name: st.integers(-3, 3) for name in NAMES}))
def test_what_is_decided_stays_decided_whatever_the_missing_facts_turn_out_to_be(
    condition: Condition, facts: Any, fill: Any
) -> None:
    before = evaluate(condition, known(**facts))
    completed = {name: fill[name] if value is None else value for name, value in facts.items()}
    after = evaluate(condition, known(**completed))
    assert isinstance(after, bool)
    if isinstance(before, bool):
        assert after is before


@settings(max_examples=200)
@given(parts=st.lists(conditions, min_size=1, max_size=3), facts=all_facts)
def test_de_morgan_holds_with_unknown_parts(parts: list[Condition], facts: Any) -> None:
    given_facts = known(**facts)
    one = evaluate({"not": {"all": parts}}, given_facts)
    other = evaluate({"any": [{"not": part} for part in parts]}, given_facts)
    assert one == other


@settings(max_examples=300)
@given(
    operator=st.sampled_from(["<", "=", "!=", "contains"]),
    values=st.lists(
        st.one_of(
            st.none(), st.booleans(), st.text(max_size=2), st.floats(), st.dates(), st.lists(st.integers(), max_size=2)
        ),
        min_size=2,
        max_size=2,
    ),
    wrap=st.sampled_from(["count", "max", "age_days", "sum", "difference", None]),
)
def test_no_value_of_any_type_makes_an_evaluation_fail(operator: str, values: list[Any], wrap: str | None) -> None:
    first: Any = {"fact": "a"}
    if wrap in ("sum", "difference"):
        first = {wrap: [{"fact": "a"}, {"fact": "b"}]}
    elif wrap:
        first = {wrap: {"fact": "a"}}
    truth = evaluate({operator: [first, {"fact": "b"}]}, known(a=values[0], b=values[1]))
    assert isinstance(truth, bool | Unknown)


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ({"all": [{"=": [1, 2]}, {"=": [{"fact": "gone"}, 1]}]}, False),
        ({"any": [{"=": [1, 1]}, {"=": [{"fact": "gone"}, 1]}]}, True),
        ({"all": [{"=": [1, 1]}, {"=": [{"fact": "gone"}, 1]}]}, Unknown(frozenset({"gone"}))),
        ({"not": {"=": [{"fact": "gone"}, 1]}}, Unknown(frozenset({"gone"}))),
        ({"missing": "gone"}, True),
        ({"present": "gone"}, False),
        ({"missing": "n"}, False),
        ({">": [{"age_days": {"fact": "day"}}, {"assumption": "limit"}]}, True),
        ({">": [{"age_days": {"fact": "day"}}, {"assumption": "unset"}]}, Unknown(frozenset({"unset"}))),
        ({"<": [{"fact": "day"}, {"fact": "later"}]}, True),
        ({"=": [{"count": {"fact": "names"}}, 2]}, True),
        ({"=": [{"max": {"fact": "pairs"}}, 7]}, True),
        ({"contains": [{"fact": "names"}, "x"]}, True),
        ({"=": [{"difference": [{"fact": "n"}, 0.1]}, 0.2]}, True),
        ({"=": [{"sum": [0.1, 0.2]}, {"fact": "n"}]}, True),
        ({"<": [{"fact": "day"}, 5]}, Unknown()),
        ({"=": [True, 1]}, Unknown()),
    ],
)
def test_each_operator_does_what_its_name_says(condition: Condition, expected: Any) -> None:
    facts = known(
        n=0.3, day=date(2026, 8, 1), later=date(2026, 8, 2), names=["x", "y"], pairs=[("p", 3), ("q", 7)], gone=None
    )
    assert evaluate(condition, facts) == expected


def test_numbers_are_exact_decimals_and_a_float_that_is_none_is_not_given() -> None:
    assert value_of(0.1, known()) == Decimal("0.1")
    assert value_of({"fact": "a"}, known(a=float("nan"))) == Unknown(frozenset({"a"}))


def test_the_names_of_a_condition_are_found_at_any_depth() -> None:
    condition = {"all": [{"missing": "a"}, {">": [{"sum": [{"fact": "b"}, 1]}, {"assumption": "rule.X.y"}]}]}
    assert names_in(condition, "fact") == {"a", "b"}
    assert names_in(condition, "assumption") == {"rule.X.y"}


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("2026-11-18", date(2026, 11, 18), date(2026, 11, 18)),
        ("2026-02", date(2026, 2, 1), date(2026, 2, 28)),
        ("2026", date(2026, 1, 1), date(2026, 12, 31)),
        ("2025-H1", date(2025, 1, 1), date(2025, 6, 30)),
        ("2025-Q4", date(2025, 10, 1), date(2025, 12, 31)),
        ("2024-2025", date(2024, 1, 1), date(2025, 12, 31)),
    ],
)
def test_a_date_means_every_day_of_its_period(text: str, first: date, last: date) -> None:
    assert period(text) == (first, last)


@pytest.mark.parametrize("text", ["", "last year", "2026-13", "2026-02-30", "2025-2024", "0000", "9999-12"])
def test_what_is_no_date_is_not_read_as_one(text: str) -> None:
    assert period(text) is None
