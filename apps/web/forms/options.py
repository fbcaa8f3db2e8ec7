"""Forms of an option: what it is, its phases, people, own lines, and why it was dropped."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Final

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from apps.assessments.models import Option, OptionPhase, OptionStaff
from apps.racks.models import RackConfiguration
from apps.vendors.models import LineKind, QuoteLine, QuoteVersion
from apps.web.forms.base import NamedForm, NumberField, WholeNumberField
from apps.web.forms.intake import FACILITIES

ZERO: Final = Decimal(0)
ONE: Final = Decimal(1)
FINANCING: Final = (("cash", gettext_lazy("cash")), ("loan", gettext_lazy("loan")), ("lease", gettext_lazy("lease")))
ANCHORS: Final = (("signature", gettext_lazy("signature")), ("delivery", gettext_lazy("delivery")))
ENDS: Final = ("low", "likely", "high")
TEXT_KEYS: Final = (
    "kind",
    "comparison_key",
    "description",
    "unit",
    "currency",
    "charge",
    "period",
    "percent_of",
    "starts",
)


def range_fields(form: forms.Form, name: str, label: Any, *, high: Decimal | None = None) -> None:
    """Three number fields: low, likely, high."""
    words = {"low": _("low"), "likely": _("likely"), "high": _("high")}
    for end in ENDS:
        form.fields[f"{name}_{end}"] = NumberField(label=f"{label}, {words[end]}", low=ZERO, high=high)


def range_value(data: Mapping[str, Any], name: str) -> dict[str, str] | None:
    """The range as stored, numbers as text; None when nothing was typed."""
    found = {end: format(data[f"{name}_{end}"], "f") for end in ENDS if data.get(f"{name}_{end}") is not None}
    return found or None


def range_initial(stored: Any, name: str) -> dict[str, Any]:
    """First values of the three fields from a stored range, or from one number."""
    if stored is None or stored == "":
        return {}
    values = stored if isinstance(stored, Mapping) else {"likely": stored}
    return {f"{name}_{end}": values.get(end) for end in ENDS if values.get(end) is not None}


class OptionForm(NamedForm):
    """Letter, name, site, payment and bridge of an option."""

    letter = forms.CharField(label=gettext_lazy("Letter"), max_length=4)
    name = forms.CharField(label=gettext_lazy("Name"), max_length=200)
    detail = forms.CharField(label=gettext_lazy("One line more"), max_length=200, required=False)
    baseline = forms.BooleanField(label=gettext_lazy("Baseline: what happens if nothing is bought"), required=False)
    shortlisted = forms.BooleanField(label=gettext_lazy("On the shortlist"), required=False)
    facility = forms.ChoiceField(label=gettext_lazy("Site"), choices=FACILITIES)
    committed_kw = NumberField(
        label=gettext_lazy("Power committed to the site, kW"),
        low=ZERO,
        help_text=gettext_lazy("Empty: the IT load counts."),
    )
    financing_kind = forms.ChoiceField(label=gettext_lazy("Paid by"), choices=FINANCING)
    financing_term_months = WholeNumberField(label=gettext_lazy("Term, months"), low=ONE)
    financing_starts = forms.ChoiceField(label=gettext_lazy("Lease starts at"), choices=ANCHORS, required=False)
    financing_source = forms.CharField(label=gettext_lazy("Source of the terms"), max_length=300, required=False)
    bridge_enabled = forms.BooleanField(
        label=gettext_lazy("Rent cloud for demand that the option does not meet yet"), required=False
    )
    bridge_source = forms.CharField(label=gettext_lazy("Source of the price"), max_length=300, required=False)

    def __init__(self, *args: Any, option: Option | None = None, **kwargs: Any) -> None:
        self.option = option
        kwargs["initial"] = {**self._initial(), **kwargs.get("initial", {})}
        super().__init__(*args, **kwargs)
        range_fields(self, "financing_share", _("Loan, share of capital, 0 to 1"), high=ONE)
        range_fields(self, "financing_annual_rate", _("Rate a year, as a fraction"))
        range_fields(self, "financing_residual_share", _("Lease, residual of the lessor, 0 to 1"), high=ONE)
        range_fields(self, "bridge_usd_per_gpu_hour", _("Price, USD per GPU-hour"))

    def _initial(self) -> dict[str, Any]:
        option = self.option
        if option is None:
            return {
                "shortlisted": True,
                "facility": "colocation",
                "financing_starts": "delivery",
                "bridge_enabled": True,
            }
        financing, bridge = option.financing or {}, option.bridge or {}
        names = ("letter", "name", "detail", "baseline", "shortlisted", "facility", "committed_kw")
        found = {name: getattr(option, name) for name in names}
        found |= {
            "financing_kind": financing.get("kind", "cash"),
            "financing_term_months": financing.get("term_months"),
            "financing_starts": financing.get("starts", "delivery"),
            "financing_source": financing.get("source", ""),
            "bridge_enabled": bridge.get("enabled", True),
            "bridge_source": bridge.get("source", ""),
        }
        for name in ("share", "annual_rate", "residual_share"):
            found |= range_initial(financing.get(name), f"financing_{name}")
        return found | range_initial(bridge.get("usd_per_gpu_hour"), "bridge_usd_per_gpu_hour")

    def ranges(self) -> dict[str, list[Any]]:
        """The bound fields of each range, for rows of three."""
        names = ("financing_share", "financing_annual_rate", "financing_residual_share", "bridge_usd_per_gpu_hour")
        return {name: [self[f"{name}_{end}"] for end in ENDS] for name in names}

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        needs_rate = data.get("financing_kind") in ("loan", "lease") and not self.errors
        if needs_rate and data.get("financing_annual_rate_likely") is None:
            words = _("Rate a year is empty; it must be given for a loan or a lease.")
            self.add_error("financing_annual_rate_likely", words)
        for name in ("financing_share", "financing_annual_rate", "financing_residual_share", "bridge_usd_per_gpu_hour"):
            self._check_order(data, name)
        return data

    def _check_order(self, data: dict[str, Any], name: str) -> None:
        low, likely, high = (data.get(f"{name}_{end}") for end in ENDS)
        if likely is None:
            if low is not None or high is not None:
                self.add_error(f"{name}_likely", _("Likely is empty; it must be given where low or high is."))
        elif (low is None) != (high is None):
            self.add_error(f"{name}_likely", _("Give low and high, or neither."))
        elif low is not None and high is not None and not low <= likely <= high:
            self.add_error(
                f"{name}_likely",
                _("Low, likely and high must rise: %(a)s, %(b)s, %(c)s.") % {"a": low, "b": likely, "c": high},
            )

    def values(self) -> dict[str, Any]:
        """Fields of the option as the services take them."""
        data = self.cleaned_data
        found = {name: data[name] for name in ("detail", "baseline", "shortlisted", "facility", "committed_kw")}
        return {**found, "financing": self._financing(), "bridge": self._bridge()}

    def _financing(self) -> dict[str, Any]:
        data = self.cleaned_data
        kind = data["financing_kind"]
        if kind == "cash":
            return {"kind": "cash"} if self.option is None or self.option.financing else {}
        found: dict[str, Any] = {"kind": kind}
        if data["financing_term_months"]:
            found["term_months"] = data["financing_term_months"]
        names = ("share", "annual_rate") if kind == "loan" else ("annual_rate", "residual_share")
        found |= {name: value for name in names if (value := range_value(data, f"financing_{name}"))}
        if kind == "lease":
            found["starts"] = data["financing_starts"] or "delivery"
        if data["financing_source"]:
            found["source"] = data["financing_source"]
        return found

    def _bridge(self) -> dict[str, Any]:
        data = self.cleaned_data
        found: dict[str, Any] = {} if data["bridge_enabled"] else {"enabled": False}
        price = range_value(data, "bridge_usd_per_gpu_hour")
        if price:
            found["usd_per_gpu_hour"] = price
            if data["bridge_source"]:
                found["source"] = data["bridge_source"]
        return found


# Rows: phases, people, lines -----------------------------------------------------------------------------------------
class PhaseForm(NamedForm):
    """A phase; the configuration of a stored phase stays, as it is what the phase is."""

    id = forms.UUIDField(widget=forms.HiddenInput, required=False)
    configuration = forms.ModelChoiceField(
        label=gettext_lazy("Configuration"),
        queryset=RackConfiguration.unscoped.none(),
        empty_label=gettext_lazy("choose"),
        required=False,
    )
    quote_version = forms.ModelChoiceField(
        label=gettext_lazy("Quote"),
        queryset=QuoteVersion.unscoped.none(),
        empty_label=gettext_lazy("none"),
        required=False,
    )
    order_month = NumberField(label=gettext_lazy("Ordered in month"), low=ZERO)
    end_month = NumberField(label=gettext_lazy("Ends in month"), low=ZERO)
    ends_when_ready = WholeNumberField(label=gettext_lazy("Ends when phase … is ready"), low=ONE)
    n_accelerators = WholeNumberField(label=gettext_lazy("Accelerators"), low=ONE)
    quantity_scale = NumberField(label=gettext_lazy("Share of the quoted quantities"), low=ZERO)
    remove = forms.BooleanField(label=gettext_lazy("Remove"), required=False)

    def __init__(self, *args: Any, choices: Mapping[str, Any], phase: OptionPhase | None = None, **kwargs: Any) -> None:
        self.phase = phase
        super().__init__(*args, **kwargs)
        for name, queryset in choices.items():
            field = self.fields[name]
            assert isinstance(field, forms.ModelChoiceField)
            field.queryset = queryset
        self.fields["id"].initial = phase.pk if phase else None
        if phase is not None:
            del self.fields["configuration"]
            if phase.quote_version_id:
                quote = self.fields["quote_version"]
                assert isinstance(quote, forms.ModelChoiceField)
                quote.empty_label = None  # a pinned version is replaced by another, not taken away

    @property
    def is_empty(self) -> bool:
        return self.phase is None and not self.has_changed()

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        if (
            self.phase is None
            and not self.is_empty
            and data.get("configuration") is None
            and "configuration" not in self.errors
        ):
            self.add_error("configuration", _("Configuration is empty; it must be given."))
        return data

    def values(self) -> dict[str, Any]:
        data = self.cleaned_data
        found = {name: data[name] for name in ("end_month", "ends_when_ready", "n_accelerators")}
        found["order_month"] = data["order_month"] if data["order_month"] is not None else ZERO
        found["quantity_scale"] = data["quantity_scale"] if data["quantity_scale"] is not None else ONE
        return found


def phase_initial(phase: OptionPhase) -> dict[str, Any]:
    names = ("order_month", "end_month", "ends_when_ready", "n_accelerators", "quantity_scale")
    return {"id": phase.pk, "quote_version": phase.quote_version_id, **{name: getattr(phase, name) for name in names}}


class StaffForm(NamedForm):
    """People of one role."""

    role = forms.CharField(label=gettext_lazy("Role"), max_length=100, required=False)
    fte_low = NumberField(label=gettext_lazy("FTE, low"), low=ZERO)
    fte_likely = NumberField(label=gettext_lazy("FTE, likely"), low=ZERO)
    fte_high = NumberField(label=gettext_lazy("FTE, high"), low=ZERO)
    starts = forms.ChoiceField(label=gettext_lazy("Paid from"), choices=ANCHORS, initial="delivery", required=False)
    source = forms.CharField(label=gettext_lazy("Source"), max_length=300, required=False)
    remove = forms.BooleanField(label=gettext_lazy("Remove"), required=False)

    @property
    def is_empty(self) -> bool:
        names = ("role", "fte_low", "fte_likely", "fte_high", "source")
        return not any(str(self[name].value() or "").strip() for name in names)

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        if self.is_empty or data.get("remove"):
            return data
        if not data.get("role"):
            self.add_error("role", _("Role is empty; it must be given."))
        if data.get("fte_likely") is None and "fte_likely" not in self.errors:
            self.add_error("fte_likely", _("FTE, likely is empty; it must be a number."))
        return data

    def values(self) -> dict[str, Any]:
        data = self.cleaned_data
        names = ("role", "fte_low", "fte_likely", "fte_high", "source")
        return {**{name: data[name] for name in names}, "starts": data["starts"] or "delivery"}


def staff_initial(person: OptionStaff) -> dict[str, Any]:
    return {name: getattr(person, name) for name in ("role", "fte_low", "fte_likely", "fte_high", "starts", "source")}


class LineForm(NamedForm):
    """A dated line that no quote holds, such as insurance, freight or decommissioning."""

    description = forms.CharField(label=gettext_lazy("Description"), max_length=300, required=False)
    kind = forms.ChoiceField(label=gettext_lazy("Kind"), choices=LineKind.choices, initial="service", required=False)
    quantity = NumberField(label=gettext_lazy("Quantity"), low=ZERO)
    unit_price_low = NumberField(label=gettext_lazy("Price, low"))
    unit_price_likely = NumberField(label=gettext_lazy("Price, likely"))
    unit_price_high = NumberField(label=gettext_lazy("Price, high"))
    charge = forms.ChoiceField(label=gettext_lazy("Paid"), required=False, initial="one_off", choices=(
        ("one_off", gettext_lazy("once")), ("hour", gettext_lazy("by hour")), ("month", gettext_lazy("by month")),
        ("year", gettext_lazy("by year")),
    ))  # fmt: skip
    starts = forms.ChoiceField(label=gettext_lazy("Starts"), required=False, choices=(
        ("", gettext_lazy("as usual for its kind")), ("signature", gettext_lazy("at signature")),
        ("delivery", gettext_lazy("at delivery")), ("month", gettext_lazy("in a month")),
    ))  # fmt: skip
    start_month = NumberField(label=gettext_lazy("Start month"), low=ZERO)
    term_months = NumberField(label=gettext_lazy("Term, months"), low=ZERO)
    source = forms.CharField(label=gettext_lazy("Source"), max_length=300, required=False)
    remove = forms.BooleanField(label=gettext_lazy("Remove"), required=False)

    def __init__(self, *args: Any, stored: Mapping[str, Any] | None = None, **kwargs: Any) -> None:
        self.stored = dict(stored or {})
        super().__init__(*args, **kwargs)

    @property
    def is_empty(self) -> bool:
        names = ("description", "unit_price_low", "unit_price_likely", "unit_price_high", "source")
        return not any(str(self[name].value() or "").strip() for name in names)

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        if self.is_empty or data.get("remove"):
            return data
        if not data.get("description"):
            self.add_error("description", _("Description is empty; it must be given."))
        if data.get("starts") == "month" and data.get("start_month") is None:
            self.add_error("start_month", _("Start month is empty; it must be given for a start in a month."))
        low, likely, high = (data.get(f"unit_price_{end}") for end in ENDS)
        if likely is None and (low is not None or high is not None):
            self.add_error("unit_price_likely", _("Price, likely is empty; it must be given where low or high is."))
        elif low is not None and likely is not None and high is not None and not low <= likely <= high:
            self.add_error(
                "unit_price_likely",
                _("Low, likely and high must rise: %(a)s, %(b)s, %(c)s.") % {"a": low, "b": likely, "c": high},
            )
        return data

    def values(self) -> dict[str, Any]:
        """The line as stored; what this form does not show of an earlier one is kept."""
        data = self.cleaned_data
        shown = {
            "description",
            "kind",
            "charge",
            "period",
            "starts",
            "source",
            "quantity",
            "start_month",
            "term_months",
        }
        found = {k: v for k, v in self.stored.items() if k not in shown and not k.startswith("unit_price_")}
        recurring = data["charge"] in QuoteLine.Period.values
        found |= {
            "kind": data["kind"] or "service",
            "description": data["description"],
            "charge": "recurring" if recurring else "one_off",
        }
        if recurring:
            found["period"] = data["charge"]
        for name in ("starts", "source"):
            if data[name]:
                found[name] = data[name]
        for name in ("quantity", "start_month", "term_months", *(f"unit_price_{end}" for end in ENDS)):
            if data[name] is not None:
                found[name] = format(data[name], "f")
        return found


def line_initial(line: Mapping[str, Any]) -> dict[str, Any]:
    found = {key: value for key, value in line.items() if key != "charge"}
    found["charge"] = line.get("period") or "one_off"
    return found


class DropForm(NamedForm):
    """Why an option is out of the comparison."""

    reason = forms.CharField(label=gettext_lazy("Reason"), max_length=300)


def bound_rows(form_class: Any, prefix: str, data: Any, count: int, **kwargs: Any) -> list[Any]:
    """The posted rows `prefix-0`, `prefix-1`, … of one kind."""
    return [form_class(data, prefix=f"{prefix}-{number}", **kwargs) for number in range(count)]


def n_rows(data: Any, prefix: str, most: int = 60) -> int:
    """How many rows a post says it has; nonsense counts as none."""
    text = str(data.get(f"{prefix}-rows", ""))
    return min(int(text), most) if text.isdigit() and len(text) < 4 else 0
