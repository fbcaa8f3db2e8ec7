"""A rate is kept as typed; its inverse is computed when it is asked for."""

from datetime import date
from decimal import Decimal

import pytest

from apps.accounts.permissions import SYSTEM
from apps.assumptions import selectors, services
from apps.assumptions.models import FxRate
from apps.engine.errors import InputError
from tests.factories import make_client

pytestmark = pytest.mark.django_db
DAY = date(2026, 11, 18)


def typed(rate: str = "1.25", **values: object) -> FxRate:
    given: dict[str, object] = {"client": values.get("client") or make_client(), "base": "EUR", "quote": "USD"}
    given |= {"rate": Decimal(rate), "rate_date": DAY, "source": "Central bank"}
    return services.set_fx_rate(by=SYSTEM, **given | values)  # type: ignore[arg-type]


def test_a_rate_is_stored_as_typed_and_only_so() -> None:
    row = typed("0.92345678")
    assert [(each.base, each.quote, each.rate) for each in FxRate.objects.of_client(row.client)] == [
        ("EUR", "USD", Decimal("0.92345678"))
    ]


def test_the_inverse_is_computed_with_its_range_turned_round() -> None:
    row = typed("1.25", low=Decimal(1), high=Decimal(2))
    found = selectors.fx_rate(client=row.client, base="USD", quote="EUR", on=DAY)
    assert found is not None
    assert (found.rate, found.low, found.high, found.inverted) == (Decimal("0.8"), Decimal("0.5"), Decimal(1), True)


def test_the_newest_rate_up_to_the_day_counts_and_no_other_is_guessed() -> None:
    row = typed("1.25")
    typed("1.30", client=row.client, rate_date=date(2026, 11, 25))
    days = {
        date(2026, 11, 17): None,
        DAY: Decimal("1.25"),
        date(2026, 11, 24): Decimal("1.25"),
        date(2026, 12, 1): Decimal("1.3"),
    }
    for day, rate in days.items():
        found = selectors.fx_rate(client=row.client, base="EUR", quote="USD", on=day)
        assert (found.rate if found else None) == rate
    assert selectors.fx_rate(client=row.client, base="GBP", quote="USD", on=DAY) is None


def test_a_second_rate_of_a_day_corrects_the_first() -> None:
    row = typed("1.25")
    typed("1.26", client=row.client)
    assert [each.rate for each in selectors.fx_rates(client=row.client)] == [Decimal("1.26")]


@pytest.mark.parametrize(
    ("named", "value"), [("base", "eur"), ("quote", "EUR"), ("rate", Decimal(0)), ("source", ""), ("low", Decimal(9))]
)
def test_a_rate_that_cannot_be_used_is_refused_by_name(named: str, value: object) -> None:
    with pytest.raises(InputError) as refusal:
        typed(**{named: value})
    assert refusal.value.name == named
