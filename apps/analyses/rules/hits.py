"""What rules say about an assessment, and what follows for ranking and signature."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from django.utils.translation import gettext as _

from apps.analyses.rules.vocabulary import joined

SEVERITIES: Final = ("gate", "red", "amber", "banner", "info")  # in the order of the list
OPTIONS_PLACE: Final = "{options}"


def option_words(letters: Sequence[str]) -> str:
    """option A; options A, B and C."""
    if len(letters) == 1:
        return _("option %s") % letters[0]
    return _("options %s") % joined(letters)


@dataclass(frozen=True, kw_only=True)
class RuleHit:
    """One rule that speaks, for one option or for the assessment (`option_letter` None).

    `not_given` says that the rule could not be decided because facts are missing; `missing` names them. A waived hit
    stays in the list with the name of who took responsibility, and holds nothing back. `contested` says that the
    rule's threshold itself rests on a contested or recalled figure. `remedy` speaks of the one option; `remedy_for`
    says the same of several. `page` is the screen on which it is carried out.
    """

    rule_id: str
    severity: str
    title: str
    option_letter: str | None
    value_text: str
    threshold_text: str
    what: str
    remedy: str
    why: str
    source: str
    supplier: str
    waived_by: str | None = None
    waiver_reason: str = ""
    contested: bool = False
    not_given: bool = False
    missing: tuple[str, ...] = ()
    blocks: tuple[str, ...] = ()
    threshold_key: str | None = None
    threshold_version: int | None = None
    remedy_template: str = ""  # the remedy with the place {options} left open
    page: str = ""

    def remedy_for(self, letters: Sequence[str]) -> str:
        """The remedy for several options that share this hit."""
        return (
            self.remedy_template.replace(OPTIONS_PLACE, option_words(letters)) if self.remedy_template else self.remedy
        )

    @property
    def waived(self) -> bool:
        return self.waived_by is not None

    @property
    def open_gate(self) -> bool:
        return self.severity == "gate" and not self.waived


@dataclass(frozen=True, kw_only=True)
class Ranking:
    """Options in their order, and those that a gate holds back with what holds them."""

    letters: tuple[str, ...]
    unranked: Mapping[str, tuple[RuleHit, ...]]


def gates_of(hits: Iterable[RuleHit], letter: str) -> list[RuleHit]:
    """The open gates that hold one option out of the ranking; gates of the whole assessment hold every option."""
    return [hit for hit in hits if hit.open_gate and "ranking" in hit.blocks and hit.option_letter in (letter, None)]


def open_gates(hits: Iterable[RuleHit]) -> list[RuleHit]:
    """Every gate that is not waived: what stands between the assessment and a signature."""
    return [hit for hit in hits if hit.open_gate]


def ready_to_sign(hits: Iterable[RuleHit]) -> bool:
    """Whether no gate is open."""
    return not open_gates(hits)


def ranked_letters(hits: Sequence[RuleHit], ranking: Sequence[str]) -> Ranking:
    """`ranking` without the gated options, which are kept aside with their reasons."""
    gates = {letter: tuple(gates_of(hits, letter)) for letter in ranking}
    return Ranking(
        letters=tuple(letter for letter in ranking if not gates[letter]),
        unranked={letter: found for letter, found in gates.items() if found},
    )
