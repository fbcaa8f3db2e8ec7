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
    """A decimal number with a point or a comma, or nothing, which means not given.

    Commas that group thousands are understood where they can be nothing else; 1,234 is refused with both readings.
    """

    whole = False  # whether it can have no decimals, so that 1,234 has one reading

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
            text = self._with_point(text, str(value).strip())
        try:
            number = Decimal(text)
        except InvalidOperation:
            number = Decimal("NaN")
        if not number.is_finite():
            raise self._must_be(str(value), _("a number such as 1250.5, or empty if it was not given"))
        return number

    def _with_point(self, text: str, typed: str) -> str:
        """The text as one with a decimal point; what has no single reading stays and is refused as no number."""
        whole, _comma, rest = text.rpartition(",")
        if "." not in text and text.count(",") == 1 and rest:
            if _grouped(text, ",") and not self.whole:
                thousands, fraction = text.replace(",", ""), text.replace(",", ".")
                raise ValidationError(
                    _("%(name)s is “%(found)s”, which can be %(thousands)s or %(fraction)s; write one of them so."),
                    params={
                        "name": self.label,
                        "found": typed[:60],
                        "thousands": thousands,
                        "fraction": fraction,
                    },
                )
            return text.replace(",", "" if _grouped(text, ",") else ".")
        if "." in rest:  # 1,234.5
            grouped, _dot, decimals = text.partition(".")
            return f"{grouped.replace(',', '')}.{decimals}" if _grouped(grouped, ",") else text
        if "." in whole and "," not in whole:  # 1.234,5
            return f"{whole.replace('.', '')}.{rest}" if _grouped(whole, ".") else text
        return text.replace(",", "") if _grouped(text, ",") else text

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

    whole = True

    def to_python(self, value: Any) -> Any:
        number = super().to_python(value)
        if number is None:
            return None
        if number != number.to_integral_value():
            raise self._must_be(str(value), _("a whole number"))
        if abs(number) >= 2**31:
            raise self._must_be(str(value), _("less than %s") % f"{2**31:,}")
        return int(number)


def _grouped(whole: str, separator: str) -> bool:
    """Whether a text is digits in groups of three, as 1,234,567; a first group of 0 is none."""
    groups = whole.lstrip("-+").split(separator)
    first = groups[0]
    digits = all(group.isdecimal() for group in groups)
    return digits and 1 <= len(first) <= 3 and first[0] != "0" and all(len(group) == 3 for group in groups[1:])


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
