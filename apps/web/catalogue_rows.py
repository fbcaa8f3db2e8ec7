"""The catalogue as one organisation sees it: items with their main figures, and one item with all of them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from apps.catalogue.columns import captions
from apps.catalogue.models import CatalogueValue, Kind
from apps.catalogue.selectors import Figure, Item
from apps.reports import figures

# The figures that tell items of one kind apart; all others are one click away.
MAIN_FIGURES: dict[str, tuple[str, ...]] = {
    Kind.ACCELERATOR: ("bf16_tflops", "fp8_tflops", "hbm_gb", "hbm_gb_s", "tdp_w"),
    Kind.NETWORK_PART: ("class", "ports", "port_gbps", "power_typ_w", "price_usd"),
    Kind.PRICE: ("value",),
    Kind.CLOUD_RATE: ("value",),
    Kind.MODEL: ("architecture", "params_b", "active_params_b", "layers", "hidden"),
}
FIRST = ""  # the column of an item's first main figure, whatever it is
PRICED = (Kind.PRICE, Kind.CLOUD_RATE)  # kinds that hold in a region
KIND_WORDS = {
    Kind.ACCELERATOR: lambda n: ngettext("%d accelerator", "%d accelerators", n) % n,
    Kind.NETWORK_PART: lambda n: ngettext("%d network part", "%d network parts", n) % n,
    Kind.PRICE: lambda n: ngettext("%d market price", "%d market prices", n) % n,
    Kind.CLOUD_RATE: lambda n: ngettext("%d cloud rate", "%d cloud rates", n) % n,
    Kind.MODEL: lambda n: ngettext("%d model shape", "%d model shapes", n) % n,
}


@dataclass(frozen=True, kw_only=True)
class Column:
    """One column of main figures; prices have their unit in each row."""

    name: str
    label: str
    unit: str


@dataclass(frozen=True, kw_only=True)
class Cell:
    """One figure as shown."""

    name: str
    label: str
    value: str
    range: str
    unit: str
    mark: str  # read, memory, derived, own
    mark_words: str
    source: str
    source_url: str
    as_of: str
    caution: str
    author: str
    product_value: str
    numeric: bool

    @property
    def own(self) -> bool:
        return self.mark == CatalogueValue.Basis.OWN

    @property
    def recalled(self) -> bool:
        return self.mark == CatalogueValue.Basis.MEMORY


@dataclass(frozen=True, kw_only=True)
class Row:
    """One item: its main figures, and how its figures were obtained."""

    item: Item
    cells: list[Cell | None]
    source: str
    as_of: str
    marks: str

    @property
    def region(self) -> str:
        """Where a price holds; hardware and models have no region."""
        return self.item.region or (figures.not_given() if self.item.kind in PRICED else "")


def mark_words(basis: str) -> str:
    """A short word for how a figure was obtained."""
    return {
        CatalogueValue.Basis.READ: _("read"),
        CatalogueValue.Basis.MEMORY: _("recalled"),
        CatalogueValue.Basis.DERIVED: _("derived"),
        CatalogueValue.Basis.OWN: _("own"),
    }[CatalogueValue.Basis(basis)]


def cell(figure: Figure) -> Cell:
    """The figure in the words of the screen; digits stay as the source has them, grouped where they are a number."""
    number = figure.number
    if number is not None and figure.unit in ("", "year", "1 is yes"):
        value = figure.value
    else:
        value = figures.plain(number) if number is not None else figure.value
    return Cell(
        name=figure.name,
        label=figure.label,
        value=value,
        range=_range(figure),
        unit=figure.unit,
        mark=figure.basis,
        mark_words=mark_words(figure.basis),
        source=figure.source,
        source_url=figure.source_url if figure.source_url.startswith(("https://", "http://")) else "",
        as_of=figure.as_of,
        caution=figure.caution,
        author=figure.author,
        product_value=figure.product_value if figure.own else "",
        numeric=number is not None,
    )


def _range(figure: Figure) -> str:
    if not (figure.low and figure.high):
        return ""
    try:
        return figures.range_text(figure.low, figure.high, figures.plain)
    except ArithmeticError:
        return f"{figure.low}{figures.EN_DASH}{figure.high}"


def columns_of(kind: str, rows: Sequence[Item]) -> list[Column]:
    """The main figures of a kind, with the unit that all rows share; over all kinds, the first of each item."""
    if not kind:
        return [Column(name=FIRST, label=_("First figure"), unit="")]
    found = []
    for name in MAIN_FIGURES.get(kind, ()):
        units = {item.figures[name].unit for item in rows if name in item.figures}
        shared = units.pop() if len(units) == 1 and kind not in PRICED else ""
        found.append(Column(name=name, label=captions().get(name, name), unit=shared))
    return found


def item_rows(items: Sequence[Item], columns: Sequence[Column]) -> list[Row]:
    """The items in the order of the catalogue."""
    return [_row(item, columns) for item in items]


def _row(item: Item, columns: Sequence[Column]) -> Row:
    shown = [_cell_in(item, column) for column in columns]
    given = list(item.figures.values())
    first = next((c for c in shown if c), cell(given[0]) if given else None)
    counts = {basis: sum(1 for figure in given if figure.basis == basis) for basis in CatalogueValue.Basis.values}
    words = [
        mark_words(basis) if n == len(given) else _("%(n)d %(mark)s") % {"n": n, "mark": mark_words(basis)}
        for basis, n in counts.items()
        if n
    ]
    return Row(
        item=item,
        cells=shown,
        source=first.source if first else "",
        as_of=first.as_of if first else "",
        marks=", ".join(words),
    )


def _cell_in(item: Item, column: Column) -> Cell | None:
    """The figure of the column, None where it is not given; the first figure says what it is beside its unit."""
    if column.name != FIRST:
        return cell(item.figures[column.name]) if column.name in item.figures else None
    name = next((name for name in MAIN_FIGURES.get(item.kind, ()) if name in item.figures), "")
    if not name:
        return None
    found = cell(item.figures[name])
    caption = found.label if item.kind not in PRICED else ""
    return replace(found, unit=", ".join(words for words in (caption, found.unit) if words))


def finding(items: Sequence[Item], kind: str) -> tuple[str, str]:
    """Heading and deck: how many items there are, and how many of their figures are recalled."""
    given = [figure for item in items for figure in item.figures.values()]
    recalled = sum(1 for figure in given if figure.basis == CatalogueValue.Basis.MEMORY)
    own = sum(1 for figure in given if figure.own)
    count = KIND_WORDS[Kind(kind)](len(items)) if kind else ngettext("%d item", "%d items", len(items)) % len(items)
    heading = _("%(items)s, %(recalled)s of %(n)s figures recalled") % {
        "items": count,
        "recalled": figures.plain(recalled),
        "n": figures.plain(len(given)),
    }
    if not recalled:
        heading = _("%(items)s, every figure with its source") % {"items": count}
    deck = _("Public facts for defaults and plausibility, never a quote. A recalled figure is to be confirmed.")
    if own:
        deck += " " + ngettext("%d figure is your own.", "%d figures are your own.", own) % own
    return heading, deck


def csv_rows(rows: Sequence[Row], columns: Sequence[Column], kind_words: dict[str, str]) -> list[list[str]]:
    """The table as shown: a value and its range for each column, units in the head or in a column of their own."""
    heads = [f"{c.label}, {c.unit}" if c.unit else c.label for c in columns]
    shown = [[row.cells[i] for row in rows] for i in range(len(columns))]
    ranged = [any(found.range for found in cells if found) for cells in shown]
    united = [
        not column.unit and any(found.unit for found in cells if found)
        for column, cells in zip(columns, shown, strict=True)
    ]
    head = [_("Kind"), _("Item"), _("Maker"), _("Region")]
    for name, has_range, has_unit in zip(heads, ranged, united, strict=True):
        head += [name, *([_("Range")] if has_range else []), *([_("Unit")] if has_unit else [])]
    table = [[*head, _("Source"), _("As of"), _("Mark")]]
    for row in rows:
        line = [kind_words.get(row.item.kind, row.item.kind), row.item.name, row.item.vendor, row.region]
        for one, has_range, has_unit in zip(row.cells, ranged, united, strict=True):
            line.append(one.value if one else figures.not_given())
            line += [one.range if one else ""] if has_range else []
            line += [one.unit if one else ""] if has_unit else []
        table.append([*line, row.source, row.as_of, row.marks])
    return table
