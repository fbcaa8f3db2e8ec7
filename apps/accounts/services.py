"""Writes about people and clients."""

from apps.accounts.audit import record

__all__ = ["record"]
