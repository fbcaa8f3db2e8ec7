"""What all input forms share: messages that name the value, fields tied to their errors, numbers kept as typed."""

from decimal import Decimal, InvalidOperation
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.forms.utils import ErrorDict
from django.utils.translation import gettext_lazy as _

from apps.engine.errors import InputError

NUMBER_ATTRS = {"inputmode": "decimal", "autocomplete": "off", "size": "10"}


class NumberField(forms.Field):
    """A decimal number with a point, or nothing, which means not given. Commas that group thousands are understood."""

    def __init__(self, *, low: Decimal | None = None, high: Decimal | None = None, **kwargs: Any) -> None:
        kwargs.setdefault("required", False)
        kwargs.setdefault("widget", forms.TextInput(attrs=NUMBER_ATTRS))
        super().__init__(**kwargs)
        self.low, self.high = low, high

    def to_python(self, value: Any) -> Decimal | None:
        text = str(value or "").strip().replace("\u202f", "").replace(" ", "")
        if not text:
            return None
        if "," in text:
            text = _ungrouped(text)
        try:
            number = Decimal(text)
        except InvalidOperation:
            number = Decimal("NaN")
        if not number.is_finite():
            raise self._must_be(str(value), _("a number such as 1250.5, or empty if it was not given"))
        return number

    def validate(self, value: Decimal | None) -> None:
        if value is None:
            if self.required:
                raise ValidationError(_("%(name)s is empty; it must be a number."), params={"name": self.label})
            return
        if self.low is not None and value < self.low:
            raise self._must_be(str(value), _("%s or more") % self.low)
        if self.high is not None and value > self.high:
            raise self._must_be(str(value), _("%s or less") % self.high)

    def prepare_value(self, value: Any) -> Any:
        return format(value, "f") if isinstance(value, Decimal) else value

    def _must_be(self, found: str, expected: Any) -> ValidationError:
        return ValidationError(
            _("%(name)s is “%(found)s”; it must be %(expected)s."),
            params={"name": self.label, "found": found[:60], "expected": expected},
        )


class WholeNumberField(NumberField):
    """A whole number, or nothing."""

    def to_python(self, value: Any) -> Any:
        number = super().to_python(value)
        if number is None:
            return None
        if number != number.to_integral_value():
            raise self._must_be(str(value), _("a whole number"))
        if abs(number) >= 2**31:
            raise self._must_be(str(value), _("less than %s") % f"{2**31:,}")
        return int(number)


def _ungrouped(text: str) -> str:
    """The text without commas that group thousands; any other comma stays and is refused as no number."""
    whole, dot, rest = text.partition(".")
    groups = whole.lstrip("-+").split(",")
    grouped = 1 <= len(groups[0]) <= 3 and all(len(group) == 3 for group in groups[1:])
    return whole.replace(",", "") + dot + rest if grouped and "," not in rest else text


class NamedForm(forms.Form):
    """A form whose required and choice errors name the field and what was found."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.use_required_attribute = False  # the answer names every error at once, beside its field
        for field in self.fields.values():
            words = {"name": field.label}
            field.error_messages["required"] = _("%(name)s is empty; it must be given.") % words
            if "invalid_choice" in field.error_messages:
                field.error_messages["invalid_choice"] = _("%(name)s must be one of the list.") % words

    def clear_errors(self) -> None:
        """Show what was typed without judging it yet."""
        self._errors = ErrorDict()


def add_input_error(form: forms.Form, error: InputError, names: dict[str, str] | None = None) -> None:
    """Show what a service refused beside the field it is about; `names` maps the service's names to the form's."""
    name = (names or {}).get(error.name, error.name)
    target = next((known for known in (name, f"{name}_likely") if known in form.fields), None)
    form.add_error(target, str(error))


def add_validation_error(form: forms.Form, error: ValidationError) -> None:
    """The same for what a column refused."""
    by_field = error.message_dict if hasattr(error, "error_dict") else {"": error.messages}
    for name, texts in by_field.items():
        form.add_error(name if name in form.fields else None, texts)


def error_list(*forms_: forms.BaseForm) -> list[dict[str, str]]:
    """Every error of some forms with the id of its field, for the summary at the top."""
    found = []
    for form in forms_:
        found += [{"id": "", "text": str(text)} for text in form.non_field_errors()]
        for name in form.fields:
            bound = form[name]
            found += [{"id": bound.id_for_label or bound.auto_id, "text": str(text)} for text in bound.errors]
    return found
