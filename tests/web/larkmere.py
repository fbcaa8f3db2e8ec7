"""Demo case 1 as stored rows, for tests of screens: three quotes, a second spine, a baseline, evidence, assumptions."""

import json
from datetime import date
from decimal import Decimal
from functools import cache
from typing import Any

from django.utils import timezone

from apps.accounts.models import Client
from apps.analyses import services
from apps.analyses.canonical import canonical_json, sha256_of
from apps.analyses.models import AnalysisRun
from apps.assessments.models import Assessment, Option
from apps.engine.tco import total_cost_of_ownership
from apps.vendors.models import Quote, QuoteLine, QuoteVersion
from tests import factories

# kind, description, quantity, unit, low, likely, high, period
VELMORA = (
    ("compute", "Node, 8 x H100 SXM 80 GB, 8 x 400 G", 16, "node", 275_000, 295_000, 325_000, ""),
    ("fabric", "Switch, 64 x 400 G", 6, "switch", 42_000, 48_000, 56_000, ""),
    ("fabric", "Link with optics, 400 G", 256, "link", 1_500, 1_900, 2_400, ""),
    ("storage", "1 PB, 12 GB/s write", 1, "system", 540_000, 600_000, 680_000, ""),
    ("service", "Installation", 1, "lot", 150_000, 190_000, 260_000, ""),
    ("support", "Compute support", 1, "", None, 8, None, "year"),
)
QUARROW = (
    ("compute", "Node, 8 x H100 SXM 80 GB, 8 x 400 G", 16, "node", 232_000, 252_000, 285_000, ""),
    ("fabric", "Switch, 64 x 400 G", 5, "switch", 27_000, 32_000, 40_000, ""),
    ("fabric", "Link with optics, 400 G", 192, "link", 1_000, 1_300, 1_700, ""),
    ("storage", "1 PB, 12 GB/s write", 1, "system", 540_000, 600_000, 680_000, ""),
    ("service", "Installation", 1, "lot", 240_000, 310_000, 420_000, ""),
    ("support", "Compute support", 1, "", None, 5, None, "year"),
)
QUARROW_2 = tuple(
    (kind, text, {"switch": 6, "link": 256}.get(unit, n), unit, *rest) for kind, text, n, unit, *rest in QUARROW
)
NIMBREL = (
    ("cloud", "GPU rental, reserved", 128, "GPU", "2.05", "2.25", "2.75", "hour"),
    ("cloud", "Storage rental", 450, "TB", 60, 75, 95, "month"),
    ("cloud", "Onboarding", 1, "lot", None, 25_000, None, ""),
    ("cloud", "Egress", 1, "lot", None, 1_000, None, "month"),
)
ASSUMPTIONS = {
    "discount_rate": ("0.07", "0.09", "0.12"),
    "residual_fraction.compute": ("0.05", "0.15", "0.25"),
    "residual_fraction.fabric": ("0.10", "0.20", "0.30"),
    "residual_fraction.storage": ("0", "0.10", "0.15"),
    "fabric_support_fraction_per_year": (None, "0.05", None),
    "storage_support_fraction_per_year": (None, "0.08", None),
    "insurance_fraction_per_year": (None, "0", None),
    "facility_usd_per_kw_month": ("150", "190", "240"),
    "staff_usd_per_year": ("130000", "160000", "200000"),
}
EVIDENCE = {
    "A": ("third_party_matching", "claim", "own_measurement"),
    "B": ("specification", "none", "third_party"),
    "B+": ("specification", "none", "third_party"),
    "C": ("claim", "none", "claim"),
}


def build(client: Client, *, draws: int = 1024) -> Assessment:
    """The assessment with options A, B, B+ and C and a baseline; product assumptions must be loaded already."""
    for key, (low, likely, high) in ASSUMPTIONS.items():
        factories.make_assumption_value(
            client=client,
            organisation=client.organisation,
            key=key,
            low=low and Decimal(low),
            likely=Decimal(likely),
            high=high and Decimal(high),
            source="Finance, budget round 2027",
            source_date="2026-11-03",
            author_label="finance reviewer",
        )
    assessment = factories.make_assessment(
        client=client,
        name="128 GPUs for the 70 B MoE",
        state=Assessment.State.IN_REVIEW,
        fictional=True,
        signature_date=date(2026, 11, 24),
        goal="70 B MoE ships",
        goal_date=date(2028, 5, 31),
        dominant_load="training",
        existing_capacity="leased",
        moe_within_18_months=True,
        fx_date=date(2026, 11, 18),
        draws=draws,
    )
    velmora = _version(
        client, "Velmora Compute", "VC-2291", 2, VELMORA, lead=(26, 30, 44), acceptance=3, days=(2027, 1, 2)
    )
    quote = factories.make_quote(
        client=client, vendor=factories.make_vendor(client=client, name="Quarrow Racks"), number="QR-118"
    )
    first = _version(client, quote, "", 1, QUARROW, lead=(36, 44, 60), acceptance=4, days=(2026, 12, 18))
    second = _version(client, quote, "", 2, QUARROW_2, lead=(36, 44, 60), acceptance=4, days=(2026, 12, 18))
    nimbrel = _version(client, "Nimbrel Cloud", "NC-77", 1, NIMBREL, lead=(1, 3, 8), acceptance=0, days=(2026, 12, 2))
    _option(
        assessment, "A", "Velmora Compute", "16 DGX H100, InfiniBand 1:1", 1, velmora, "dgx_class", (1, "1.5", 2), 187
    )
    _option(
        assessment, "B", "Quarrow Racks", "16 nodes, RoCE 2:1", 2, first, "disaggregated", ("2.5", "3.25", "4.5"), 188
    )
    _option(
        assessment,
        "B+",
        "Quarrow, second spine",
        "B with a second spine, 1:1",
        3,
        second,
        "disaggregated",
        ("2.5", "3.25", "4.5"),
        188,
    )
    _option(
        assessment,
        "C",
        "Nimbrel Cloud",
        "128 H100 reserved, shared",
        4,
        nimbrel,
        "cloud_reserved",
        ("0.5", "0.75", 1),
        None,
    )
    return assessment


def _version(
    client: Client, vendor: Any, number: str, version: int, lines: Any, *, lead: Any, acceptance: int, days: Any
) -> QuoteVersion:
    quote = (
        vendor
        if isinstance(vendor, Quote)
        else factories.make_quote(
            client=client, vendor=factories.make_vendor(client=client, name=vendor), number=number
        )
    )
    found = factories.make_quote_version(
        quote=quote,
        version=version,
        valid_until=date(*days),
        date=date(2026, 11, 18),
        lead_weeks_low=Decimal(lead[0]),
        lead_weeks_likely=Decimal(lead[1]),
        lead_weeks_high=Decimal(lead[2]),
        acceptance_weeks=Decimal(acceptance),
        tax_excluded=True,
    )
    for position, (kind, text, n, unit, low, likely, high, period) in enumerate(lines, start=1):
        factories.make_quote_line(
            quote_version=found,
            position=position,
            kind=kind,
            description=text,
            quantity=Decimal(n),
            unit=unit,
            unit_price_low=None if low is None else Decimal(str(low)),
            unit_price_likely=Decimal(str(likely)),
            unit_price_high=None if high is None else Decimal(str(high)),
            charge=QuoteLine.Charge.RECURRING if period else QuoteLine.Charge.ONE_OFF,
            period=period,
            percent_of="compute" if kind == "support" else "",
            evidence_level="specification",
            source_ref=f"Lines!F{position + 4}",
        )
    return found


def _option(
    assessment: Assessment,
    letter: str,
    name: str,
    detail: str,
    slot: int,
    version: QuoteVersion,
    template: str,
    fte: Any,
    load_kw: int | None,
) -> Option:
    client = assessment.client
    cloud = template == "cloud_reserved"
    configuration = factories.make_rack_configuration(
        client=client,
        name=detail,
        template=template,
        n_accelerators=128,
        topology="two_tier",
        leaf_placement="" if cloud else "per_rail" if letter == "A" else "per_rack",
        oversubscription=None if cloud else Decimal(2) if letter == "B" else Decimal(1),
        fabric_kind="" if cloud else "infiniband" if letter == "A" else "roce",
        tenancy="shared" if cloud else "dedicated",
        nics_per_node=8,
        nic_gbit_per_s=Decimal(400),
        it_load_kw_likely=None if load_kw is None else Decimal(load_kw),
        it_load_basis="typical",
        goodput_likely=Decimal("0.92"),
        peak_tflops=Decimal(989),
        sources={
            "it_load_kw": {"level": "specification", "source": "Quote Velmora v2, sheet Terms", "ref": "Terms!C14"}
        },
    )
    option = factories.make_option(
        assessment=assessment,
        letter=letter,
        name=name,
        detail=detail,
        slot=slot,
        facility="none" if cloud else "colocation",
    )
    factories.make_option_phase(option=option, configuration=configuration, quote_version=version, position=1)
    factories.make_option_staff(
        option=option,
        role="Cluster operations",
        fte_low=Decimal(str(fte[0])),
        fte_likely=Decimal(str(fte[1])),
        fte_high=Decimal(str(fte[2])),
        source="Estimate of the infrastructure lead",
    )
    for question, level in enumerate(EVIDENCE[letter], start=1):
        factories.make_evidence_answer(option=option, question=question, level=level)
    return option


@cache
def _results(inputs_json: str) -> str:
    """What the engine answers; the inputs hold no ids, so one answer serves all tests of a session."""
    return canonical_json(total_cost_of_ownership(json.loads(inputs_json)))


def computed_run(assessment: Assessment, by: Any) -> AnalysisRun:
    """A finished run of the assessment with the engine's own results; how workers get there is tested elsewhere."""
    run = services.request_run(by=by, assessment=assessment)
    run.results_json = _results(run.inputs_json)
    run.results_sha256 = sha256_of(run.results_json)
    run.state = AnalysisRun.State.SUCCEEDED
    run.started_at = run.finished_at = timezone.now()
    run.save()
    return run
