"""How an option is paid, and the tax switch of the assessment."""

from collections.abc import Mapping, Sequence
from typing import Any

from apps.analyses.inputs.book import Caption, Range, source
from apps.analyses.inputs.context import Context
from apps.analyses.inputs.factors import SIGNATURE, Factor
from apps.analyses.inputs.phases import PhaseFacts
from apps.assessments.models import Option
from apps.engine.errors import InputError

# name -> caption of the figures each kind of financing needs
_FIGURES = {
    "loan": {"share": ("Loan, share of capital", "of capital"), "annual_rate": ("Loan, nominal rate", "per year")},
    "lease": {
        "annual_rate": ("Lease, implicit rate", "per year"),
        "residual_share": ("Lease, residual of the lessor", "of capital"),
    },
}
_DEFAULTS = {"share": "1", "residual_share": "0"}
_DEFAULT_TERM_MONTHS = 36


def financing_entry(context: Context, option: Option, phases: Sequence[PhaseFacts]) -> dict[str, Any]:
    """The FINANCING of the document; cash unless the option says otherwise."""
    stored = option.financing or {}
    kind = stored.get("kind", "cash")
    if kind == "cash":
        return {"kind": "cash"}
    if kind not in _FIGURES:
        raise InputError(f"Option {option.letter}, financing", kind, "cash, loan or lease")
    entry: dict[str, Any] = {"kind": kind, "term_months": _term(option, stored)}
    for name, (label, unit) in _FIGURES[kind].items():
        entry[name] = _figure(
            context, option, stored, name, Caption(label=f"{label}, option {option.letter}", unit=unit)
        )
    if kind == "lease":
        owned = [facts for facts in phases if not facts.cloud]
        starts = stored.get("starts", "delivery")
        entry["starts"] = SIGNATURE if starts == "signature" or not owned else owned[0].delivery
    return entry


def _term(option: Option, stored: Mapping[str, Any]) -> int:
    given = stored.get("term_months")
    text = str(_DEFAULT_TERM_MONTHS if given in (None, "") else given)
    if not text.isdecimal() or int(text) < 1:
        raise InputError(f"Option {option.letter}, financing.term_months", given, "a whole number of months from 1")
    return int(text)


def _figure(context: Context, option: Option, stored: Mapping[str, Any], name: str, caption: Caption) -> Factor:
    value = stored.get(name)
    if value in (None, ""):
        value = _DEFAULTS.get(name)
    if value is None:
        raise InputError(f"{caption.label}", "not given", "given for this kind of financing")
    origin = source("option", text=stored.get("source", ""), ref=f"financing.{name}")
    return context.book.add(f"{option.letter}.financing.{name}", Range.of(value, caption.label), caption, origin)


def tax_entry(context: Context) -> dict[str, Any] | None:
    """The TAX of the document; None while the switch is off, which is the usual view."""
    stored = context.assessment.tax or {}
    if not stored.get("enabled"):
        return None
    rate = context.assumption("tax_rate")
    if rate is None:
        raise InputError("tax_rate", "not given", "given while the tax view is on")
    life = context.assumption("book_life_months.compute")
    return {
        "rate": rate,
        "method": stored.get("method", "straight_line"),
        "life_months": life,
        "absorption": stored.get("absorption", "full"),
    }
