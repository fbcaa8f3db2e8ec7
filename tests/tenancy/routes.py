"""Every address of the project, read from the URL resolver."""

import re
from dataclasses import dataclass

from django.test import Client as Browser
from django.urls import URLPattern, URLResolver, get_resolver, reverse

METHODS = ("get", "head", "post", "put", "patch", "delete")


@dataclass(frozen=True)
class Route:
    name: str  # with its namespaces, empty for a route without a name
    pattern: str
    parameters: tuple[str, ...]


def all_routes() -> list[Route]:
    return _routes(get_resolver(), "", "")


def _routes(resolver: URLResolver, prefix: str, namespace: str) -> list[Route]:
    found: list[Route] = []
    for entry in resolver.url_patterns:
        pattern = prefix + str(entry.pattern)
        if isinstance(entry, URLResolver):
            inner = f"{namespace}{entry.namespace}:" if entry.namespace else namespace
            found += _routes(entry, pattern, inner)
        elif isinstance(entry, URLPattern):
            name = f"{namespace}{entry.name}" if entry.name else ""
            parameters = re.findall(r"<(?:[^:<>]+:)?(\w+)>", pattern)
            found.append(Route(name=name, pattern=pattern, parameters=tuple(parameters)))
    return found


def ours() -> list[Route]:
    """All routes but those of Django's administration, which is tested as a whole."""
    return [route for route in all_routes() if not route.pattern.startswith("admin/")]


def address(route: Route, values: dict[str, object]) -> str:
    return reverse(route.name, kwargs=values)


def answer(browser: Browser, method: str, url: str, ids: list[object], **extra: object) -> tuple[int, str]:
    """Status and body without what differs by itself: the ids asked for, tokens and the request id."""
    response = getattr(browser, method)(url, **extra)
    body = b"".join(response.streaming_content) if response.streaming else response.content
    text = body.decode(errors="replace")
    request_id = response.headers.get("X-Request-ID", "")
    for changing in [*ids, request_id, request_id[:12]]:  # error pages show its beginning
        if changing:
            text = text.replace(str(changing), "")
    text = re.sub(r'csrfmiddlewaretoken" value="[^"]+"', "", text)
    return response.status_code, text
