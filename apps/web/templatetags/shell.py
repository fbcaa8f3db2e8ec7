"""The frame around a screen: navigation, account links, the run shown, links that keep the state of the address."""

from typing import Any

from django import template
from django.urls import NoReverseMatch, reverse
from django.utils.translation import gettext as _

from apps.reports import figures
from apps.web import navigation as screens

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
    named = (
        ("web:portfolio", _("Portfolio")),
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
    """The address of this screen with some of its state changed; None takes a name out."""
    request = context["request"]
    query = request.GET.copy()
    query.pop("format", None)
    for name, value in changes.items():
        if value is None or value == "":
            query.pop(name, None)
        else:
            query[name] = str(value)
    return f"{request.path}?{query.urlencode()}" if query else request.path
