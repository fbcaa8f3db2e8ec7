"""Every constant of time and size, in one place.

Months, hours and weeks meet in money formulas, and published models disagree about them (720, 730, 8,760 and 8,766
hours all occur), so nothing outside this module may write such a number.
"""

HOURS_PER_YEAR = 8760  # 365 days
MONTHS_PER_YEAR = 12
HOURS_PER_MONTH = 730  # HOURS_PER_YEAR / MONTHS_PER_YEAR
DAYS_PER_YEAR = 365
DAYS_PER_WEEK = 7
HOURS_PER_DAY = 24
WEEKS_PER_MONTH = DAYS_PER_YEAR / MONTHS_PER_YEAR / DAYS_PER_WEEK
MONTHS_PER_WEEK = DAYS_PER_WEEK * MONTHS_PER_YEAR / DAYS_PER_YEAR

BITS_PER_BYTE = 8
W_PER_KW = 1000
BYTES_PER_GBYTE = 10**9
BYTES_PER_GIB = 2**30
DAYS_PER_JULIAN_YEAR = 365.25  # years between two dates
