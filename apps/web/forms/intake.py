"""Forms around an import: the upload, the option that a quote becomes, the phase that takes it."""

from decimal import Decimal
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from apps.assessments.models import OptionPhase
from apps.intake.parsing import limits
from apps.racks.models import RackConfiguration
from apps.racks.templates import TEMPLATES
from apps.web.forms.base import NamedForm, NumberField, WholeNumberField

FACILITIES = (
    ("colocation", _("colocation, per kW and month")),
    ("metered", _("own site, metered power")),
    ("none", _("none, in the price")),
)


class UploadForm(NamedForm):
    """A quote file and, where the file does not say it, its vendor."""

    file = forms.FileField(label=_("Quote file"), widget=forms.FileInput(attrs={"accept": ".xlsx,.csv,.json"}))
    vendor_name = forms.CharField(
        label=_("Vendor"),
        max_length=200,
        required=False,
        help_text=_("Empty: as the file says. It is asked if it does not."),
    )

    def clean_file(self) -> Any:
        file = self.cleaned_data["file"]
        if (file.size or 0) > limits.FILE_BYTES:
            raise forms.ValidationError(
                _("%(name)s has %(size)s; it must have at most %(limit)s.")
                % {
                    "name": file.name,
                    "size": limits.megabytes(file.size or 0),
                    "limit": limits.megabytes(limits.FILE_BYTES),
                }
            )
        return file


class OptionFromQuoteForm(NamedForm):
    """What has to be said once so that an imported quote can be compared and computed."""

    letter = forms.CharField(label=_("Letter"), max_length=4)
    name = forms.CharField(label=_("Name"), max_length=200)
    template = forms.ChoiceField(
        label=_("What is offered"),
        choices=[(key, template.label) for key, template in TEMPLATES.items()],
        widget=forms.RadioSelect,
    )
    n_accelerators = WholeNumberField(label=_("Accelerators in all"), required=True, low=Decimal(1))
    accelerators_per_node = WholeNumberField(label=_("Accelerators per node"), low=Decimal(1))
    facility = forms.ChoiceField(label=_("Site"), choices=FACILITIES)
    it_load_kw_likely = NumberField(
        label=_("IT load, kW"),
        low=Decimal(0),
        help_text=_("Empty: not given. Owned machines then have no power and site cost."),
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["template"].help_text = ""

    def meanings(self) -> list[dict[str, Any]]:
        """The kinds of configuration, each with what it means, for the radio buttons."""
        return [
            {
                "value": key,
                "label": template.label,
                "meaning": template.meaning,
                "checked": self["template"].value() == key,
            }
            for key, template in TEMPLATES.items()
        ]


class PinForm(NamedForm):
    """The phase of an existing option that takes a quote version."""

    phase = forms.ModelChoiceField(label=_("Phase"), queryset=OptionPhase.unscoped.none(), empty_label=None)

    def __init__(self, *args: Any, phases: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field = self.fields["phase"]
        assert isinstance(field, forms.ModelChoiceField)
        field.queryset = phases
        field.label_from_instance = _phase_words  # type: ignore[method-assign, assignment]


def _phase_words(phase: Any) -> str:
    quote = phase.quote_version or _("no quote yet")
    return f"{phase.option.letter} {phase.option.name}, {phase.configuration.name}: {quote}"


def default_facility(template: str) -> str:
    known = TEMPLATES.get(RackConfiguration.Template(template)) if template in TEMPLATES else None
    return "none" if known is not None and known.cloud else "colocation"
