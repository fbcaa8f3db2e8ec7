"""Two versions of a quote, line by line, and what the database must hold whatever the import says."""

from decimal import Decimal

import pytest
from django.db.models import ProtectedError

from apps.vendors.models import QuoteLine, QuoteVersion, Vendor
from apps.vendors.selectors import diff_of_lines, latest_versions, quote_lines_of, quote_versions_visible_to
from apps.vendors.services import add_quote_version, remove_quote_version
from tests.factories import make_client, make_member, make_option_phase, make_quote, make_quote_line, make_quote_version


def line(**values: object) -> QuoteLine:
    return QuoteLine(
        **{"kind": "compute", "description": "Node", "quantity": Decimal(1), "charge": "one_off", "currency": "USD"}
        | values
    )


def test_equal_lines_are_the_same_whatever_their_order() -> None:
    one, two = line(description="A"), line(description="B")
    diff = diff_of_lines([one, two], [line(description="B"), line(description="A")])
    assert diff.is_empty


def test_a_part_number_finds_its_line_under_a_new_description() -> None:
    old = line(part_number="P", description="Node", unit_price_likely=Decimal(100))
    new = line(part_number="P", description="Node, new name", unit_price_likely=Decimal(125))
    (found,) = diff_of_lines([old], [new]).lines
    assert found.state == "changed"
    assert [(c.field, c.percent) for c in found.changes] == [("description", None), ("unit_price_likely", Decimal(25))]


def test_added_and_removed_lines_are_told_apart() -> None:
    diff = diff_of_lines([line(description="Old", part_number="1")], [line(description="New", part_number="2")])
    assert [item.state for item in diff.lines] == ["added", "removed"]


def test_two_equal_lines_are_matched_one_to_one() -> None:
    diff = diff_of_lines([line(), line()], [line()])
    assert [item.state for item in diff.lines] == ["same", "removed"]


def test_a_price_that_was_0_has_no_percentage() -> None:
    (found,) = diff_of_lines([line(unit_price_likely=Decimal(0))], [line(unit_price_likely=Decimal(5))]).lines
    assert found.changes[0].percent is None


@pytest.mark.django_db
def test_versions_count_up_and_only_the_newest_counts() -> None:
    client = make_client()
    values = {
        "client": client,
        "vendor_name": "V",
        "number": "1",
        "facts": {"currency": "USD"},
        "extra": {},
        "refs": {},
    }
    item = {
        "position": 1,
        "kind": "compute",
        "description": "Node",
        "quantity": "2",
        "currency": "USD",
        "charge": "one_off",
    }
    first = add_quote_version(lines=[item], **values)
    second = add_quote_version(lines=[item], **values)
    first.refresh_from_db(from_queryset=QuoteVersion.objects.of_client(client))
    assert (first.version, first.state, second.version) == (1, "superseded", 2)
    assert list(latest_versions(client)) == [second]
    assert [row.quantity for row in quote_lines_of(second)] == [2]


@pytest.mark.django_db
def test_a_version_that_an_option_uses_cannot_be_removed() -> None:
    version = make_quote_version()
    make_option_phase(client=version.client, quote_version=version)
    with pytest.raises(ProtectedError):
        remove_quote_version(version=version)


@pytest.mark.django_db
def test_removing_one_of_two_quotes_keeps_the_vendor() -> None:
    version = make_quote_version()
    make_quote(vendor=version.quote.vendor)
    make_quote_line(quote_version=version)
    remove_quote_version(version=version)
    assert Vendor.objects.of_client(version.client).count() == 1
    assert QuoteLine.objects.of_client(version.client).count() == 0


@pytest.mark.django_db
def test_people_see_the_quotes_of_their_own_clients_only() -> None:
    mine, theirs = make_quote_version(), make_quote_version()
    member = make_member(mine.client)
    assert list(quote_versions_visible_to(member)) == [mine]
    assert theirs not in quote_versions_visible_to(member)
