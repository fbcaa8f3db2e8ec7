"""The editor of an option: what it is, its phases, people and own lines, and whether it is still in the comparison."""

import uuid
from collections.abc import Callable
from typing import Any, TypeVar

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from apps.accounts.models import User
from apps.accounts.permissions import require
from apps.assessments import selectors as assessments
from apps.assessments import services
from apps.assessments.models import Assessment, Option, OptionPhase
from apps.engine.errors import InputError
from apps.racks.selectors import configurations_visible_to
from apps.vendors.selectors import quote_versions_visible_to
from apps.web import selectors
from apps.web.forms import options as rows
from apps.web.forms.base import add_input_error, add_validation_error, error_list
from apps.web.forms.options import DropForm, LineForm, OptionForm, PhaseForm, StaffForm
from apps.web.quote_options import next_letter
from apps.web.quote_statements import statements_of_phases
from apps.web.views.inputs import frame
from apps.web.views.state import signed_in

T = TypeVar("T")
NAMES = {
    "financing.kind": "financing_kind",
    "bridge.usd_per_gpu_hour": "bridge_usd_per_gpu_hour_likely",
    "bridge.usd_per_gpu_hour.likely": "bridge_usd_per_gpu_hour_likely",
}


@require_http_methods(["GET", "HEAD", "POST"])
@login_required
def new(request: HttpRequest, assessment_id: uuid.UUID) -> HttpResponse:
    """Letter, name, site and payment; phases follow on the option's own page."""
    user = signed_in(request)
    assessment = selectors.assessment_or_404(user, assessment_id)
    require(user, assessment.client, "edit")
    letters = set(Option.objects.visible_to(user).filter(assessment=assessment).values_list("letter", flat=True))
    form = OptionForm(request.POST if request.method == "POST" else None, initial={"letter": next_letter(letters)})
    if request.method == "POST" and form.is_valid():
        made = _guarded(form, lambda: _create(user, assessment, form))
        if made is not None:
            messages.success(request, _("Option %s is added. Give it a phase.") % made.letter)
            return redirect("web:option", assessment.pk, made.pk)
    context = {
        **frame(user, assessment),
        "form": form,
        "ranges": form.ranges(),
        "errors": error_list(form) if form.is_bound else [],
    }
    return render(request, "options/new.html", context, status=422 if form.errors else 200)


def _create(user: User, assessment: Assessment, form: OptionForm) -> Option:
    data = form.cleaned_data
    return services.create_option(
        by=user, assessment=assessment, letter=data["letter"], name=data["name"], values=form.values()
    )


def _guarded(form: forms.Form, write: Callable[[], T]) -> T | None:
    """Do the write in one transaction; what a service or the database refuses is shown beside its field."""
    try:
        with transaction.atomic():
            return write()
    except InputError as error:
        add_input_error(form, error, NAMES)
    except ValidationError as error:
        add_validation_error(form, error)
    except IntegrityError:
        letter = form.cleaned_data.get("letter", "")
        form.add_error(
            "letter" if "letter" in form.fields else None,
            _("Letter is “%s”; it must be one that no other option has.") % letter,
        )
    return None


# The editor ----------------------------------------------------------------------------------------------------------
class Editor:
    """The forms of one option's page; a part that was posted is bound, the others show what is stored."""

    def __init__(self, user: User, assessment: Assessment, option: Option, data: Any = None) -> None:
        self.user, self.assessment, self.option, self.data = user, assessment, option, data
        self.part = str(data.get("part", "")) if data is not None else ""
        self.phases = list(
            OptionPhase.objects.visible_to(user)
            .filter(option=option)
            .select_related("configuration", "quote_version__quote__vendor", "option", "client")
            .order_by("position")
        )
        self.choices = {
            "configuration": configurations_visible_to(user).filter(
                client=assessment.client, assessment_id=assessment.pk
            ),
            "quote_version": quote_versions_visible_to(user).filter(client=assessment.client),
        }
        self.form = OptionForm(self._data("facts"), option=option)
        self.phase_forms = self._phase_forms()
        self.staff_forms = self._staff_forms()
        self.line_forms = self._line_forms()
        self.drop_form = DropForm(self._data("drop"))

    def _data(self, part: str) -> Any:
        return self.data if self.part == part else None

    def _phase_forms(self) -> list[PhaseForm]:
        data = self._data("phases")
        stored = [
            PhaseForm(
                data, prefix=f"phases-{number}", phase=phase, choices=self.choices, initial=rows.phase_initial(phase)
            )
            for number, phase in enumerate(self.phases)
        ]
        more = self._more("phases", len(stored), 0 if stored else 1)
        return stored + [
            PhaseForm(
                data, prefix=f"phases-{number}", choices=self.choices, initial={"order_month": 0, "quantity_scale": 1}
            )
            for number in range(len(stored), len(stored) + more)
        ]

    def _staff_forms(self) -> list[StaffForm]:
        data = self._data("staff")
        initials = [rows.staff_initial(person) for person in self.option.staff.all()]
        count = self._count("staff", len(initials))
        return [
            StaffForm(data, prefix=f"staff-{n}", initial=initials[n] if n < len(initials) else {"starts": "delivery"})
            for n in range(count)
        ]

    def _line_forms(self) -> list[LineForm]:
        data, stored = self._data("lines"), self.option.extra_lines or []
        first = {"kind": "service", "charge": "one_off", "quantity": 1}
        return [
            LineForm(
                data,
                prefix=f"lines-{n}",
                stored=stored[n] if n < len(stored) else None,
                initial=rows.line_initial(stored[n]) if n < len(stored) else first,
            )
            for n in range(self._count("lines", len(stored)))
        ]

    def _count(self, part: str, n_stored: int) -> int:
        """Rows to show: those posted, plus one when a row was asked for; else what is stored."""
        if self.part != part:
            return n_stored
        return rows.n_rows(self.data, part) + (1 if self.adds_row else 0)

    def _more(self, part: str, n_stored: int, least: int) -> int:
        if self.part != part:
            return least
        return max(least, self._count(part, n_stored) - n_stored)

    @property
    def adds_row(self) -> bool:
        return self.data is not None and "add_row" in self.data

    # writes ----------------------------------------------------------------------------------------------------------
    def save(self) -> str | None:
        """Do what was posted; the words to say about it, or None when something has to be corrected."""
        writers: dict[str, Callable[[], str | None]] = {
            "facts": self._save_facts,
            "phases": self._save_phases,
            "staff": self._save_staff,
            "lines": self._save_lines,
            "drop": self._drop,
            "restore": self._restore,
        }
        return writers[self.part]()

    def _save_facts(self) -> str | None:
        form = self.form
        if not form.is_valid():
            return None
        values = {"letter": form.cleaned_data["letter"], "name": form.cleaned_data["name"], **form.values()}
        done = _guarded(form, lambda: services.update_option(by=self.user, option=self.option, values=values))
        return _("Option %s is saved.") % done.letter if done else None

    def _save_phases(self) -> str | None:
        forms_ = self.phase_forms
        if not all(form.is_valid() for form in forms_):
            return None
        try:
            with transaction.atomic():
                for form in forms_:
                    if self._save_phase(form) is None:
                        raise _NotSavedError
        except _NotSavedError:
            return None
        return _("The phases of option %s are saved.") % self.option.letter

    def _save_phase(self, form: PhaseForm) -> bool | None:
        """True when the phase is as the form says, None when its errors say why not."""
        data = form.cleaned_data
        if form.is_empty:
            return True
        if form.phase is not None and data["remove"]:
            services.remove_phase(by=self.user, phase=form.phase)
            return True
        if data["remove"]:
            return True
        if form.phase is None:
            return _guarded(form, lambda: self._add_phase(form))
        phase = form.phase
        return _guarded(form, lambda: self._update_phase(phase, form))

    def _add_phase(self, form: PhaseForm) -> bool:
        data = form.cleaned_data
        services.add_phase(
            by=self.user,
            option=self.option,
            configuration=data["configuration"],
            quote_version=data["quote_version"],
            values=form.values(),
        )
        return True

    def _update_phase(self, phase: OptionPhase, form: PhaseForm) -> bool:
        services.update_phase(
            by=self.user, phase=phase, quote_version=form.cleaned_data["quote_version"], values=form.values()
        )
        return True

    def _save_staff(self) -> str | None:
        if not all(form.is_valid() for form in self.staff_forms):
            return None
        kept = [form for form in self.staff_forms if not form.is_empty and not form.cleaned_data["remove"]]
        people = [form.values() for form in kept]
        target = kept[0] if kept else StaffForm()
        done = _guarded(target, lambda: services.set_staff(by=self.user, option=self.option, people=people))
        return None if done is None else _("The people of option %s are saved.") % self.option.letter

    def _save_lines(self) -> str | None:
        if not all(form.is_valid() for form in self.line_forms):
            return None
        kept = [form for form in self.line_forms if not form.is_empty and not form.cleaned_data["remove"]]
        values = {"extra_lines": [form.values() for form in kept]}
        target = kept[0] if kept else LineForm()
        done = _guarded(target, lambda: services.update_option(by=self.user, option=self.option, values=values))
        return None if done is None else _("The lines of option %s are saved.") % self.option.letter

    def _drop(self) -> str | None:
        form = self.drop_form
        if not form.is_valid():
            return None
        reason = form.cleaned_data["reason"]
        done = _guarded(form, lambda: services.drop_option(by=self.user, option=self.option, reason=reason))
        return _("Option %s is out of the comparison.") % done.letter if done else None

    def _restore(self) -> str | None:
        services.drop_option(by=self.user, option=self.option, reason="")
        return _("Option %s is back in the comparison.") % self.option.letter

    def errors(self) -> list[dict[str, str]]:
        by_part: dict[str, list[forms.Form]] = {
            "facts": [self.form],
            "phases": [*self.phase_forms],
            "staff": [*self.staff_forms],
            "lines": [*self.line_forms],
            "drop": [self.drop_form],
        }
        return error_list(*by_part.get(self.part, []))


class _NotSavedError(Exception):
    """A row was refused, so that none is stored."""


PARTS = ("facts", "phases", "staff", "lines", "drop", "restore")


@require_http_methods(["GET", "HEAD", "POST"])
@login_required
def edit(request: HttpRequest, assessment_id: uuid.UUID, option_id: uuid.UUID) -> HttpResponse:
    """The option with its forms; a POST names the part that it is about."""
    user = signed_in(request)
    assessment = selectors.assessment_or_404(user, assessment_id)
    option = _option_or_404(user, assessment, option_id)
    if request.method != "POST":
        return _page(request, Editor(user, assessment, option))
    require(user, assessment.client, "edit")
    part = request.POST.get("part", "")
    if part == "delete":
        services.delete_option(by=user, option=option)
        messages.success(request, _("Option %s is removed. Past runs keep it.") % option.letter)
        return redirect("web:configuration", assessment.pk)
    if part not in PARTS:
        raise Http404
    editor = Editor(user, assessment, option, request.POST)
    if editor.adds_row:
        return _page(request, editor, unchecked=True)
    done = editor.save()
    if done is None:
        return _page(request, editor, status=422)
    messages.success(request, done)
    return redirect("web:option", assessment.pk, option.pk)


def _option_or_404(user: User, assessment: Assessment, option_id: uuid.UUID) -> Option:
    try:
        option = assessments.get_option(user, option_id)
    except Option.DoesNotExist:
        raise Http404 from None
    if option.assessment_id != assessment.pk:
        raise Http404
    return option


def _page(request: HttpRequest, editor: Editor, status: int = 200, *, unchecked: bool = False) -> HttpResponse:
    """The page; after "add a row" what was typed stands there without being judged yet."""
    user, assessment = editor.user, editor.assessment
    fresh = _option_or_404(user, assessment, editor.option.pk)  # heading and state as stored, whatever was typed
    errors = [] if unchecked else editor.errors()
    if unchecked:
        for form in (*editor.phase_forms, *editor.staff_forms, *editor.line_forms):
            form.clear_errors()
    context = {
        **frame(user, assessment),
        "option": fresh,
        "editor": editor,
        "form": editor.form,
        "ranges": editor.form.ranges(),
        "errors": errors,
        "statements": statements_of_phases(editor.phases),
        "others": Option.objects.visible_to(user).filter(assessment=assessment).order_by("slot", "letter"),
    }
    return render(request, "options/option.html", context, status=status)
