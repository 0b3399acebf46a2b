"""The only place that imports jinja2 and plotly, and only when a page is asked for."""

from __future__ import annotations

from typing import Any

from ...errors import MissingExtraError

PURPOSE = "The report page"
EXTRA = "report"


def template_environment() -> Any:
    """Return jinja2's environment for the templates of this package.

    Everything that a template prints is escaped, whatever the template is called, and a name that
    does not exist is an error instead of an empty string.
    """
    try:
        import jinja2
    except ImportError as error:
        raise MissingExtraError("jinja2", EXTRA, PURPOSE) from error
    return jinja2.Environment(
        loader=jinja2.PackageLoader("fairpca.auditing._page"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def plotly_script() -> str:
    """Return the source of plotly.js, which the page carries so that it needs no network."""
    try:
        from plotly.offline import get_plotlyjs
    except ImportError as error:
        raise MissingExtraError("plotly", EXTRA, PURPOSE) from error
    script: str = get_plotlyjs()
    return script
