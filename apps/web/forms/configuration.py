"""The form of a configuration: the fields its template asks for, each with unit and source, ranges in one row."""

import datetime as dt
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

from django import forms
from django.db import models
from django.forms.boundfield import BoundField
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from apps.racks.models import RackConfiguration
from apps.racks.templates import CHOICES, TEMPLATES
from apps.reports import figures
from apps.vendors.models import EvidenceLevel
from apps.web.forms.base import NamedForm, NumberField, WholeNumberField

RANGES: Final = ("it_load_kw", "goodput", "slowdown")
UNITS: Final[dict[str, Promise]] = {
    "peak_tflops": gettext_lazy("TFLOP/s per accelerator"),
    "nvlink_domain": gettext_lazy("accelerators"),
    "nic_gbit_per_s": gettext_lazy("Gb/s, one way, each"),
    "storage_tb": gettext_lazy("TB"),
    "storage_write_gbyte_per_s": gettext_lazy("GB/s"),
    "it_load_kw": gettext_lazy("kW"),
    "rack_power_kw": gettext_lazy("kW"),
    "site_rack_limit_kw": gettext_lazy("kW"),
    "availability": gettext_lazy("fraction, 0 to 1"),
    "goodput": gettext_lazy("fraction, 0 to 1"),
    "slowdown": gettext_lazy("fraction, 0 to 1"),
    "fabric_efficiency": gettext_lazy("fraction, 0 to 1"),
    "committed_fraction": gettext_lazy("fraction, 0 to 1"),
    "spot_share": gettext_lazy("fraction, 0 to 1"),
    "on_demand_usd_per_gpu_hour": gettext_lazy("USD per GPU-hour"),
    "spot_usd_per_gpu_hour": gettext_lazy("USD per GPU-hour"),
    "spot_interruptions_per_hour": gettext_lazy("per hour"),
    "checkpoint_minutes": gettext_lazy("minutes"),
    "checkpoint_interval_minutes": gettext_lazy("minutes"),
    "restart_minutes": gettext_lazy("minutes"),
}
LABELS: Final[dict[str, Promise]] = {
    "shared_fabric_note": gettext_lazy("Note on the shared fabric"),
    "accelerator_key": gettext_lazy("Accelerator, name in the catalogue"),
    "spot_interruptions_per_hour": gettext_lazy("Spot interruptions"),
    "oversubscription": gettext_lazy("Oversubscription"),
}
UNIT_OF_RATIO: Final[dict[str, Promise]] = {"oversubscription": gettext_lazy("to 1")}
SERVING: Final[dict[str, Promise]] = {
    "regions": gettext_lazy("Regions"),
    "requests_per_s": gettext_lazy("Requests, per second at peak"),
    "tokens_per_request": gettext_lazy("Tokens per request"),
    "latency_target": gettext_lazy("Latency target"),
}
LONG_TEXTS: Final = ("congestion_plan",)
LOWEST: Final = {"oversubscription": Decimal(1)}


@dataclass(frozen=True)
class Row:
    """One line of the form: a fact with one control, or three for a range, and the two of its source."""

    name: str
    label: str
    unit: str
    fields: list[BoundField]
    level: BoundField | None
    source: BoundField | None

    @property
    def errors(self) -> list[str]:
        bound = [*self.fields, *(field for field in (self.level, self.source) if field is not None)]
        return [str(text) for field in bound for text in field.errors]


def base_names(fields: tuple[str, ...]) -> list[str]:
    """Names of facts in order: three columns of a range are one fact."""
    found: list[str] = []
    for name in fields:
        base = name.rpartition("_")[0]
        fact = base if base in RANGES and name.rpartition("_")[2] in ("low", "likely", "high") else name
        if fact not in found:
            found.append(fact)
    return found


def label_of(name: str) -> str:
    """What a fact is called, without its unit."""
    if name in LABELS:
        return str(LABELS[name])
    column = RackConfiguration._meta.get_field(f"{name}_likely" if name in RANGES else name)
    text = str(getattr(column, "verbose_name", name))
    return text[:1].upper() + text[1:]


def unit_of(name: str) -> str:
    return str(UNIT_OF_RATIO.get(name) or UNITS.get(name) or "")


class ConfigurationForm(NamedForm):
    """Fields of one template. Empty stays empty: not given."""

    name = forms.CharField(label=gettext_lazy("Name"), max_length=200)

    def __init__(
        self, *args: Any, template: str, configuration: RackConfiguration | None = None, **kwargs: Any
    ) -> None:
        self.template = TEMPLATES[RackConfiguration.Template(template)]
        self.configuration = configuration
        kwargs.setdefault("initial", self._initial())
        super().__init__(*args, **kwargs)
        for name in self.template.fields:
            if name == "serving":
                for key, label in SERVING.items():
                    self.fields[f"serving_{key}"] = forms.CharField(label=str(label), required=False, max_length=300)
            else:
                self.fields[name] = _field(name)
        for fact in base_names(self.template.fields):
            if fact != "serving":
                self.fields[f"level:{fact}"] = forms.ChoiceField(
                    label=_("Evidence for %s") % label_of(fact),
                    required=False,
                    choices=[("", _("not said")), *EvidenceLevel.choices],
                )
                self.fields[f"source:{fact}"] = forms.CharField(
                    label=_("Source of %s") % label_of(fact), required=False, max_length=300
                )

    def _initial(self) -> dict[str, Any]:
        configuration = self.configuration
        if configuration is None:
            return dict(self.template.defaults)
        found: dict[str, Any] = {"name": configuration.name}
        for name in self.template.fields:
            if name == "serving":
                found |= {f"serving_{key}": configuration.serving.get(key, "") for key in SERVING}
            else:
                found[name] = getattr(configuration, name)
        for fact in base_names(self.template.fields):
            source = source_of(configuration, fact)
            found |= {f"level:{fact}": source.get("level", ""), f"source:{fact}": source.get("source", "")}
        return found

    def groups(self) -> Iterator[tuple[str, list[Row]]]:
        """The groups of the template in reading order, as rows."""
        for label, names in self.template.groups:
            yield str(label), [row for fact in base_names(names) for row in self._rows(fact)]

    def _rows(self, fact: str) -> Iterator[Row]:
        if fact == "serving":
            for key in SERVING:
                field = self[f"serving_{key}"]
                yield Row(field.name, str(field.label), "", [field], None, None)
            return
        names = [f"{fact}_{end}" for end in ("low", "likely", "high")] if fact in RANGES else [fact]
        fields = [self[name] for name in names if name in self.fields]
        yield Row(fact, label_of(fact), unit_of(fact), fields, self[f"level:{fact}"], self[f"source:{fact}"])

    def values(self, *, author: str, today: dt.date) -> dict[str, Any]:
        """What the service takes: fields and sources.

        A value that changed while its source was left alone loses that source, as it no longer stands there.
        """
        data = self.cleaned_data
        found: dict[str, Any] = {}
        for name in self.template.fields:
            if name == "serving":
                given = {key: data[f"serving_{key}"] for key in SERVING if data[f"serving_{key}"]}
                earlier = self.configuration.serving if self.configuration else {}
                found["serving"] = {**{key: value for key, value in earlier.items() if key not in SERVING}, **given}
            else:
                found[name] = data[name]
        found["sources"] = self._sources(author, today)
        return found

    def _sources(self, author: str, today: dt.date) -> dict[str, Any]:
        sources = dict(self.configuration.sources) if self.configuration else {}
        for fact in base_names(self.template.fields):
            if fact == "serving":
                continue
            level, text = self.cleaned_data[f"level:{fact}"], self.cleaned_data[f"source:{fact}"]
            names = [f"{fact}_{end}" for end in ("low", "likely", "high")] if fact in RANGES else [fact]
            changed = any(name in self.changed_data for name in names)
            told = f"level:{fact}" in self.changed_data or f"source:{fact}" in self.changed_data
            if all(self.cleaned_data.get(name) in (None, "") for name in names) and not told:
                sources.pop(fact, None)
            elif told:
                sources[fact] = {"level": level, "source": text, "ref": ""}
            elif changed and self.configuration is not None:
                words = _("entered by %(who)s, %(day)s") % {"who": author, "day": figures.day(today)}
                sources[fact] = {"level": "", "source": words, "ref": ""}
        return {name: source for name, source in sources.items() if any(source.values())}


def source_of(configuration: RackConfiguration, fact: str) -> dict[str, str]:
    """Level, source and place of a fact as noted in the configuration; empty where nobody said."""
    for name in (fact, f"{fact}_likely"):
        source = configuration.sources.get(name)
        if isinstance(source, dict):
            return {key: str(source.get(key) or "") for key in ("level", "source", "ref")}
    return {}


def _field(name: str) -> forms.Field:
    column = RackConfiguration._meta.get_field(name)
    base, _dot, end = name.rpartition("_")
    label = label_of(base if base in RANGES else name)
    if base in RANGES and end != "likely":
        label = f"{label}, {_('low') if end == 'low' else _('high')}"
    if name in CHOICES:
        options = [("", _("not given")), *((key, text) for key, text in CHOICES[name].items())]
        return forms.ChoiceField(label=label, required=False, choices=options)
    if isinstance(column, models.PositiveIntegerField):
        return WholeNumberField(label=label, low=Decimal(1))
    if isinstance(column, models.DecimalField):
        high = Decimal(1) if "fraction" in unit_of(base if base in RANGES else name) else None
        return NumberField(label=label, low=LOWEST.get(name, Decimal(0)), high=high)
    widget = forms.Textarea(attrs={"rows": 2}) if name in LONG_TEXTS else forms.TextInput()
    most = getattr(column, "max_length", None) or 2000
    return forms.CharField(label=label, required=False, max_length=most, widget=widget)


class NewConfigurationForm(NamedForm):
    """Which kind of configuration to add, and under which name."""

    name = forms.CharField(label=gettext_lazy("Name"), max_length=200)
    template = forms.ChoiceField(
        label=gettext_lazy("Kind"),
        choices=[(key, template.label) for key, template in TEMPLATES.items()],
        widget=forms.RadioSelect,
    )

    def meanings(self) -> list[dict[str, Any]]:
        return [
            {"value": key, "label": kind.label, "meaning": kind.meaning, "checked": self["template"].value() == key}
            for key, kind in TEMPLATES.items()
        ]
