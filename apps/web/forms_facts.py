"""Forms of assumptions, exchange rates, claims, catalogue figures and roadmap items."""

import re
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from apps.assumptions.models import Claim
from apps.assumptions.selectors import ResolvedAssumption
from apps.engine.errors import InputError
from apps.reports import figures
from apps.workloads.models import RoadmapItem

AS_PRECISE = re.compile(r"[0-9]{4}(-[0-9]{2}(-[0-9]{2})?|-[HQ][1-4])?")
DATE_HELP = gettext_lazy("As precise as the source: 2026-11-30, 2026-11, 2025-H1 or 2026.")
DISTRIBUTIONS = [
    ("triangular", gettext_lazy("triangular")),
    ("pert", gettext_lazy("PERT")),
    ("lognormal", gettext_lazy("lognormal")),
    ("fixed", gettext_lazy("fixed, no range")),
]
STATUSES = [
    ("accepted", gettext_lazy("accepted")),
    ("memory", gettext_lazy("recalled")),
    ("contested", gettext_lazy("contested")),
    ("superseded", gettext_lazy("superseded")),
]


def add_input_error(form: forms.Form, error: InputError) -> None:
    """Show what a service refused beside the field it is about."""
    form.add_error(error.name if error.name in form.fields else None, str(error))


def is_fraction(unit: str) -> bool:
    """Whether numbers of the unit are shown as percentages."""
    return figures.number_in_unit(1, unit).endswith("%")


def check_source_date(text: str) -> None:
    """Raise `ValidationError` when the text is no year, half, quarter, month or day."""
    if not AS_PRECISE.fullmatch(text):
        raise ValidationError(_("as of is %s; it must be a date such as 2026-11-30, 2026-11, 2025-H1 or 2026.") % text)


class NumberField(forms.CharField):
    """A number as people type it; a fraction may be given as 9 % and has to be when it is above 1."""

    def __init__(self, *, unit: str = "", **kwargs: Any) -> None:
        self.unit = unit
        kwargs.setdefault("max_length", 40)
        kwargs.setdefault("widget", forms.TextInput(attrs={"inputmode": "decimal", "autocomplete": "off"}))
        super().__init__(**kwargs)

    def clean(self, value: Any) -> Decimal | None:
        """The exact number, None for an empty field."""
        text = str(super().clean(value)).replace(figures.NARROW_NBSP, " ").replace(figures.MINUS, "-").strip()
        if not text:
            return None
        percent = text.endswith("%")
        digits = text.removesuffix("%").strip()
        if not re.fullmatch(r"[+-]?[0-9]{1,18}(\.[0-9]{1,8})?", digits):
            raise ValidationError(_("%s is no number; write digits with a decimal point, without commas.") % text)
        number = Decimal(digits)
        if percent and not is_fraction(self.unit):
            raise ValidationError(_("%(text)s is a percentage; it must be a number of %(unit)s.") % self._named(text))
        if is_fraction(self.unit) and not percent and abs(number) > 1:
            words = _("%(text)s may mean a percentage; write it with a percent sign or as a fraction.")
            raise ValidationError(words % self._named(text))
        return number / 100 if percent else number

    def _named(self, text: str) -> dict[str, str]:
        return {"text": text, "unit": self.unit or _("its unit")}


class AssumptionForm(forms.Form):
    """A new version of one assumption on a layer that the person may write."""

    layer = forms.ChoiceField(label=gettext_lazy("Holds for"))
    text = forms.CharField(label=gettext_lazy("Value"), max_length=200)
    likely = NumberField(label=gettext_lazy("Likely"))
    low = NumberField(label=gettext_lazy("Low"), required=False)
    high = NumberField(label=gettext_lazy("High"), required=False)
    distribution = forms.ChoiceField(label=gettext_lazy("Shape of the range"), choices=DISTRIBUTIONS)
    source = forms.CharField(label=gettext_lazy("Source"), max_length=2000)
    source_date = forms.CharField(
        label=gettext_lazy("As of"), max_length=20, help_text=DATE_HELP, validators=[check_source_date]
    )
    status = forms.ChoiceField(label=gettext_lazy("Status"), choices=STATUSES)
    reason = forms.CharField(
        label=gettext_lazy("Reason for the change"), max_length=2000, widget=forms.Textarea(attrs={"rows": 2})
    )

    def __init__(self, *args: Any, assumption: ResolvedAssumption, layers: Sequence[tuple[str, str]]) -> None:
        initial = {
            "layer": layers[0][0] if layers else "",
            "distribution": assumption.distribution,
            "status": "accepted",
            "text": assumption.text,
            **{name: self._shown(assumption, name) for name in ("low", "likely", "high")},
        }
        super().__init__(*args, initial=initial, prefix=None)
        self.fields["layer"].choices = list(layers)  # type: ignore[attr-defined]
        for name in ("low", "likely", "high"):
            self.fields[name].unit = assumption.unit  # type: ignore[attr-defined]
        if assumption.unit:
            self.fields["likely"].label = _("Likely, %s") % (
                _("such as 9 %") if is_fraction(assumption.unit) else assumption.unit
            )
        for name in ("likely", "low", "high", "distribution") if assumption.text else ("text",):
            del self.fields[name]

    @staticmethod
    def _shown(assumption: ResolvedAssumption, name: str) -> str:
        value: Decimal | None = getattr(assumption, name)
        if value is None:
            return ""
        return figures.number_in_unit(value, assumption.unit).replace(",", "").replace(figures.NARROW_NBSP, " ")

    def values(self) -> dict[str, Any]:
        """What `set_assumption` takes beside key and layer."""
        return {name: value for name, value in self.cleaned_data.items() if name != "layer"}


class FxRateForm(forms.Form):
    """What one unit of a currency costs in another on a day."""

    base = forms.CharField(label=gettext_lazy("One"), max_length=3, help_text=gettext_lazy("Such as EUR."))
    quote = forms.CharField(label=gettext_lazy("Costs, in"), max_length=3, help_text=gettext_lazy("Such as USD."))
    rate = NumberField(label=gettext_lazy("Rate"), help_text=gettext_lazy("As the source states it, such as 1.08."))
    low = NumberField(label=gettext_lazy("Low"), required=False)
    high = NumberField(label=gettext_lazy("High"), required=False)
    rate_date = forms.DateField(label=gettext_lazy("Date"), widget=forms.DateInput(attrs={"type": "date"}))
    source = forms.CharField(label=gettext_lazy("Source"), max_length=300)

    def clean_base(self) -> str:
        return str(self.cleaned_data["base"]).upper()

    def clean_quote(self) -> str:
        return str(self.cleaned_data["quote"]).upper()


class JudgeForm(forms.Form):
    """How the client sees one claim."""

    status = forms.ChoiceField(label=gettext_lazy("Status"), choices=Claim.Status.choices)
    reason = forms.CharField(label=gettext_lazy("Reason"), max_length=2000, widget=forms.Textarea(attrs={"rows": 2}))


class ClaimForm(forms.Form):
    """A claim of the client's own."""

    key = forms.CharField(
        label=gettext_lazy("Short name"), max_length=20, help_text=gettext_lazy("Unique in the register, such as L-1.")
    )
    topic = forms.ChoiceField(label=gettext_lazy("Topic"))
    statement = forms.CharField(
        label=gettext_lazy("Statement"), max_length=2000, widget=forms.Textarea(attrs={"rows": 3})
    )
    source = forms.CharField(
        label=gettext_lazy("Source"), max_length=2000, help_text=gettext_lazy("Who says it, and where.")
    )
    as_of = forms.CharField(
        label=gettext_lazy("As of"), max_length=20, required=False, help_text=DATE_HELP, validators=[check_source_date]
    )
    check_text = forms.CharField(
        label=gettext_lazy("What a check found"),
        max_length=4000,
        required=False,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text=gettext_lazy("Empty: not checked yet."),
    )
    verdict = forms.ChoiceField(
        label=gettext_lazy("Verdict"), choices=Claim.Verdict.choices, initial=Claim.Verdict.UNSOURCED
    )
    status = forms.ChoiceField(
        label=gettext_lazy("Status"), choices=Claim.Status.choices, initial=Claim.Status.CONTESTED
    )
    assumption_keys = forms.MultipleChoiceField(
        label=gettext_lazy("Assumptions that rest on it"),
        required=False,
        widget=forms.SelectMultiple(attrs={"size": 6}),
    )

    def __init__(
        self, *args: Any, topics: Sequence[tuple[str, str]], assumptions: Sequence[tuple[str, str]], **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        self.fields["topic"].choices = list(topics)  # type: ignore[attr-defined]
        self.fields["assumption_keys"].choices = list(assumptions)  # type: ignore[attr-defined]


class OverrideForm(forms.Form):
    """An organisation's own figure in place of the catalogue's."""

    value = forms.CharField(label=gettext_lazy("Own value"), max_length=200)
    low = forms.CharField(label=gettext_lazy("Low"), max_length=60, required=False)
    high = forms.CharField(label=gettext_lazy("High"), max_length=60, required=False)
    as_of = forms.CharField(
        label=gettext_lazy("As of"), max_length=20, help_text=DATE_HELP, validators=[check_source_date]
    )
    source = forms.CharField(label=gettext_lazy("Source"), max_length=2000)
    reason = forms.CharField(label=gettext_lazy("Reason"), max_length=2000, widget=forms.Textarea(attrs={"rows": 2}))


# Field of a roadmap item -> what stands under its label.
ROADMAP_HELP = {
    "name": gettext_lazy("Such as 70 B MoE."),
    "first_quarter": gettext_lazy("0 is the first 13 weeks after signature."),
    "last_quarter": gettext_lazy("The same as the first for one quarter."),
    "parameters_billion": gettext_lazy("Billions, all experts counted."),
    "active_parameters_billion": gettext_lazy("Billions a token passes through."),
    "experts": gettext_lazy("Routed experts of one layer."),
    "top_k": gettext_lazy("Routed experts that each token visits."),
    "ep_degree": gettext_lazy("Accelerators that share the experts of a layer."),
    "tp_degree": gettext_lazy("Accelerators that share one layer."),
    "pp_degree": gettext_lazy("Stages of layers."),
    "dp_degree": gettext_lazy("Copies of the model."),
    "full_to_window": gettext_lazy("Such as 1:3."),
    "window_tokens": gettext_lazy("Tokens."),
    "tokens_per_experiment_billion": gettext_lazy("Billions of tokens."),
    "final_run_tokens_billion": gettext_lazy("Billions of tokens. Empty: not given."),
    "experiments_per_week": gettext_lazy("What the people can prepare and read, not what machines allow."),
    "decisions": gettext_lazy("Decisions that wait for experiments of this item."),
    "revenue_link": gettext_lazy("Which income begins when it ships."),
    "source": gettext_lazy("Who said so, and when."),
}
ROADMAP_LABELS = {  # shorter than the name of the column, as the help says the rest
    "experiments_per_week": gettext_lazy("Experiments a week"),
}
ROADMAP_GROUPS: tuple[tuple[Any, tuple[str, ...]], ...] = (
    (gettext_lazy("Item"), ("name", "workload_class", "first_quarter", "last_quarter", "revenue_link", "source")),
    (
        gettext_lazy("Shape of the model"),
        (
            "architecture",
            "parameters_billion",
            "active_parameters_billion",
            "layers",
            "hidden_size",
            "experts",
            "top_k",
            "full_to_window",
            "window_tokens",
        ),
    ),
    (gettext_lazy("Degrees of parallelism"), ("ep_degree", "tp_degree", "pp_degree", "dp_degree")),
    (
        gettext_lazy("Work"),
        ("tokens_per_experiment_billion", "experiments_per_week", "decisions", "final_run_tokens_billion"),
    ),
)
LAST_QUARTER = 11


class RoadmapItemForm(forms.Form):
    """Every field of a roadmap item but its confirmation; empty means not given."""

    def __init__(self, *args: Any, last_quarter: int = LAST_QUARTER, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        names = [name for _label, group in ROADMAP_GROUPS for name in group]
        for name, field in forms.fields_for_model(RoadmapItem, fields=names).items():
            field.help_text = ROADMAP_HELP.get(name, "")
            field.label = ROADMAP_LABELS.get(name, field.label)
            if isinstance(field, forms.IntegerField | forms.DecimalField):
                field.min_value = 0
                field.widget.attrs["min"] = 0
            self.fields[name] = field
        for name in ("first_quarter", "last_quarter"):
            quarter = forms.IntegerField(
                label=self.fields[name].label,
                help_text=self.fields[name].help_text,
                min_value=0,
                max_value=max(LAST_QUARTER, last_quarter),
            )
            self.fields[name] = quarter

    def groups(self) -> list[tuple[Any, list[forms.BoundField]]]:
        """The fields under their headings, for the template."""
        return [(label, [self[name] for name in names]) for label, names in ROADMAP_GROUPS]

    def clean(self) -> dict[str, Any]:
        """The values; no number may be below zero, and the last quarter is not before the first."""
        given = self.cleaned_data
        for name, value in list(given.items()):
            if isinstance(value, int | Decimal) and value < 0:
                self.add_error(name, _("is %s; it must be zero or more.") % value)
        first, last = given.get("first_quarter"), given.get("last_quarter")
        if first is not None and last is not None and last < first:
            self.add_error(
                "last_quarter", _("is %(last)s; it must be at least %(first)s.") % {"last": last, "first": first}
            )
        ratio = given.get("full_to_window")
        if ratio and not re.fullmatch(r"[0-9]{1,4}:[0-9]{1,4}", ratio):
            self.add_error("full_to_window", _("is %s; it must be two numbers such as 1:3.") % ratio)
        return given


class ConfirmForm(forms.Form):
    """The day on which an architect checked an item."""

    confirmed_on = forms.DateField(
        label=gettext_lazy("Checked by an architect on"), widget=forms.DateInput(attrs={"type": "date"})
    )

    def clean_confirmed_on(self) -> Any:
        day = self.cleaned_data["confirmed_on"]
        if day > timezone.localdate():
            raise ValidationError(_("the day is %s; it must not lie in the future.") % day.isoformat())
        return day
