"""From an imported quote to an option of the assessment: what the quote suggests, and the rows that are made."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from string import ascii_uppercase
from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _

from apps.accounts.models import User
from apps.assessments.models import Assessment, Option, OptionPhase
from apps.assessments.services import add_phase, create_option
from apps.racks.models import RackConfiguration
from apps.racks.services import create_configuration
from apps.racks.templates import CHOICES, TEMPLATES
from apps.vendors.models import EvidenceLevel, LineKind, QuoteLine, QuoteVersion

Template = RackConfiguration.Template
FABRIC_TEXTS = ("topology", "leaf_placement", "fabric_kind", "congestion_plan", "tenancy")
FABRIC_NUMBERS = ("nics_per_node", "nic_gbit_per_s", "oversubscription")


@dataclass(frozen=True)
class Completeness:
    """How many of the facts that a comparison needs a quote gives, and which it does not."""

    n_given: int
    n_asked: int
    missing: tuple[str, ...]

    @property
    def segments(self) -> list[tuple[str, int]]:
        return [("done", self.n_given), ("track", self.n_asked - self.n_given)]


def completeness(version: QuoteVersion, lines: Sequence[QuoteLine]) -> Completeness:
    """Check a version against the facts that cost, schedule and the fabric audit rest on."""
    rented = any(line.kind == LineKind.CLOUD for line in lines)
    unpriced = [line for line in lines if line.unit_price_likely is None and not line.included]
    fabric = version.fabric or {}
    facts: list[tuple[Any, Any]] = [
        (_("a price on every line"), not unpriced and bool(lines)),
        (_("date"), version.date),
        (_("valid until"), version.valid_until),
        (_("tax excluded or not"), version.tax_excluded is not None),
        (_("lead time"), version.lead_weeks_likely is not None),
        (_("delivery commitment"), version.delivery_commitment),
        (_("acceptance"), version.acceptance_weeks is not None),
        (_("payment"), version.payment_milestones or rented),
        (_("term") if rented else _("warranty"), version.term_months if rented else version.warranty_months),
        (_("NICs per node"), _value(fabric, "nics_per_node")),
        (_("NIC speed"), _value(fabric, "nic_gbit_per_s")),
        (_("topology"), _value(fabric, "topology")),
        (_("oversubscription"), _value(fabric, "oversubscription")),
    ]
    missing = tuple(str(label) for label, value in facts if not value)
    return Completeness(len(facts) - len(missing), len(facts), missing)


def _value(facts: dict[str, Any], name: str) -> Any:
    entry = facts.get(name)
    return entry.get("value") if isinstance(entry, dict) else entry


def suggestion(version: QuoteVersion, lines: Sequence[QuoteLine], taken: set[str]) -> dict[str, Any]:
    """First values for the form that makes an option of a quote, read from the quote where it says them."""
    rented = [line for line in lines if line.kind == LineKind.CLOUD and line.period == QuoteLine.Period.HOUR]
    nodes = [line for line in lines if line.kind == LineKind.COMPUTE and not line.included]
    per_node = TEMPLATES[Template.DGX_CLASS].defaults["accelerators_per_node"]
    n_accelerators: Any = None
    if rented:
        n_accelerators = max(line.quantity for line in rented)
    elif len(nodes) == 1 and "node" in nodes[0].unit.casefold():
        n_accelerators = nodes[0].quantity * Decimal(str(per_node))
    whole = n_accelerators is not None and n_accelerators == int(n_accelerators)
    return {
        "letter": next((letter for letter in ascii_uppercase if letter not in taken), ""),
        "name": version.quote.vendor.name,
        "template": str(Template.CLOUD_RESERVED) if rented else "",
        "n_accelerators": int(n_accelerators) if whole else None,
        "accelerators_per_node": per_node,
        "facility": "none" if rented else "colocation",
        "it_load_kw_likely": _value(version.terms or {}, "it_load_kw"),
    }


@transaction.atomic
def option_from_quote(*, by: User, assessment: Assessment, version: QuoteVersion, values: dict[str, Any]) -> Option:
    """Make a configuration with the facts of the quote, an option, and its phase under the quote version.

    Raises `InputError` or `ValidationError` for what cannot be, and then makes nothing.
    """
    letter, name = values["letter"], values["name"]
    template = values["template"]
    given = {**TEMPLATES[template].defaults, **_facts(version)}
    for field in ("n_accelerators", "accelerators_per_node", "it_load_kw_likely"):
        if values.get(field) is not None:
            given[field] = values[field]
    sources = sources_of(version, given)
    quoted_load = _value(version.terms or {}, "it_load_kw")
    if values.get("it_load_kw_likely") is None or str(values["it_load_kw_likely"]) != str(quoted_load):
        sources.pop("it_load_kw", None)
    configuration = create_configuration(
        by=by,
        client=assessment.client,
        assessment_id=assessment.pk,
        template=template,
        name=f"{letter} {name}"[:200],
        values={**given, "sources": sources},
    )
    option = create_option(
        by=by, assessment=assessment, letter=letter, name=name, values={"facility": values["facility"]}
    )
    add_phase(by=by, option=option, configuration=configuration, quote_version=version)
    return option


def _facts(version: QuoteVersion) -> dict[str, Any]:
    """The fields of a configuration that the quote's sheets Fabric and Terms give."""
    fabric, terms = version.fabric or {}, version.terms or {}
    found: dict[str, Any] = {}
    for name in FABRIC_TEXTS:
        value = _value(fabric, name)
        if value and (name not in CHOICES or value in CHOICES[name]):
            found[name] = value
    for name in FABRIC_NUMBERS:
        value = _value(fabric, name)
        if value not in (None, ""):
            found[name] = int(Decimal(str(value))) if name == "nics_per_node" else Decimal(str(value))
    basis = _value(terms, "it_load_basis")
    if basis in CHOICES["it_load_basis"]:
        found["it_load_basis"] = basis
    return found


def sources_of(version: QuoteVersion, given: dict[str, Any]) -> dict[str, dict[str, str]]:
    """Where each given field stands in the quote. A vendor's own sheet is a specification, not a measurement."""
    text = f"{version.quote.vendor.name} {version.quote.number} v{version.version}"
    sections = {**{name: version.fabric or {} for name in (*FABRIC_TEXTS, *FABRIC_NUMBERS)}}
    found = {}
    for name, section in sections.items():
        if name in given and name in section:
            ref = section[name].get("ref", "") if isinstance(section[name], dict) else ""
            found[name] = {"level": str(EvidenceLevel.SPECIFICATION), "source": text, "ref": ref}
    terms = version.terms or {}
    for name in ("it_load_kw", "it_load_basis"):
        if name in terms:
            found[name] = {
                "level": str(EvidenceLevel.SPECIFICATION),
                "source": text,
                "ref": terms[name].get("ref", "") if isinstance(terms[name], dict) else "",
            }
    return found


def option_of_version(assessment: Assessment, version: QuoteVersion, letter: str) -> Option | None:
    """The option that an earlier click on the same button has made."""
    phase = (
        OptionPhase.objects.of_client(assessment.client)
        .filter(option__assessment=assessment, option__letter=letter, quote_version=version)
        .select_related("option")
        .first()
    )
    return phase.option if phase else None
