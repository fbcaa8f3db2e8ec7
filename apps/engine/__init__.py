"""The arithmetic: numpy arrays in, numpy arrays out. No Django, files, clock or network."""

__version__ = "1.0.0"
