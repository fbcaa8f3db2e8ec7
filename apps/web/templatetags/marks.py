"""Small marks drawn as inline SVG: option markers, glyphs, range bars, evidence ladders, segmented progress.

Positions along a bar are percentages of the SVG's own width, so a bar needs no script and no fixed size. Sizes stand in
attributes, as the content security policy forbids style attributes.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from django import template
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _

from apps.vendors.models import EvidenceLevel

register = template.Library()

# Shapes around 0, 0, about 11 wide.
MARKERS = {
    0: '<path class="mark-shape" d="M-4-4 4 4M4-4-4 4"/>',
    1: '<circle class="mark-shape" r="5"/>',
    2: '<rect class="mark-shape" x="-4.6" y="-4.6" width="9.2" height="9.2"/>',
    3: '<path class="mark-shape" d="M0-6 6 0 0 6-6 0Z"/>',
    4: '<path class="mark-shape" d="M0-5.6 5.8 4.6-5.8 4.6Z"/>',
    5: '<path class="mark-shape" d="M0-5.6 5.4-1.7 3.3 4.6-3.3 4.6-5.4-1.7Z"/>',
    6: '<circle class="mark-shape" r="4.6"/>',
}
GLYPHS = {
    "gate": '<rect class="shape" x="0" y="0" width="12" height="12" rx="2"/><path class="bar" d="M3 6h6"/>',
    "red": '<path class="shape" d="M3.6.6h4.8l3 3v4.8l-3 3H3.6l-3-3V3.6Z"/>',
    "amber": '<path class="shape" d="M6 1 11.4 11H.6Z"/>',
    "info": '<circle class="shape" cx="6" cy="6" r="5"/>',
    "done": '<path class="shape" d="m1.5 6.5 3 3 6-7"/>',
}
LADDER = (
    EvidenceLevel.CLAIM,
    EvidenceLevel.SPECIFICATION,
    EvidenceLevel.THIRD_PARTY,
    EvidenceLevel.THIRD_PARTY_MATCHING,
    EvidenceLevel.OWN_MEASUREMENT,
)


def shape(slot: int) -> SafeString:
    return mark_safe(MARKERS.get(slot, MARKERS[6]))  # noqa: S308 - a constant of this module


def slot_class(slot: int) -> str:
    return f"slot-{slot if slot in MARKERS else 6}"


@register.simple_tag
def mark(slot: int) -> SafeString:
    """The marker of an option, always followed by its letter."""
    return format_html(
        '<svg class="mark {}" width="12" height="12" viewBox="-6.5 -6.5 13 13" aria-hidden="true">{}</svg>',
        slot_class(slot),
        shape(slot),
    )


@register.simple_tag
def option_label(option: Any, name: bool = True) -> SafeString:
    """Marker, letter and name of an option: a model row or anything with letter, slot and name."""
    return format_html('<span class="option-name">{}</span>', option_inner(option, name))


def option_inner(option: Any, name: bool = True) -> SafeString:
    words = format_html("<span>{}</span>", option.name) if name else ""
    return format_html('{}<b><bdi dir="ltr">{}</bdi></b>{}', mark(option.slot), option.letter, words)


@register.simple_tag
def option_marks(options: Iterable[Any]) -> SafeString:
    return format_html(
        '<span class="option-list">{}</span>', format_html_join("", "{}", ((option_label(o, False),) for o in options))
    )


@register.simple_tag
def glyph(severity: str) -> SafeString:
    """The glyph of a severity; the word or the rule id stands beside it."""
    return format_html(
        '<svg class="glyph glyph-{}" viewBox="0 0 12 12" width="12" height="12" aria-hidden="true">{}</svg>',
        severity,
        mark_safe(GLYPHS[severity]),  # noqa: S308 - a constant of this module
    )


def severity_word(severity: str) -> str:
    return {"gate": _("Gate"), "red": _("Red"), "amber": _("Amber"), "info": _("Info"), "banner": _("Info")}[severity]


@register.simple_tag
def severity(name: str, rule_id: str = "") -> SafeString:
    shown = "info" if name == "banner" else name
    return format_html(
        '<span class="severity">{}<span>{}</span> <span class="rule-id">{}</span></span>',
        glyph(shown),
        severity_word(name),
        rule_id,
    )


def _percent(value: float, low: float, high: float) -> float:
    """Where a value stands on the scale; what lies outside, such as a baseline, stands at the edge."""
    return round(100 * min(1.0, max(0.0, (value - low) / (high - low))), 2) if high > low else 50.0


@register.simple_tag
def range_bar(distribution: dict[str, Any], scale: Sequence[float], slot: int, height: int = 16) -> SafeString:
    """Band P10–P90, tick P50 and marker at likely on the scale that the whole column shares.

    The numbers stand in words beside the bar, so it is hidden from screen readers.
    """
    low, high = float(scale[0]), float(scale[1])
    middle = height / 2
    parts = [format_html('<line class="scale" x1="0" x2="100%" y1="{0}" y2="{0}"/>', middle)]
    if low < 0 < high:
        parts.append(
            format_html('<line class="zero" x1="{0}%" x2="{0}%" y1="1" y2="{1}"/>', _percent(0, low, high), height - 1)
        )
    p10, p50, p90 = (distribution.get(name) for name in ("p10", "p50", "p90"))
    if p10 is not None and p90 is not None:
        start, end = _percent(p10, low, high), _percent(p90, low, high)
        parts.append(
            format_html(
                '<rect class="band" x="{}%" width="{}%" y="{}" height="5"/>', start, round(end - start, 2), middle - 2.5
            )
        )
    if p50 is not None:
        parts.append(
            format_html(
                '<line class="p50" x1="{0}%" x2="{0}%" y1="{1}" y2="{2}"/>',
                _percent(p50, low, high),
                middle - 5,
                middle + 5,
            )
        )
    parts.append(
        format_html(
            '<svg x="{}%" y="{}" overflow="visible"><g transform="scale(.78)">{}</g></svg>',
            _percent(distribution["likely"], low, high),
            middle,
            shape(slot),
        )
    )
    body = format_html_join("", "{}", ((part,) for part in parts))
    return format_html(
        '<svg class="range-bar {}" height="{}" aria-hidden="true">{}</svg>', slot_class(slot), height, body
    )


@register.simple_tag
def ladder(level: str, size: str = "table") -> SafeString:
    """Five rising bars, filled as far as the evidence reaches; the level in words stands beside it."""
    reached = LADDER.index(EvidenceLevel(level)) + 1 if level and level != EvidenceLevel.NONE else 0
    width, height = (26, 14) if size == "table" else (20, 10)
    step = width / 5
    bars = format_html_join(
        "",
        '<rect x="{}" y="{}" width="{}" height="{}"{}/>',
        (
            (
                round(i * step + 0.5, 2),
                round(height - bar - 0.5, 2),
                round(step - 1.6, 2),
                round(bar, 2),
                mark_safe(' class="reached"') if i < reached else "",
            )
            for i, bar in enumerate((height - 1) * (0.24 + 0.19 * i) for i in range(5))
        ),
    )
    return format_html(
        '<svg class="ladder" width="{0}" height="{1}" viewBox="0 0 {0} {1}" aria-hidden="true">{2}</svg>',
        width,
        height,
        bars,
    )


def level_word(level: str) -> str:
    return str(EvidenceLevel(level or EvidenceLevel.NONE).label)


@register.simple_tag
def evidence_words(level: str) -> SafeString:
    return format_html("<span>{} {}</span>", ladder(level), level_word(level))


@register.simple_tag
def progress(done: float, total: float) -> SafeString:
    """A bar of `done` in `total`; the counts stand in words beside it."""
    share = 100 * done / total if total else 0
    return format_html(
        '<svg class="progress" height="8" aria-hidden="true"><rect class="track" x="0" y="0" width="100%" height="8"/>'
        '<rect class="done" x="0" y="0" width="{}%" height="8"/></svg>',
        round(min(100.0, share), 1),
    )


@register.simple_tag
def segments(counts: Sequence[tuple[str, int]]) -> SafeString:
    """A bar of counts by class (done, errors, open, track), in order, with small gaps."""
    total = sum(count for _name, count in counts) or 1
    parts, start = [], 0.0
    for name, count in counts:
        width = 100 * count / total
        if count:
            parts.append((name, round(start, 2), round(max(0.4, width - 0.3), 2)))
        start += width
    body = format_html_join("", '<rect class="{}" x="{}%" y="0.5" width="{}%" height="7"/>', parts)
    return format_html('<svg class="progress" height="8" aria-hidden="true">{}</svg>', body)


@register.simple_tag
def swing_bar(driver: Any, slot: int) -> SafeString:
    """A bar from the total at one end of an input's range to the total at the other, with a tick at likely."""
    return format_html(
        '<svg class="range-bar {}" height="16" aria-hidden="true"><rect class="band" x="{}%" width="{}%" y="3" '
        'height="10"/><line class="likely" x1="{}%" x2="{}%" y1="1" y2="15"/></svg>',
        slot_class(slot),
        driver.start,
        max(0.6, round(driver.end - driver.start, 2)),
        driver.likely,
        driver.likely,
    )


@register.simple_tag
def level_words(level: str) -> str:
    return level_word(level)


ROW_PX = 26


@register.simple_tag
def waterfall_ticks(waterfall: Any) -> SafeString:
    """The numbers of the axis above the bars."""
    last = len(waterfall.ticks) - 1
    texts = format_html_join(
        "",
        '<text x="{}%" y="12" text-anchor="{}">{}</text>',
        (
            (place, "start" if i == 0 else "end" if i == last else "middle", words)
            for i, (place, words) in enumerate(waterfall.ticks)
        ),
    )
    return format_html('<svg height="16">{}</svg>', texts)


@register.simple_tag
def waterfall_bar(waterfall: Any, step: Any, first: bool, last: bool) -> SafeString:
    """One row: the grid behind it, its bar or marker, and the connectors to the rows around it."""
    grid = format_html_join(
        "",
        '<line class="grid-line" x1="{0}%" x2="{0}%" y1="0" y2="{1}"/>',
        ((place, ROW_PX) for place, _words in waterfall.ticks),
    )
    middle = ROW_PX / 2
    above = (
        ""
        if first
        else format_html('<line class="connector" x1="{0}%" x2="{0}%" y1="0" y2="{1}"/>', step.start, middle - 6)
    )
    below = (
        ""
        if last
        else format_html(
            '<line class="connector" x1="{0}%" x2="{0}%" y1="{1}" y2="{2}"/>', step.end, middle + 6, ROW_PX
        )
    )
    if step.kind == "total":
        body = format_html(
            '<svg class="{}" x="{}%" y="{}" overflow="visible">{}</svg>',
            slot_class(step.option.slot),
            step.start,
            middle,
            shape(step.option.slot),
        )
    else:
        start, width = min(step.start, step.end), round(abs(step.end - step.start), 3)
        body = format_html(
            '<rect class="{}" x="{}%" width="{}%" y="{}" height="12"/>', step.kind, start, max(0.15, width), middle - 6
        )
    return format_html('<svg height="{}" aria-hidden="true">{}{}{}{}</svg>', ROW_PX, grid, above, below, body)
