"""The API's documentation, made from its routes and messages."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import msgspec

from elision.serve import messages

if TYPE_CHECKING:
    from collections.abc import Iterable

    from elision.serve.api import Route

REFERENCE = "#/components/schemas/{name}"
REASONS = {
    400: "The question is not as expected, or the script cannot answer it",
    404: "No such script, file or job",
    408: "The body took too long to come",
    409: "Another job is running",
    413: "The body is too large",
    503: "Too many files at once",
}
SOCKETS: dict[str, dict[str, Any]] = {
    "/api/follow": {
        "summary": "Follow a telling while it is told, of one script or of whichever it is",
        "parameters": [
            {"name": "script", "in": "query", "schema": {"type": "string"}},
            {
                "name": "false_alarms",
                "in": "query",
                "schema": {
                    "type": "number",
                    "exclusiveMinimum": 0,
                    "exclusiveMaximum": 1,
                    "default": 0.05,
                },
            },
        ],
        "takes": (messages.Follow,),
        "gives": (messages.Now, messages.Guess, messages.Failed),
    }
}
"""WebSockets, of which OpenAPI knows nothing: each message is answered with one."""

FORBIDDEN = "The request was not made for this server, or comes from another site"


def document(routes: Iterable[Route], version: str) -> dict[str, Any]:
    """Return the OpenAPI document of some routes."""
    routes = list(routes)
    kinds = [kind for route in routes for kind in (route.takes, route.gives) if _is_struct(kind)]
    said = [kind for one in SOCKETS.values() for kind in (*one["takes"], *one["gives"])]
    _, schemas = msgspec.json.schema_components(
        [*kinds, *said, messages.Problem], ref_template=REFERENCE
    )
    paths: dict[str, dict[str, Any]] = {}
    for route in routes:
        paths.setdefault(route.path, {})[route.method.lower()] = _operation(route)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Elision",
            "version": version,
            "description": "What learned scripts say about tellings.",
        },
        "paths": paths,
        "x-websockets": {path: _socket(one) for path, one in SOCKETS.items()},
        "components": {"schemas": schemas},
    }


def _operation(route: Route) -> dict[str, Any]:
    name = re.sub(r"[^a-z]+", "_", f"{route.method} {route.path}".lower()).strip("_")
    found: dict[str, Any] = {
        "operationId": name,
        "summary": route.summary,
        "responses": {
            str(route.status): {"description": route.summary, "content": _content(route.gives)},
            "403": _refusal(FORBIDDEN),
            **{str(status): _refusal(REASONS[status]) for status in route.refuses},
        },
    }
    parameters = [
        {"name": part, "in": "path", "required": True, "schema": {"type": "string"}}
        for part in re.findall(r"{(\w+)}", route.path)
    ]
    if route.takes:
        found["requestBody"] = {"required": True, "content": _content(route.takes)}
    elif route.named:
        binary = {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}
        found["requestBody"] = {"required": True, "content": binary}
        schema = {"type": "string", "minLength": 1, "maxLength": 200}
        parameters.append({"name": "name", "in": "query", "required": True, "schema": schema})
    elif route.path.endswith("/outline"):
        schema = {"type": "integer", "minimum": 60}
        parameters.append({"name": "width", "in": "query", "required": False, "schema": schema})
    if parameters:
        found["parameters"] = parameters
    return found


def _socket(described: dict[str, Any]) -> dict[str, Any]:
    told = {side: {"oneOf": [*map(_schema, described[side])]} for side in ("takes", "gives")}
    return {**described, **told}


def _content(kind: Any) -> dict[str, Any]:
    if not _is_struct(kind):
        return {kind: {}}
    return {"application/json": {"schema": _schema(kind)}}


def _schema(kind: Any) -> dict[str, str]:
    return {"$ref": REFERENCE.format(name=kind.__name__)}


def _refusal(description: str) -> dict[str, Any]:
    return {"description": description, "content": _content(messages.Problem)}


def _is_struct(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, msgspec.Struct)
