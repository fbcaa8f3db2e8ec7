"""The fields of a quote, what each holds, and by which headings vendors call them."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Field:
    """One field: what kind of value it takes and its plausible band, outside which it is asked."""

    kind: str  # text, number, money, percent, choice, flag, date, currency, special
    label: str
    names: str = ""  # headings that mean it, besides its own name, parted by |
    maybe: str = ""  # headings that may mean it: asked once and remembered
    low: str | None = None
    high: str | None = None
    section: str = ""  # of the fields that stand once in a quote: quote, terms, fabric


LINE_FIELDS: dict[str, Field] = {
    "line": Field("special", "Line", "pos|position|no|nr|line no|line number|item no|lfd nr|#|posten|poste"),
    "kind": Field("choice", "Kind", "type|category|art|typ|kategorie|catégorie|line type|warengruppe", "group|class"),
    "description": Field(
        "text",
        "Description",
        "item|product|article|bezeichnung|beschreibung|artikel|leistung|désignation|libellé|produit|item description"
        "|product description|product name|artikelbezeichnung|line item|item name",
        "name|details|specification|model|service|text",
    ),
    "part_number": Field(
        "text",
        "Part number",
        "part no|part nr|art no|art nr|p n|pn|sku|mpn|product code|part|article number|article no"
        "|artikelnummer|artikelnr|artikel nr"
        "|référence article|code article|item code|product number|teilenummer",
        "référence|code|id|bestellnummer",
    ),
    "quantity": Field("number", "Quantity", "qty|count|menge|anzahl|stück|stk|qté|quantité|nombre|units ordered|q ty"),
    "unit": Field("text", "Unit", "uom|unit of measure|einheit|me|unité|u m"),
    "unit_price_low": Field(
        "money",
        "Price, low",
        "price low|low price|low|price from|from|lowest price|min price|price min|preis min|preis niedrig"
        "|prix min|prix bas",
    ),
    "unit_price_likely": Field(
        "money",
        "Price, likely",
        "unit price|price|offer price|offered price|quoted price|expected price|price likely|likely price"
        "|likely|price each|unit cost|net price|net unit price|einzelpreis"
        "|preis|stückpreis|ep|preis pro einheit|prix unitaire|prix|pu|pu ht|prix unitaire ht|unit price net|each",
        "list price|rate|cost|listenpreis|prix catalogue|tarif|value",
    ),
    "unit_price_high": Field(
        "money",
        "Price, high",
        "price high|high price|high|price to|highest price|up to|max price|price max|preis max|preis hoch"
        "|prix max|prix haut",
    ),
    "line_total": Field(
        "money",
        "Line total",
        "line total likely|total|amount|extended price|ext price|extended|gesamtpreis|gesamt|betrag|summe|gp|montant"
        "|total ht|prix total|total price|line amount|montant ht|subtotal|sum|net amount|zeilensumme",
    ),
    "currency": Field("currency", "Currency", "cur|ccy|curr|währung|devise|monnaie|currency code"),
    "charge": Field(
        "choice", "Charge", "charge type|recurring|billing type|abrechnungsart|one off recurring", "billing|payment"
    ),
    "period": Field(
        "choice",
        "Period",
        "billing period|interval|frequency|zeitraum|periode|période|abrechnungszeitraum|fréquence",
        "per",
    ),
    "discount": Field(
        "percent",
        "Discount",
        "disc|discount fraction|rabatt|nachlass|remise|discount percent|disc percent|rabatt prozent",
    ),
    "evidence_level": Field("choice", "Evidence level", "evidence|level of evidence"),
    "percent_of": Field("choice", "Percent of", "percentage of|prozent von|pourcentage de"),
    "starts": Field("choice", "Starts", "start|starts at|beginn|début"),
    "start_month": Field("number", "Start month", "startmonat|mois de début", low="0", high="240"),
    "term_months": Field(
        "number",
        "Term, months",
        "term|duration months|laufzeit monate|laufzeit|durée mois|durée|months",
        low="0",
        high="240",
    ),
    "escalation_fraction_per_year": Field(
        "percent", "Escalation a year", "escalation|escalation per year|yearly increase|preissteigerung|indexation"
    ),
    "included": Field("flag", "Included", "included in price|inklusive|inclus|inkl"),
    "comparison_key": Field("text", "Comparison row", "row|comparison row|sheet row|vergleichszeile"),
    "capacity_tb": Field("number", "Capacity, TB", "capacity|kapazität|capacité", low="0", high="10000000"),
    "write_gbyte_per_s": Field(
        "number",
        "Write rate, GB/s",
        "write gb per s|write gb s|write rate|write speed|schreibrate",
        low="0",
        high="100000",
    ),
    "source_ref": Field(
        "text",
        "Page or cell",
        "page|source|source ref|seite|quelle|source reference|page ref",
        "ref|reference|réf|note",
    ),
    # A date that stands on every line is the quote's.
    "valid_until": Field(
        "date", "Valid until", "valid to|validity|expiry|expires|gültig bis|validité|offer valid until"
    ),
    "quote_number": Field("text", "Quote number", "quote no|quotation number|angebotsnummer|numéro de devis|quote"),
    "vendor": Field("text", "Vendor", "supplier|lieferant|fournisseur|anbieter"),
}
REQUIRED = ("description", "quantity", "unit_price_likely")
PRICES = ("unit_price_low", "unit_price_likely", "unit_price_high")

QUOTE_FIELDS: dict[str, Field] = {
    "quote_number": Field(
        "text",
        "Quote number",
        "quote no|quote nr|quotation|quotation no|quotation number|offer no|offer number|angebotsnummer|angebot nr"
        "|angebotsnr|numéro de devis|devis|devis no|quote id|number",
        section="quote",
    ),
    "vendor": Field(
        "text", "Vendor", "supplier|seller|lieferant|anbieter|fournisseur|company|vendor name", section="quote"
    ),
    "date": Field(
        "date", "Date", "quote date|offer date|issue date|datum|angebotsdatum|date du devis", section="quote"
    ),
    "valid_until": Field(
        "date",
        "Valid until",
        "valid to|valid till|validity|expiry|expiry date|expires|gültig bis|bindefrist|validité|valable jusqu au"
        "|valid through|offer valid until|quote valid until",
        section="quote",
    ),
    "currency": Field("currency", "Currency", "quote currency|währung|devise|monnaie|all prices in", section="quote"),
    "tax_excluded": Field(
        "flag",
        "Tax excluded",
        "excl tax|tax excl|net of tax|prices net|ohne mwst|netto|hors taxes|excl vat",
        section="quote",
    ),
    "term_months": Field(
        "number",
        "Term, months",
        "term|contract term months|laufzeit monate|durée mois",
        section="quote",
        low="0",
        high="240",
    ),
    "lead_weeks_low": Field(
        "number", "Lead time, weeks, low", "lead time weeks low|lead time low", section="quote", low="0", high="260"
    ),
    "lead_weeks_likely": Field(
        "number",
        "Lead time, weeks, likely",
        "lead time weeks likely|lead time likely|lead time weeks|lead time|delivery weeks|lieferzeit wochen"
        "|lieferzeit|délai semaines|délai de livraison",
        section="quote",
        low="0",
        high="260",
    ),
    "lead_weeks_high": Field(
        "number", "Lead time, weeks, high", "lead time weeks high|lead time high", section="quote", low="0", high="260"
    ),
    "delivery_commitment": Field("choice", "Delivery commitment", "delivery guarantee|commitment", section="quote"),
    "acceptance_weeks": Field(
        "number",
        "Acceptance, weeks",
        "acceptance|acceptance period weeks|abnahme wochen",
        section="terms",
        low="0",
        high="104",
    ),
    "warranty_months": Field(
        "number",
        "Warranty, months",
        "warranty|garantie monate|garantie mois|gewährleistung monate",
        section="terms",
        low="0",
        high="240",
    ),
    "renewable": Field("flag", "Renewable", "renewal|verlängerbar|renouvelable", section="terms"),
    "incoterm": Field("text", "Incoterm", "incoterms|delivery terms|lieferbedingung", section="terms"),
    "payment_milestones": Field(
        "special", "Payment", "payment|payments|payment terms|zahlungsbedingungen|zahlung|paiement", section="terms"
    ),
    "payment_days": Field(
        "number", "Payment, days", "net days|zahlungsziel tage", section="terms", low="0", high="365"
    ),
    "it_load_kw": Field(
        "number", "IT load, kW", "it load|power kw|leistung kw", section="terms", low="0", high="1000000"
    ),
    "it_load_basis": Field("choice", "IT load is", "power basis", section="terms"),
    "nics_per_node": Field(
        "number",
        "NICs per node",
        "nic count per node|nic count|nics|ports per node",
        section="fabric",
        low="0",
        high="72",
    ),
    "nic_gbit_per_s": Field(
        "number",
        "NIC speed, Gb/s",
        "nic speed gb per s bits|nic speed|nic rate|port speed|nic speed gbit per s",
        section="fabric",
        low="1",
        high="1600",
    ),
    "topology": Field("choice", "Topology", "network topology", section="fabric"),
    "leaf_placement": Field("choice", "Leaf placement", "leaf switches|leaf", section="fabric"),
    "oversubscription": Field(
        "special",
        "Oversubscription, to 1",
        "oversubscription ratio|oversubscription to 1",
        section="fabric",
        low="1",
        high="64",
    ),
    "fabric_kind": Field("choice", "Fabric", "fabric|fabric type|network kind|network", section="fabric"),
    "congestion_plan": Field("text", "Congestion plan", "congestion control|congestion", section="fabric"),
    "tenancy": Field("choice", "Tenancy", "tenant model", section="fabric"),
}
CLAIM_FIELDS: dict[str, Field] = {
    "topic": Field("text", "Topic", "subject|thema|sujet"),
    "statement": Field("text", "Statement", "claim|aussage|affirmation"),
    "evidence_level": Field("choice", "Evidence level", "evidence|level"),
    "source": Field("text", "Source", "reference|page|quelle"),
}

SECTIONS = {"lines": LINE_FIELDS, "quote": QUOTE_FIELDS, "claims": CLAIM_FIELDS}

# Words of a choice as vendors write them -> the value stored.
CHOICES: dict[str, dict[str, str]] = {
    "kind": {
        "compute": "compute|node|nodes|server|gpu node|gpu|rechenknoten|calcul|hardware compute",
        "fabric": "fabric|network|networking|netzwerk|réseau|switch|interconnect",
        "storage": "storage|speicher|stockage",
        "facility": "facility|facilities|colocation|power|site|rechenzentrum|hébergement",
        "service": "service|services|installation|dienstleistung|prestation|professional services|onboarding",
        "software": "software|licence|license|lizenz|logiciel",
        "support": "support|maintenance|wartung|warranty|hardware support",
        "cloud": "cloud|cloud compute|reserved|instance|egress",
        "staff": "staff|personnel|personal|operator",
    },
    "charge": {
        "one_off": "one off|oneoff|one time|onetime|once|einmalig|unique|non recurring|nrc|capex|ponctuel",
        "recurring": "recurring|wiederkehrend|récurrent|mrc|subscription|abo|laufend",
    },
    "period": {
        "hour": "hour|hourly|per hour|h|hr|stunde|stündlich|pro stunde|heure|par heure",
        "month": "month|monthly|per month|mo|mth|monat|monatlich|pro monat|mtl|mois|mensuel|par mois",
        "year": "year|yearly|annual|annually|per year|per annum|p a|yr|jahr|jährlich|pro jahr|an|annuel|par an",
    },
    "evidence_level": {
        "none": "none|unknown|keine|aucune",
        "claim": "claim|vendor claim|aussage",
        "specification": "specification|spec|data sheet|datasheet|datenblatt",
        "third_party": "third party|thirdparty|independent",
        "third_party_matching": "third party matching|third party matched",
        "own_measurement": "own measurement|own|measured|measurement|eigene messung",
    },
    "percent_of": {
        "compute": "compute|compute price|compute hardware",
        "fabric": "fabric|fabric price|network",
        "storage": "storage|storage price",
        "hardware": "hardware|all hardware|hardware price|total hardware",
        "software": "software",
    },
    "starts": {
        "signature": "signature|order|at signature|po",
        "delivery": "delivery|at delivery|on delivery|lieferung",
        "month": "month|fixed month",
    },
    "delivery_commitment": {
        "none": "none|no|keine",
        "written": "written|written commitment|schriftlich",
        "penalty": "penalty|with penalty|liquidated damages|vertragsstrafe",
    },
    "it_load_basis": {"typical": "typical|measured|average", "nameplate": "nameplate|name plate|maximum|max"},
    "topology": {
        "two_tier": "two tier|2 tier|leaf spine|two level",
        "three_tier": "three tier|3 tier|fat tree 3",
        "flat": "flat|single switch|single tier|one tier",
    },
    "leaf_placement": {
        "per_rack": "per rack|top of rack|tor",
        "per_rail": "per rail|rail optimised|rail optimized|rail",
    },
    "fabric_kind": {
        "infiniband": "infiniband|ib",
        "roce": "roce|rocev2|roce v2|rdma over ethernet",
        "ethernet": "ethernet",
        "other": "other|proprietary",
    },
    "tenancy": {"dedicated": "dedicated|single tenant|exclusive", "shared": "shared|multi tenant"},
}
# Nouns of a unit that counts time, singular and plural; a period of a price is among the choices above.
TIME_UNITS: dict[str, str] = {
    "hour": "hours|h|hr|hrs|std|stunde|stunden|heure|heures",
    "day": "days|d|tag|tage|tagen|jour|jours",
    "week": "weeks|wk|wks|woche|wochen|semaine|semaines",
    "month": "months|mo|mos|mth|mths|monat|monate|monaten|mois",
    "quarter": "quarters|qtr|qtrs|quartal|quartale|trimestre|trimestres",
    "year": "years|yr|yrs|jahr|jahre|jahren|an|ans|année|années",
}
# Words of a unit that can be had by the hour. What others mean is asked, for the price may be one of a whole node.
HOURLY_UNITS = {
    "accelerator": "gpu|accelerator|chip|tpu|hpu|npu|xpu|beschleuniger|accélérateur",
    "node": "node|instance|server|vm|machine|system|host|rechenknoten|knoten|instanz|noeud|nœud|serveur",
    "other": "tb|tib|pb|pib|gb|gib|cpu|vcpu|core|kw|kwh|mw|mwh|link|port|switch|gateway|endpoint|address|ip|rack|fte"
    "|person|engineer|operator|technician|flat rate|flat",
}
# Under these names a Fabric or Terms sheet says how many accelerators a node has.
PER_NODE_NAMES = frozenset(
    {
        f"{what}_per_{node}"
        for what in ("accelerators", "gpus", "gpu", "chips")
        for node in ("node", "instance", "server")
    }
)
YES = frozenset(["true", "yes", "y", "ja", "j", "oui", "o", "1", "x", "included"])
NO = frozenset(["false", "no", "n", "nein", "non", "0"])
INCLUDED = frozenset(["included", "incl", "incl.", "inklusive", "inkl", "inkl.", "inbegriffen", "inclus", "compris"])
# What a line's own words say about its kind where no column does; read from top to bottom.
KIND_WORDS = (
    ("support", "support|maintenance|wartung"),
    ("staff", "operator|fte|personnel|administrator"),
    ("storage", "storage|speicher|nvme|filesystem|file system|stockage| tb| pb"),
    ("service", "installation|onboarding|training course|commissioning|relocation|shipping|freight|migration|trade-in"),
    ("software", "licence|license|software|lizenz|subscription"),
    ("fabric", "switch|cable|optic|transceiver|link|fabric|infiniband|network|netzwerk"),
    ("cloud", "gpu-hour|gpu hour|reserved|instance|egress|on demand|on-demand"),
    ("facility", "colocation|power|pdu|cooling|rack space"),
    ("compute", "node|gpu|server|h100|h200|b200|b300|gb200|mi300|accelerator|knoten"),
)
