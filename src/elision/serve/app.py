"""The application: the page's files and what it asks, behind the guard."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.responses import Response
from starlette.routing import Route

from elision.serve import outlines
from elision.serve.api import REFUSALS, Api
from elision.serve.guard import Guard

if TYPE_CHECKING:
    from starlette.requests import Request

    from elision.serve.jobs import Jobs
    from elision.serve.shelf import Shelf

STATIC = Path(__file__).with_name("static")

KINDS = {
    ".css": "text/css",
    ".html": "text/html",
    ".js": "text/javascript",
    ".svg": "image/svg+xml",
}
"""What files of the page are, whatever a machine's own tables say."""


def make_app(shelf: Shelf, jobs: Jobs, *, host: str = "127.0.0.1") -> Starlette:
    """Return the application that serves these scripts at this host."""
    drawings = outlines.style().encode()
    html, files = _page(), {path.name: path.read_bytes() for path in STATIC.iterdir()}

    async def page(_request: Request) -> Response:
        return Response(html, media_type="text/html")

    async def static(request: Request) -> Response:
        name = request.path_params["name"]
        if name not in files:
            return Response(status_code=404)
        return Response(files[name], media_type=KINDS[Path(name).suffix])

    async def drawing_style(_request: Request) -> Response:
        return Response(drawings, media_type="text/css")

    return Starlette(
        routes=[
            Route("/", page),
            Route("/drawing.css", drawing_style),
            Route("/static/{name}", static),
            *Api(shelf, jobs).routes(),
        ],
        middleware=[Middleware(Guard, host=host)],
        exception_handlers=REFUSALS,
    )


def _page() -> str:
    """The page, its modules named at once: else a browser finds them one after the other."""
    text = (STATIC / "index.html").read_text(encoding="utf-8")
    modules = sorted(path.name for path in STATIC.glob("*.js"))
    links = "".join(f'  <link rel="modulepreload" href="/static/{name}">\n' for name in modules)
    return text.replace("</head>", f"{links}</head>", 1)
