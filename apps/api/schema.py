"""How the API looks in its OpenAPI document, docs/schemas/openapi.yaml.

`manage.py spectacular --file docs/schemas/openapi.yaml --validate --fail-on-warn` writes it anew.
"""

from typing import Any

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.openapi import AutoSchema

from apps.api import problems

PROBLEM = {"$ref": "#/components/schemas/Problem"}


class SessionScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    target_class = "apps.api.sessions.SessionAuthentication"
    name = "session"

    def get_security_definition(self, auto_schema: AutoSchema) -> dict[str, str]:
        return {
            "type": "apiKey",
            "in": "cookie",
            "name": "sessionid",
            "description": "The session of a signed-in browser; its cookie is __Host-session where the site uses TLS. "
            "Unsafe methods also need the header X-CSRFToken.",
        }


STORAGE_BOUNDS = {2**15 - 1, 2**31 - 1, 2**63 - 1}


def drop_storage_bounds(part: Any) -> None:
    """Take out what a column of one database can hold: it is no rule of the API, and differs between databases."""
    if isinstance(part, dict):
        if part.get("type") == "integer" and part.get("maximum") in STORAGE_BOUNDS:
            del part["maximum"]
            part.pop("format", None)
        for inner in part.values():
            drop_storage_bounds(inner)
    elif isinstance(part, list):
        for inner in part:
            drop_storage_bounds(inner)


def add_problems(result: dict[str, Any], **_rest: Any) -> dict[str, Any]:
    """Give every operation the problem document as its answer to any error."""
    drop_storage_bounds(result)
    result["components"]["schemas"]["Problem"] = problems.SCHEMA
    for path in result["paths"].values():
        for operation in path.values():
            operation["responses"]["default"] = {
                "description": "Any error",
                "content": {problems.MEDIA_TYPE: {"schema": PROBLEM}},
            }
    return result
