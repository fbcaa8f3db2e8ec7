"""The start of an assessment: three questions that choose rules, charts and defaults, and the frame of the numbers."""

import uuid
from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_http_methods

from apps.accounts.permissions import allowed_actions, require
from apps.assessments.models import Assessment
from apps.assessments.services import update_assessment
from apps.engine.errors import InputError
from apps.web import selectors
from apps.web.views.state import signed_in

CAPACITY = [
    ("none", gettext_lazy("Nothing yet")),
    ("leased", gettext_lazy("Leased or cloud GPUs")),
    ("owned", gettext_lazy("Own GPUs")),
]
YES_NO = [("", gettext_lazy("Not answered")), ("yes", gettext_lazy("Yes")), ("no", gettext_lazy("No"))]
ANSWER = {"yes": True, "no": False, "": None}
DEMAND_STEPS = 3


class StartForm(forms.Form):
    """Empty means not answered; a run does not need the answers, the rules do."""

    dominant_load = forms.ChoiceField(
        label=gettext_lazy("The dominant load"),
        choices=Assessment.Load.choices,
        widget=forms.RadioSelect,
        required=False,
    )
    goal = forms.CharField(label=gettext_lazy("Goal"), max_length=200, required=False)
    goal_date = forms.DateField(
        label=gettext_lazy("Date"), required=False, widget=forms.DateInput(attrs={"type": "date"})
    )
    moe = forms.ChoiceField(label=gettext_lazy("Mixture of experts within 18 months"), choices=YES_NO, required=False)
    existing_capacity = forms.ChoiceField(
        label=gettext_lazy("It becomes the baseline"), choices=CAPACITY, widget=forms.RadioSelect, required=False
    )
    name = forms.CharField(label=gettext_lazy("Assessment"), max_length=200)
    currency = forms.CharField(label=gettext_lazy("Base currency"), max_length=3)
    signature_date = forms.DateField(
        label=gettext_lazy("Expected signature"),
        required=False,
        widget=forms.DateInput(attrs={"type": "date"}),
        help_text=gettext_lazy("Month 0; quotes must be valid on this day."),
    )
    horizon_months = forms.IntegerField(
        label=gettext_lazy("Horizon, months"),
        min_value=1,
        max_value=120,
        help_text=gettext_lazy("One window for all options."),
    )
    draws = forms.IntegerField(
        label=gettext_lazy("Draws"), min_value=2, help_text=gettext_lazy("A power of two, such as 8192.")
    )

    def __init__(self, *args: Any, demand: list[dict[str, Any]], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for step in range(max(DEMAND_STEPS, len(demand) + 1)):
            self.fields[f"from_month_{step}"] = forms.DecimalField(
                label=_("From month, step %s") % (step + 1), min_value=0, max_value=120, required=False
            )
            self.fields[f"wanted_{step}"] = forms.IntegerField(
                label=_("Accelerators wanted, step %s") % (step + 1), min_value=0, required=False
            )

    def clean_currency(self) -> str:
        code = str(self.cleaned_data["currency"]).upper()
        if len(code) != 3 or not code.isalpha():
            raise ValidationError(_("currency is %s; it must be a code such as USD.") % code)
        return code

    def demand(self) -> list[dict[str, Any]]:
        """The steps that are given, earliest first; adds an error to a step of which only one half is."""
        steps = []
        for name in [name for name in self.fields if name.startswith("from_month_")]:
            number = name.removeprefix("from_month_")
            month, wanted = self.cleaned_data.get(name), self.cleaned_data.get(f"wanted_{number}")
            if (month is None) != (wanted is None):
                missing = name if month is None else f"wanted_{number}"
                self.add_error(missing, _("is empty; a step of the demand needs a month and a number."))
            elif month is not None:
                steps.append({"from_month": format(month.normalize(), "f"), "n_accelerators": wanted})
        return sorted(steps, key=lambda step: float(str(step["from_month"])))

    def demand_rows(self) -> list[tuple[Any, Any]]:
        """The bound fields of each step, for the template."""
        steps = [name.removeprefix("from_month_") for name in self.fields if name.startswith("from_month_")]
        return [(self[f"from_month_{step}"], self[f"wanted_{step}"]) for step in steps]


@require_http_methods(["GET", "HEAD", "POST"])
@login_required
def start(request: HttpRequest, assessment_id: uuid.UUID) -> HttpResponse:
    user = signed_in(request)
    assessment = selectors.assessment_or_404(user, assessment_id)
    if request.method != "POST":
        return _page(request, assessment, StartForm(demand=assessment.demand, initial=_initial(assessment)))
    require(user, assessment.client, "edit")
    form = StartForm(request.POST, demand=assessment.demand)
    if form.is_valid():
        demand = form.demand()
        if form.is_valid() and _saved(request, assessment, form, demand):
            messages.success(request, _("The answers are kept."))
            return redirect("web:decision", assessment.pk)
    return _page(request, assessment, form, status=422)


def _initial(assessment: Assessment) -> dict[str, Any]:
    names = (
        "dominant_load",
        "goal",
        "goal_date",
        "existing_capacity",
        "name",
        "currency",
        "signature_date",
        "horizon_months",
        "draws",
    )
    values = {name: getattr(assessment, name) for name in names}
    values["moe"] = {True: "yes", False: "no"}.get(assessment.moe_within_18_months, "")  # type: ignore[arg-type]
    for number, step in enumerate(assessment.demand):
        wanted = step["n_accelerators"]
        values[f"from_month_{number}"] = step["from_month"]
        values[f"wanted_{number}"] = wanted["likely"] if isinstance(wanted, dict) else wanted
    return values


def _saved(request: HttpRequest, assessment: Assessment, form: StartForm, demand: list[dict[str, Any]]) -> bool:
    """Whether the service took the answers; otherwise its reason stands on the form."""
    given = form.cleaned_data
    values = {
        name: given[name]
        for name in (
            "dominant_load",
            "goal",
            "goal_date",
            "existing_capacity",
            "name",
            "currency",
            "signature_date",
            "horizon_months",
            "draws",
        )
    }
    values |= {"moe_within_18_months": ANSWER[given["moe"]], "demand": _kept_ranges(assessment, demand)}
    try:
        update_assessment(by=signed_in(request), assessment=assessment, values=values)
    except InputError as error:
        form.add_error(error.name if error.name in form.fields else None, str(error))
        return False
    return True


def _kept_ranges(assessment: Assessment, demand: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The steps as given; one whose likely number has not changed keeps the range it had."""
    before = {
        (str(step["from_month"]), str(step["n_accelerators"]["likely"])): step
        for step in assessment.demand
        if isinstance(step["n_accelerators"], dict)
    }
    return [before.get((str(step["from_month"]), str(step["n_accelerators"])), step) for step in demand]


def _page(request: HttpRequest, assessment: Assessment, form: StartForm, status: int = 200) -> HttpResponse:
    allowed = allowed_actions(signed_in(request), assessment.client)
    context = {"assessment": assessment, "form": form, "allowed": allowed}
    return render(request, "start/start.html", context, status=status)
