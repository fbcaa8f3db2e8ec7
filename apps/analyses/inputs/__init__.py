"""From stored nouns to the document an engine is given: business facts only, no ids, no clock."""

from apps.analyses.inputs.document import tco_document

__all__ = ["tco_document"]
