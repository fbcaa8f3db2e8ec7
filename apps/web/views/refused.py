"""A screen shown again after one of its forms was refused, with links that lead on from the screen itself."""

import copy

from django.http import HttpRequest
from django.urls import resolve


def as_screen(request: HttpRequest, address: str) -> HttpRequest:
    """The request as if the screen at `address` had been asked for, so that its links and its menu entry are right."""
    shown = copy.copy(request)
    shown.path = shown.path_info = address
    shown.resolver_match = resolve(address)
    return shown
