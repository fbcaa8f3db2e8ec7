"""Which row of the comparison a quoted line stands in, and what that row is called."""

import re

from django.utils.text import slugify

from apps.vendors.models import LineKind, QuoteLine

# row -> caption
ROW_LABELS = {
    "compute_nodes": "Compute nodes",
    "switches": "Switches",
    "links": "Links with optics",
    "fabric": "Fabric",
    "storage": "Storage",
    "installation": "Installation, onboarding",
    "gpu_rental": "GPU rental",
    "gpu_commitment_unused": "Committed hours not used",
    "gpu_on_demand": "GPU rental, on demand",
    "gpu_spot": "GPU rental, spot",
    "storage_rental": "Storage rental",
    "egress": "Egress",
    "network": "Network",
    "compute_support": "Compute support",
    "fabric_storage_support": "Fabric and storage support",
    "facility": "Facility",
    "electricity": "Electricity",
    "demand_charge": "Demand charge",
    "insurance": "Insurance",
    "staff": "Staff",
    "bridge": "Cloud until ready",
    "residual_compute": "Residual, compute",
    "residual_fabric": "Residual, fabric",
    "residual_storage": "Residual, storage",
}

# (kind, charge or "" for either, words in the description, row); the first that fits
_RULES = (
    (LineKind.COMPUTE, "one_off", r"", "compute_nodes"),
    (LineKind.COMPUTE, "recurring", r"", "gpu_rental"),
    (LineKind.FABRIC, "one_off", r"switch", "switches"),
    (LineKind.FABRIC, "one_off", r"link|optic|cable|transceiver", "links"),
    (LineKind.FABRIC, "one_off", r"", "fabric"),
    (LineKind.FABRIC, "recurring", r"", "network"),
    (LineKind.STORAGE, "one_off", r"", "storage"),
    (LineKind.STORAGE, "recurring", r"", "storage_rental"),
    (LineKind.CLOUD, "", r"egress|transfer", "egress"),
    (LineKind.CLOUD, "", r"storage|\btb\b", "storage_rental"),
    (LineKind.CLOUD, "recurring", r"gpu|accelerator", "gpu_rental"),
    (LineKind.CLOUD, "one_off", r"", "installation"),
    (LineKind.SERVICE, "one_off", r"install|onboard|commission|set-up|setup", "installation"),
    (LineKind.SUPPORT, "", r"fabric|network|storage", "fabric_storage_support"),
    (LineKind.SUPPORT, "", r"", "compute_support"),
    (LineKind.FACILITY, "", r"", "facility"),
    (LineKind.STAFF, "", r"", "staff"),
)


def comparison_row(quote_line: QuoteLine) -> str:
    """The row given with the line, or one that follows from its kind and description."""
    if quote_line.comparison_key:
        return quote_line.comparison_key
    words = quote_line.description.lower()
    for kind, charge, pattern, row in _RULES:
        if quote_line.kind == kind and charge in ("", quote_line.charge) and re.search(pattern, words):
            return row
    return slugify(quote_line.description).replace("-", "_")[:60] or quote_line.kind


def row_label(row: str, description: str = "") -> str:
    return ROW_LABELS.get(row) or description or row.replace("_", " ").capitalize()
