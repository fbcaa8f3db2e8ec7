"""Reads a vendor's quote from bytes. No Django here: it runs in a child process with nothing but the file.

`quote.parse` gives the result document of docs/import.md; `process.parse_in_child` runs it under limits.
"""
