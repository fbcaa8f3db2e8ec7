"""Configurations side by side: a row for each fact, a column for each configuration, every value with its source."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from django.utils.translation import gettext as _

from apps.analyses.rules import RuleHit
from apps.assessments.models import Option, OptionPhase
from apps.racks.models import RackConfiguration
from apps.racks.templates import CHOICES, TEMPLATES
from apps.reports import figures
from apps.web.forms.configuration import RANGES, SERVING, base_names, label_of, source_of, unit_of

AUDIT = "F1"
SITE = "T5"


@dataclass(frozen=True)
class Fact:
    """One value as shown; `asked` is false where the kind of configuration has no such fact."""

    text: str = ""
    given: bool = False
    asked: bool = True
    level: str = ""
    source: str = ""
    detail: str = ""


@dataclass(frozen=True)
class FactRow:
    label: str
    unit: str
    cells: list[Fact]
    note: str = ""


@dataclass(frozen=True)
class Group:
    label: str
    rows: list[FactRow]


@dataclass(frozen=True)
class Column:
    """A configuration, the options that use it, and what the rules say about them."""

    configuration: RackConfiguration
    options: list[Option]
    hits: list[RuleHit]
    kind: str
    audited: bool = False
    site: list[RuleHit] = field(default_factory=list)

    @property
    def is_deletable(self) -> bool:
        return not self.options


def columns_of(
    configurations: Sequence[RackConfiguration], options: Sequence[Option], hits: Sequence[RuleHit]
) -> list[Column]:
    """Configurations in the order of the options that use them; those that no option uses come last."""
    users: dict[Any, list[Option]] = {}
    for option in options:
        for phase in option.phases.all():
            known = users.setdefault(phase.configuration_id, [])
            if option not in known:
                known.append(option)
    order = {pk: place for place, pk in enumerate(users)}
    sorted_ = sorted(configurations, key=lambda row: (order.get(row.pk, len(order)), row.name))
    return [_column(row, users.get(row.pk, []), hits) for row in sorted_]


def _column(configuration: RackConfiguration, options: list[Option], hits: Sequence[RuleHit]) -> Column:
    ranked = [option for option in options if not option.baseline]
    letters = {option.letter for option in ranked}
    kind = TEMPLATES[RackConfiguration.Template(configuration.template)]
    # An option of several phases speaks for each of them; a hit belongs to the configuration that causes it.
    speaks = {AUDIT: bool(audit_missing(configuration)), SITE: not kind.cloud}
    own = {
        rule: [hit for hit in hits if hit.rule_id == rule and hit.option_letter in letters and speaks[rule]]
        for rule in (AUDIT, SITE)
    }
    fleet = configuration.template == RackConfiguration.Template.INFERENCE_FLEET
    audited = bool(ranked) and not fleet and not _is_single_node(configuration)
    return Column(configuration, options, own[AUDIT], str(kind.label), audited, own[SITE])


def audit_missing(configuration: RackConfiguration) -> list[str]:
    """Which of the five facts of the fabric audit a configuration lacks; single nodes and serving fleets lack none."""
    if configuration.template == RackConfiguration.Template.INFERENCE_FLEET or _is_single_node(configuration):
        return []
    names = ("nic_gbit_per_s", "nics_per_node", "topology", "oversubscription")
    missing = [label_of(name) for name in names if getattr(configuration, name) in (None, "")]
    return missing if bisection_tbit_per_s(configuration) is not None else [*missing, _("bisection")]


def groups_of(columns: Sequence[Column]) -> list[Group]:
    """Every group that one of the configurations has, in the order of the templates."""
    labels: dict[str, list[str]] = {}
    for column in columns:
        for label, names in TEMPLATES[RackConfiguration.Template(column.configuration.template)].groups:
            known = labels.setdefault(str(label), [])
            known += [fact for fact in base_names(names) if fact not in known]
    groups = []
    for title, facts in labels.items():
        rows = [row for fact in facts for row in _rows(fact, columns)]
        if "oversubscription" in facts:
            rows.append(_bisection_row(columns))
        groups.append(Group(title, rows))
    return groups


def _rows(fact: str, columns: Sequence[Column]) -> list[FactRow]:
    if fact == "serving":
        return [
            FactRow(str(label), "", [_serving(column.configuration, key) for column in columns])
            for key, label in SERVING.items()
        ]
    return [FactRow(label_of(fact), unit_of(fact), [_fact(column.configuration, fact) for column in columns])]


def _serving(configuration: RackConfiguration, key: str) -> Fact:
    if configuration.template != RackConfiguration.Template.INFERENCE_FLEET:
        return Fact(asked=False)
    value = configuration.serving.get(key)
    return Fact(str(value), given=True) if value else Fact()


def _fact(configuration: RackConfiguration, fact: str) -> Fact:
    fields = TEMPLATES[RackConfiguration.Template(configuration.template)].fields
    likely = f"{fact}_likely" if fact in RANGES else fact
    value = getattr(configuration, likely)
    if value is None or value == "":
        return Fact(asked=likely in fields)
    detail = ""
    if fact in RANGES:
        low, high = getattr(configuration, f"{fact}_low"), getattr(configuration, f"{fact}_high")
        detail = figures.range_text(low, high, figures.plain) if low is not None and high is not None else ""
    source = source_of(configuration, fact)
    words = " ".join(part for part in (source.get("source", ""), source.get("ref", "")) if part)
    return Fact(_words(fact, value), True, likely in fields, source.get("level", ""), words, detail)


def _words(fact: str, value: Any) -> str:
    if fact in CHOICES:
        return str(CHOICES[fact].get(value, value))
    return figures.plain(value) if isinstance(value, int | Decimal) else str(value)


# Bisection -----------------------------------------------------------------------------------------------------------
def _bisection_row(columns: Sequence[Column]) -> FactRow:
    cells = [_bisection(column.configuration) for column in columns]
    return FactRow(_("Bisection, one way"), _("Tb/s"), cells, _("half the NICs x speed / oversubscription"))


def _bisection(configuration: RackConfiguration) -> Fact:
    """Half of all NICs times their speed over the oversubscription, when everything it rests on is given."""
    found = bisection_tbit_per_s(configuration)
    if found is None:
        single = _is_single_node(configuration)
        return Fact(asked=configuration.template != RackConfiguration.Template.INFERENCE_FLEET and not single)
    n_nics = _n_nics(configuration)
    how = f"{figures.plain(n_nics)} / 2 {figures.TIMES} {figures.plain(configuration.nic_gbit_per_s)}"
    how += f" / {figures.plain(configuration.oversubscription)} = {figures.plain(found * 1000)} Gb/s"
    return Fact(figures.fixed(found, 1), given=True, detail=how)


def bisection_tbit_per_s(configuration: RackConfiguration) -> Decimal | None:
    """n/2 x NIC speed / oversubscription, n all NICs of the cluster; None while one of the five facts is missing."""
    n_nics = _n_nics(configuration)
    speed, ratio = configuration.nic_gbit_per_s, configuration.oversubscription
    if n_nics is None or speed is None or not ratio or not configuration.topology or _is_single_node(configuration):
        return None
    return n_nics / 2 * speed / ratio / 1000


def _n_nics(configuration: RackConfiguration) -> Decimal | None:
    parts = (configuration.n_accelerators, configuration.accelerators_per_node, configuration.nics_per_node)
    if None in parts or not configuration.accelerators_per_node:
        return None
    n_accelerators, per_node, nics = (Decimal(part or 0) for part in parts)
    return n_accelerators / per_node * nics


def _is_single_node(configuration: RackConfiguration) -> bool:
    n_accelerators, per_node = configuration.n_accelerators, configuration.accelerators_per_node
    return n_accelerators is not None and per_node is not None and n_accelerators <= per_node


# Words ---------------------------------------------------------------------------------------------------------------
def heading(columns: Sequence[Column], options: Sequence[Option]) -> str:
    """Which options have given the facts of the fabric audit and which have not."""
    if not columns:
        return _("No configuration yet")
    held = {hit.option_letter for column in columns for hit in column.hits}
    audited = {option.letter for column in columns if column.audited for option in column.options}
    letters = [option.letter for option in options if option.letter in audited and not option.baseline]
    open_ = [letter for letter in letters if letter in held]
    done = [letter for letter in letters if letter not in held]
    if open_ and done:
        words = _("%(done)s: fabric audit complete; %(open)s: facts missing")
        return words % {"done": figures.joined(done), "open": figures.joined(open_)}
    if open_:
        return _("%s: facts of the fabric audit are missing") % figures.joined(open_)
    if done:
        return _("The fabric audit of %s is complete") % figures.joined(done)
    return _("Configurations")


def phases_using(configuration: RackConfiguration) -> Any:
    """Phases that stand on a configuration; while there are any it cannot be removed."""
    return (
        OptionPhase.objects.of_client(configuration.client)
        .filter(configuration=configuration)
        .select_related("option")
        .order_by("option__letter")
    )
