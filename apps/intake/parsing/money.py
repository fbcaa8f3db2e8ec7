"""Currencies: which codes exist, what symbols may stand for, and how they stand beside a number."""

import re

# ISO 4217, codes of national money in use.
CODES = frozenset(
    """
    AED AFN ALL AMD ANG AOA ARS AUD AWG AZN BAM BBD BDT BHD BIF BMD BND BOB BRL BSD BTN BWP BYN BZD CAD CDF CHF
    CLP CNY COP CRC CUP CVE CZK DJF DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GNF GTQ GYD HKD HNL
    HTG HUF IDR ILS INR IQD IRR ISK JMD JOD JPY KES KGS KHR KMF KPW KRW KWD KYD KZT LAK LBP LKR LRD LSL LYD MAD
    MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MYR MZN NAD NGN NIO NOK NPR NZD OMR PAB PEN PGK PHP PKR PLN PYG
    QAR RON RSD RUB RWF SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SYP SZL THB TJS TMT TND TOP TRY TTD TWD
    TZS UAH UGX USD UYU UZS VES VND VUV WST XAF XCD XOF XPF YER ZAR ZMW
    """.split()  # noqa: SIM905 - a list of words reads better than 150 lines
)
# Codes that no new quote should carry, with what took their place.
CLOSED = {"BGN": "EUR", "HRK": "EUR", "LTL": "EUR", "LVL": "EUR", "EEK": "EUR", "DEM": "EUR", "FRF": "EUR"}
SYMBOLS: dict[str, tuple[str, ...]] = {
    "€": ("EUR",),
    "£": ("GBP",),
    "$": ("USD", "CAD", "AUD", "NZD", "SGD", "HKD", "TWD", "MXN"),
    "¥": ("JPY", "CNY"),
    "₹": ("INR",),
    "₩": ("KRW",),
    "₺": ("TRY",),
    "₽": ("RUB",),
    "zł": ("PLN",),
    "kr": ("SEK", "NOK", "DKK"),
    "US$": ("USD",),
    "C$": ("CAD",),
    "CA$": ("CAD",),
    "A$": ("AUD",),
    "AU$": ("AUD",),
    "NZ$": ("NZD",),
    "S$": ("SGD",),
    "HK$": ("HKD",),
    "NT$": ("TWD",),
    "R$": ("BRL",),
    "CN¥": ("CNY",),
    "Fr.": ("CHF",),
    "SFr.": ("CHF",),
    "лв": ("BGN",),
}
_MARKS = "|".join(re.escape(symbol) for symbol in sorted(SYMBOLS, key=len, reverse=True))
_BEFORE = re.compile(rf"({_MARKS}|[A-Za-z]{{3}})\s*(?=[-+(\u2212.,\d])")
_AFTER = re.compile(rf"(?<=[\d)\-–—])\s*({_MARKS}|[A-Za-z]{{3}})$")


def split_currency(text: str) -> tuple[str, str]:
    """Return the currency mark before or after a number, as written, and the rest; the mark is empty if none stands."""
    before = _BEFORE.match(text)
    if before and known_mark(before[1]):
        return before[1], text[before.end() :].strip()
    after = _AFTER.search(text)
    if after and known_mark(after[1]):
        return after[1], text[: after.start()].strip()
    return "", text


def known_mark(mark: str) -> bool:
    return mark in SYMBOLS or mark.upper() in CODES or mark.upper() in CLOSED


def candidates(mark: str) -> tuple[str, ...]:
    """The codes a mark may stand for, the most likely first; empty for an unknown mark."""
    if mark in SYMBOLS:
        return SYMBOLS[mark]
    code = mark.upper()
    return (code,) if code in CODES or code in CLOSED else ()
