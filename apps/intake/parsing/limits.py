"""How large an upload may be; each limit is named, with what was found, in the message that refuses a file."""

FILE_BYTES = 20_000_000
UNPACKED_BYTES = 100_000_000
PART_BYTES = 50_000_000
ARCHIVE_ENTRIES = 200
SHEETS = 50
LINES = 10_000
COLUMNS = 200
CELL_CHARACTERS = 10_000
JSON_DEPTH = 50
WALL_S = 30
CPU_S = 30
MEMORY_BYTES = 1_000_000_000
OPEN_FILES = 32

INTEGER_DIGITS = 18  # what the money columns of the database hold before the point
DECIMAL_PLACES = 10  # and behind it

PREVIEW_ROWS = 200  # rows of a sheet that the preview shows as found
PREVIEW_CHARACTERS = 200
MESSAGES = 500  # beyond that the rest is counted, not listed


def megabytes(n_bytes: int) -> str:
    """Return a size as people read it, such as 20 MB or 50.1 MB."""
    return f"{n_bytes / 1e6:.1f} MB".replace(".0 MB", " MB")
