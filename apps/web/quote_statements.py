"""The sheet Claims of quotes: each statement with its level, the question it answers, and what it counts at."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from django.db.models import Q
from django.utils.translation import gettext as _

from apps.accounts.models import User
from apps.assessments.models import Assessment, OptionPhase
from apps.vendors.models import EvidenceLevel, QuoteLine, QuoteVersion
from apps.vendors.selectors import quote_versions_visible_to
from apps.web.quote_facts import capped, storage_lines, version_text

BISECTION, ALL_TO_ALL, CHECKPOINT = 1, 2, 3
# Topics in this order: "all-to-all bandwidth" is about the second question. A topic as broad as "fabric" or "storage"
# answers a question only with a statement that speaks of it.
_TOPICS: Final = (
    (ALL_TO_ALL, re.compile(r"all.?to.?all|expert|\bmoe\b", re.IGNORECASE)),
    (CHECKPOINT, re.compile(r"checkpoint|write (rate|throughput|speed)", re.IGNORECASE)),
    (BISECTION, re.compile(r"bisection|bandwidth|collective|all.?reduce|\bnccl\b", re.IGNORECASE)),
)
_BROAD: Final = re.compile(r"^\s*(fabric|network|networking|interconnect|storage|performance)\s*$", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class Statement:
    """One statement of a vendor, as the quote has it."""

    version: QuoteVersion
    topic: str
    statement: str
    stated: str  # the level that the sheet names
    level: str  # the level that it counts at
    remark: str  # why the two differ, or what to ask for
    source: str
    ref: str
    question: int | None

    @property
    def place(self) -> str:
        """Where the statement stands: the vendor's own source, then the cell of the quote."""
        return ", ".join(text for text in (self.source, self.ref) if text)

    @property
    def note(self) -> str:
        words = f"“{self.statement}” ({', '.join(text for text in (self.place, version_text(self.version)) if text)})"
        return f"{words}. {self.remark}" if self.remark else words


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What a quote says to one of the questions before signature: the best level stated, and every statement."""

    question: int
    level: str
    note: str
    refs: str


def question_of(topic: str, statement: str) -> int | None:
    """Which of the three mandatory questions a statement answers; a broad topic is settled by the statement."""
    words = f"{topic} {statement}" if _BROAD.match(topic) else topic
    return next((question for question, pattern in _TOPICS if pattern.search(words)), None)


def statements_of(version: QuoteVersion) -> list[Statement]:
    """The sheet Claims of one version, in its order."""
    found = []
    for claim in version.claims or []:
        topic, statement = str(claim.get("topic", "")), str(claim.get("statement", ""))
        stated = str(claim.get("evidence_level", ""))
        level, remark = capped(stated)
        found.append(
            Statement(
                version=version,
                topic=topic,
                statement=statement,
                stated=stated,
                level=level,
                remark=remark,
                source=str(claim.get("source", "")),
                ref=str(claim.get("ref", "")),
                question=question_of(topic, statement),
            )
        )
    return found


def answers_of(version: QuoteVersion, lines: Sequence[QuoteLine]) -> list[Answer]:
    """What the quote answers of the three questions, by number. A question without any statement is left out."""
    given = [*statements_of(version), *_write_rates(version, lines)]
    answers = []
    for question in (BISECTION, ALL_TO_ALL, CHECKPOINT):
        about = [one for one in given if one.question == question]
        if about:
            level = max((one.level for one in about), key=EvidenceLevel.values.index)
            refs = ", ".join(one.ref for one in about if one.ref)
            answers.append(Answer(question=question, level=level, note=" ".join(one.note for one in about), refs=refs))
    return answers


def _write_rates(version: QuoteVersion, lines: Iterable[QuoteLine]) -> list[Statement]:
    """A storage line with a write rate speaks to the third question at the level of the line."""
    found = []
    for line in storage_lines(lines):
        if line.write_gbyte_per_s is None:
            continue
        level, remark = capped(line.evidence_level)
        found.append(
            Statement(
                version=version,
                topic=_("storage line"),
                statement=line.description,
                stated=line.evidence_level,
                level=level,
                remark=remark,
                source="",
                ref=line.source_ref,
                question=CHECKPOINT,
            )
        )
    return found


def statements_of_phases(phases: Iterable[OptionPhase]) -> list[Statement]:
    """What the quotes of an option's phases state, each version once."""
    versions = {phase.quote_version.pk: phase.quote_version for phase in phases if phase.quote_version is not None}
    return [statement for version in versions.values() for statement in statements_of(version)]


def statements_in_quotes(user: User, assessment: Assessment) -> list[Statement]:
    """Statements of the client's current quotes, and of those that an option of the assessment is pinned to."""
    pinned = OptionPhase.objects.visible_to(user).filter(option__assessment=assessment, quote_version__isnull=False)
    current = ~Q(state=QuoteVersion.State.SUPERSEDED) | Q(pk__in=pinned.values("quote_version"))
    versions = quote_versions_visible_to(user).filter(current, client=assessment.client).exclude(claims=[])
    return [
        statement
        for version in versions.order_by("quote__vendor__name", "quote", "version")
        for statement in statements_of(version)
    ]
