"""The frame around a screen: navigation, account links, the run shown, links that keep the state of the address."""

from typing import Any

from django import template
from django.http import HttpRequest
from django.urls import NoReverseMatch, reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _

from apps.reports import figures
from apps.web import navigation as screens
from apps.web.templatetags import marks

register = template.Library()


@register.simple_tag(takes_context=True)
def navigation(context: dict[str, Any]) -> list[dict[str, Any]]:
    """Groups of entries for the assessment that the page is about, or for the pages above assessments."""
    request = context.get("request")
    user = context.get("user")
    if request is None or user is None or not user.is_authenticated:
        return []
    match = getattr(request, "resolver_match", None)
    current = getattr(match, "url_name", "") or ""
    assessment = context.get("assessment")
    if assessment is not None and getattr(assessment, "pk", None):
        return screens.groups_for(assessment.pk, current, context.get("open_counts", {}))
    url = screens.address("portfolio")
    entry = {"url": url, "label": _("Portfolio"), "key": "p", "current": current == "portfolio"}
    return [{"label": _("Clients"), "entries": [entry]}] if url else []


@register.simple_tag
def home_url() -> str:
    return screens.address("portfolio") or "/"


@register.simple_tag
def search_url() -> str:
    return screens.address("search")


@register.simple_tag(takes_context=True)
def account_links(context: dict[str, Any]) -> list[dict[str, Any]]:
    """Pages about the person and the organisation, as far as this version has them."""
    request = context.get("request")
    path = getattr(request, "path", "")
    # Above assessments the portfolio is the first group of the navigation already.
    portfolio = (("web:portfolio", _("Portfolio")),) if context.get("assessment") else ()
    named = (
        *portfolio,
        ("web:people", _("People")),
        ("web:account", _("Your account")),
        ("account_logout", _("Sign out")),
    )
    links = []
    for name, label in named:
        try:
            url = reverse(name)
        except NoReverseMatch:
            continue
        links.append({"url": url, "label": label, "current": path == url})
    return links


@register.simple_tag
def run_label(run: Any) -> str:
    """Run 42 · 24 Nov 2026, 14:05."""
    when = run.finished_at or run.created_at
    return f"{_('Run')}{figures.NBSP}{run.number} · {figures.moment(when)}"


@register.simple_tag(takes_context=True)
def state_url(context: dict[str, Any], **changes: Any) -> str:
    """The address of this screen with some of its state changed; None and empty text take a name out."""
    return _state_url(context["request"], changes)


def _state_url(request: HttpRequest, changes: dict[str, Any]) -> str:
    query = request.GET.copy()
    for name in ("format", "table"):
        query.pop(name, None)
    for name, value in changes.items():
        if value is None or value == "":
            query.pop(name, None)
        else:
            query[name] = str(value)
    return f"{request.path}?{query.urlencode()}" if query else request.path


@register.simple_tag(takes_context=True)
def view_link(context: dict[str, Any], id: str, label: str, now: str, value: str, **changes: Any) -> SafeString:
    """One side of a segment: a plain link that htmx follows by replacing the screen; pressed when `now` is `value`."""
    return _view_link(context["request"], id, label, pressed=now == value, changes=changes)


def _view_link(
    request: HttpRequest,
    id: str,
    label: Any,
    *,
    pressed: bool,
    changes: dict[str, Any],
    css: str = "",
) -> SafeString:
    return format_html(
        '<a id="{}"{} href="{}" hx-get="{}" hx-target="#screen" hx-swap="outerHTML" hx-push-url="true"{}>{}</a>',
        id.replace("+", "-plus"),
        format_html(' class="{}"', css) if css else "",
        url := _state_url(request, changes),
        url,
        mark_safe(' aria-current="true"') if pressed else "",
        label,
    )


@register.simple_tag(takes_context=True)
def tick_link(context: dict[str, Any], name: str, label: str) -> SafeString:
    """A view switch that is on or off, such as "Differences only"."""
    request = context["request"]
    on = request.GET.get(name) == "1"
    changes = {name: None if on else "1"}
    return _view_link(request, f"tick-{name}", label, pressed=on, changes=changes, css="tick-link")


@register.simple_tag(takes_context=True)
def view_link_option(context: dict[str, Any], option: Any, selected: str) -> SafeString:
    """The name of an option as a link that selects it."""
    label = marks.option_inner(option)
    changes = {"option": option.key, "against": None, "how": None}
    id_ = f"select-{option.key}"
    request = context["request"]
    return _view_link(request, id_, label, pressed=option.key == selected, changes=changes, css="option-name")


@register.simple_tag(takes_context=True)
def how_link(context: dict[str, Any], figure: str, text: str, css: str = "") -> SafeString:
    """A figure that opens the panel with its formula and sources; without scripts the page comes with it open."""
    url = _state_url(context["request"], {"how": figure})
    return format_html(
        '<a class="how{}" href="{}#how-panel" hx-get="{}" hx-target="#how-panel" hx-swap="innerHTML" '
        'hx-replace-url="true" data-figure="{}" aria-expanded="{}"><bdi dir="ltr">{}</bdi>'
        '<span class="visually-hidden">, {}</span></a>',
        f" {css}" if css else "",
        url,
        url,
        figure,
        "true" if context.get("selected_figure") == figure else "false",
        text,
        _("how?"),
    )


@register.simple_tag
def screen_url(name: str, *arguments: Any) -> str:
    """The address of a screen, or nothing when this version has no such screen."""
    return screens.address(name, *arguments)
