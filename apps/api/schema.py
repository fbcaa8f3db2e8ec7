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


def add_problems(result: dict[str, Any], **_rest: Any) -> dict[str, Any]:
    """Give every operation the problem document as its answer to any error."""
    result["components"]["schemas"]["Problem"] = problems.SCHEMA
    for path in result["paths"].values():
        for operation in path.values():
            operation["responses"]["default"] = {
                "description": "Any error",
                "content": {problems.MEDIA_TYPE: {"schema": PROBLEM}},
            }
    return result
