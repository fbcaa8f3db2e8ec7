"""Writing assessments and options: who may, what is refused, what the audit log says."""

import uuid
from decimal import Decimal

import pytest
from django.core.exceptions import PermissionDenied, ValidationError
from django.http import Http404

from apps.accounts.models import AuditEntry, Client, Role
from apps.accounts.permissions import SYSTEM
from apps.assessments import selectors, services
from apps.assessments.models import Assessment, OptionStaff
from apps.engine.errors import InputError
from tests.factories import (
    make_assessment,
    make_client,
    make_evidence_answer,
    make_membership,
    make_option,
    make_option_phase,
    make_option_staff,
    make_quote_line,
    make_quote_version,
    make_rack_configuration,
    make_user,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def customer():
    return make_client()


@pytest.fixture
def analyst(customer):
    return make_membership(client=customer, role=Role.ANALYST).user


@pytest.fixture
def assessment(customer):
    return make_assessment(client=customer)


def test_an_analyst_creates_an_assessment_and_the_audit_log_says_so(customer, analyst):
    made = services.create_assessment(by=analyst, client=customer, name="128 GPUs", values={"horizon_months": 48})
    assert made.horizon_months == 48
    entry = AuditEntry.objects.get(action="assessment.created")
    assert (entry.actor, entry.subject, entry.client) == (analyst, "128 GPUs", customer)


def test_a_viewer_changes_nothing(customer, assessment):
    viewer = make_membership(client=customer, role=Role.VIEWER).user
    with pytest.raises(PermissionDenied):
        services.update_assessment(by=viewer, assessment=assessment, values={"goal": "Ship"})


def test_a_stranger_is_told_that_nothing_is_there(assessment):
    with pytest.raises(Http404):
        services.create_option(by=make_user(), assessment=assessment, letter="A", name="X")


@pytest.mark.parametrize(
    ("values", "named"),
    [
        ({"horizon_months": 0}, "horizon_months"),
        ({"horizon_months": 85}, "horizon_months"),
        ({"draws": 1000}, "draws"),
        ({"currency": "usd"}, "currency"),
        ({"demand": [{"from_month": "-1", "n_accelerators": "128"}]}, "from_month"),
        ({"demand": [{"from_month": "9", "n_accelerators": {"low": "9", "likely": "8", "high": "10"}}]}, "n_accel"),
        ({"client": "x"}, "client"),
        ({"colour": "blue"}, "colour"),
    ],
)
def test_an_assessment_refuses_by_name_what_cannot_be(customer, values, named):
    with pytest.raises(InputError, match=named):
        services.create_assessment(by=SYSTEM, client=customer, name="N", values=values)
    assert not Assessment.objects.of_client(customer).exists()


def test_a_value_of_the_wrong_type_is_refused(customer):
    with pytest.raises(ValidationError):
        services.create_assessment(by=SYSTEM, client=customer, name="N", values={"signature_date": "soon"})


def test_options_take_the_next_free_colour_and_the_baseline_has_its_own(assessment):
    made = [services.create_option(by=SYSTEM, assessment=assessment, letter=x, name=x) for x in "AB"]
    baseline = services.create_option(
        by=SYSTEM, assessment=assessment, letter="0", name="Today", values={"baseline": True}
    )
    assert [option.slot for option in (*made, baseline)] == [1, 2, 0]


@pytest.mark.parametrize(
    "values",
    [
        {"facility": "garage"},
        {"financing": {"kind": "gift"}},
        {"assumptions": {"facility_usd_per_kw_month": {"likely": "210"}}},
        {"assumptions": {"facility_usd_per_kw_month": {"low": "1", "likely": "210", "source": "offer"}}},
        {"bridge": {"usd_per_gpu_hour": {"likely": "cheap"}}},
    ],
)
def test_an_option_refuses_what_cannot_be(assessment, values):
    with pytest.raises(InputError):
        services.create_option(by=SYSTEM, assessment=assessment, letter="A", name="A", values=values)


def test_a_dropped_option_keeps_its_reason_and_leaves_the_shortlist(assessment):
    option = services.drop_option(by=SYSTEM, option=make_option(assessment=assessment), reason="Dominated by A")
    option.refresh_from_db()
    assert (option.dropped_reason, option.shortlisted) == ("Dominated by A", False)


def test_phases_follow_one_another(assessment, customer):
    option = make_option(assessment=assessment)
    configuration = make_rack_configuration(client=customer)
    phases = [
        services.add_phase(by=SYSTEM, option=option, configuration=configuration, values={"end_month": "9"}),
        services.add_phase(by=SYSTEM, option=option, configuration=configuration),
    ]
    assert [phase.position for phase in phases] == [1, 2]
    assert phases[0].end_month == Decimal(9)


def test_a_phase_takes_no_quote_and_no_configuration_of_another_client(assessment, customer):
    option = make_option(assessment=assessment)
    with pytest.raises(InputError, match="configuration"):
        services.add_phase(by=SYSTEM, option=option, configuration=make_rack_configuration())
    with pytest.raises(InputError, match="quote_version"):
        services.add_phase(
            by=SYSTEM,
            option=option,
            configuration=make_rack_configuration(client=customer),
            quote_version=make_quote_version(),
        )


@pytest.mark.parametrize(
    "values", [{"order_month": "-1"}, {"order_month": "9", "end_month": "9"}, {"quantity_scale": "0"}]
)
def test_a_phase_refuses_months_and_shares_that_cannot_be(assessment, customer, values):
    with pytest.raises(InputError):
        services.add_phase(
            by=SYSTEM,
            option=make_option(assessment=assessment),
            configuration=make_rack_configuration(client=customer),
            values=values,
        )


def test_staff_is_replaced_as_a_whole(assessment):
    option = make_option(assessment=assessment)
    make_option_staff(option=option)
    services.set_staff(by=SYSTEM, option=option, people=[{"role": "Operations", "fte_likely": "1.5"}])
    found = OptionStaff.objects.of_client(option.client).filter(option=option)
    assert [(person.role, person.fte_likely) for person in found] == [("Operations", Decimal("1.5"))]


def test_staff_out_of_order_is_refused_and_the_old_staff_stays(assessment):
    option = make_option(assessment=assessment)
    make_option_staff(option=option)
    people = [{"role": "Operations", "fte_low": "2", "fte_likely": "1.5", "fte_high": "3"}]
    with pytest.raises(InputError, match="Operations"):
        services.set_staff(by=SYSTEM, option=option, people=people)
    assert OptionStaff.objects.of_client(option.client).filter(option=option).count() == 1


def test_a_later_answer_replaces_an_earlier_one_and_the_log_has_both(assessment, analyst):
    option = make_option(assessment=assessment)
    services.answer_evidence(by=analyst, option=option, question=1, level="claim")
    services.answer_evidence(by=analyst, option=option, question=1, level="third_party", note="Report of May")
    assert option.evidence.get().level == "third_party"
    last = AuditEntry.objects.filter(action="evidence.answered").latest("at")
    assert (last.details["before"], last.details["after"]) == ("claim", "third_party")


@pytest.mark.parametrize(("question", "level"), [(0, "claim"), (18, "claim")])
def test_a_question_that_does_not_exist_is_refused(assessment, question, level):
    with pytest.raises(InputError, match="question"):
        services.answer_evidence(by=SYSTEM, option=make_option(assessment=assessment), question=question, level=level)


def test_selectors_show_nothing_of_another_client(assessment, analyst):
    foreign = make_assessment()
    make_option(assessment=foreign)
    assert list(selectors.assessments_visible_to(analyst)) == [assessment]
    assert not selectors.options_of(analyst, foreign).exists()
    for unknown in (foreign.pk, uuid.uuid4()):
        with pytest.raises(Assessment.DoesNotExist):
            selectors.get_assessment(analyst, unknown)


def test_options_are_read_with_as_many_queries_for_fifty_as_for_one(assessment, analyst, django_assert_num_queries):
    def add() -> None:
        option = make_option(assessment=assessment)
        version = make_quote_version(client=assessment.client)
        make_quote_line(quote_version=version)
        configuration = make_rack_configuration(client=assessment.client)
        make_option_phase(option=option, quote_version=version, configuration=configuration)
        make_option_staff(option=option)
        make_evidence_answer(option=option)

    def read() -> None:
        for option in selectors.options_of(analyst, assessment):
            for phase in option.phases.all():
                assert phase.configuration.name
                assert phase.quote_version.quote.vendor.name
                assert [line.description for line in phase.quote_version.lines.all()]
            assert list(option.staff.all())
            assert list(option.evidence.all())

    for wanted in (1, 50):
        while selectors.options_of(analyst, assessment).count() < wanted:
            add()
        with django_assert_num_queries(5):
            read()


def test_only_a_fictional_client_is_removed_as_a_demo(customer):
    with pytest.raises(InputError, match="fictional"):
        services.remove_demo(by=SYSTEM, client=customer)
    demo = make_client(fictional=True)
    option = make_option(client=demo)
    make_option_phase(option=option, quote_version=make_quote_version(client=demo))
    services.remove_demo(by=SYSTEM, client=demo)
    assert list(Client.objects.filter(pk__in=[customer.pk, demo.pk])) == [customer]
