"""Which screens the navigation names, in which group, and which key leads there.

An entry appears when its address exists, so a screen that is added later only has to be named here.
"""

from dataclasses import dataclass
from typing import Any

from django.urls import NoReverseMatch, reverse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _


@dataclass(frozen=True)
class Screen:
    """One entry: the names of its address and of those below it, and the letter after `g`."""

    url_name: str
    label: Promise
    key: str
    also: tuple[str, ...] = ()


GROUPS: tuple[tuple[Promise, tuple[Screen, ...]], ...] = (
    (_("Decide"), (Screen("decision", _("Decision"), "d"),)),
    (
        _("Inputs"),
        (
            Screen("start", _("Start"), "b"),
            Screen("quotes", _("Quotes"), "q", ("intake", "import_preview", "quote")),
            Screen("configuration", _("Configuration"), "c", ("configuration", "option")),
            Screen("roadmap", _("Roadmap"), "r", ("add_roadmap_item", "roadmap_item")),
            Screen("assumptions", _("Assumptions"), "s"),
        ),
    ),
    (_("Cost and speed"), (Screen("tco", _("TCO"), "t"),)),
    (_("Evidence"), (Screen("claims", _("Claims"), "l", ("add_claim",)),)),
    (_("Output"), (Screen("activity", _("Activity"), "a"),)),
)


def address(name: str, *arguments: Any) -> str:
    """The address of a screen, or nothing when this version has no such screen."""
    try:
        return reverse(f"web:{name}", args=arguments)
    except NoReverseMatch:
        return ""


def groups_for(assessment_id: Any, current: str, counts: dict[str, int]) -> list[dict[str, Any]]:
    """The groups that have a screen, each entry with its address and how much is open there."""
    groups = []
    for label, screens in GROUPS:
        entries = [
            {
                "url": url,
                "label": screen.label,
                "key": screen.key,
                "current": current == screen.url_name or current.startswith(screen.also or ("\0",)),
                "count": counts.get(screen.url_name, 0),
            }
            for screen in screens
            if (url := address(screen.url_name, assessment_id))
        ]
        if entries:
            groups.append({"label": label, "entries": entries})
    return groups
