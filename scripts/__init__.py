"""Helpers of dev.py: standard library only, since they run before anything is installed."""
