"""The documentation site: `make docs` builds it offline, and every warning is an error."""

import html
import logging
import os
import re
import sys
import tomllib
from pathlib import Path

from fairpca import __version__

HERE = Path(__file__).parent
PAGES = HERE / "gallery_pages"  # of audits that scripts of the gallery made
PAGES.mkdir(exist_ok=True)
sys.path.insert(0, str(HERE))
import inventories  # noqa: E402

PACKAGE = tomllib.loads((HERE.parent / "pyproject.toml").read_text(encoding="utf-8"))["project"]

project = PACKAGE["name"]
author = PACKAGE["authors"][0]["name"]
release = version = __version__
copyright = f"{author}. {PACKAGE['license']} licence"
ADDRESSES = {name.lower(): url for name, url in PACKAGE.get("urls", {}).items()}

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.intersphinx",
    "sphinx.ext.mathjax",
    "sphinx-mathjax-offline",  # formulas without a network, for who reads and for who builds
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
source_suffix = {".rst": "restructuredtext", ".md": "markdown"}
exclude_patterns = [
    "_build",
    "benchmarks/*.md",  # tables: pages include some of them
    "reproduced/*.md",
    "testing/*.md",  # for maintainers: in the repository only
    "project/decisions.md",
]
suppress_warnings = ["config.cache"]  # the gallery's settings contain a function, on purpose

# Markdown: pages are read on their own, too, so they use plain Markdown where it suffices.
myst_enable_extensions = ["dollarmath", "colon_fence", "deflist", "attrs_inline"]
myst_heading_anchors = 3

# Reference: one page for each object, made from its docstring.
autosummary_generate = True
autodoc_typehints = "none"  # numpydoc's sections say it in words
intersphinx_mapping = inventories.write(HERE / "_build" / "inventories")
numpydoc_xref_param_type = True
numpydoc_xref_aliases = inventories.TYPES
numpydoc_xref_ignore = "all"  # words that are not among the aliases
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False
templates_path = ["_templates"]
default_role = "py:obj"  # `FairPCA` in a docstring is code, and a link where there is a page
smartquotes = False  # a default is "auto", with quotes that can be typed
toc_object_entries_show_parents = "hide"
# Names that differ in case alone need pages that differ where file names do not know cases.
autosummary_filename_map = {
    "fairpca.Audit": "fairpca.Audit-class",
    "fairpca.metrics.Leakage": "fairpca.metrics.Leakage-class",
}


def page_of_an_audit(block, block_vars, gallery_conf):
    """Put the page of an audit, which a script shows at the end of a cell, beside the script."""
    found = block_vars["example_globals"].get("found")
    if block.content.split()[-1:] != ["found"]:
        return ""
    name = f"{Path(block_vars['src_file']).stem}.html"
    found.to_html(PAGES / name)
    return f"\n.. raw:: html\n\n    <p><a href='../{name}'>The whole page of this audit</a></p>\n"


# Gallery: every numbered script runs in the build; one that fails, fails the build.


def gallery_style(gallery_conf, script):
    """Give every script of the gallery the same look, without a line about it."""
    import matplotlib.style

    matplotlib.style.use(Path(__file__).parent.parent / "examples" / "fairpca.mplstyle")


sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"[/\\]\d\d_",
    "ignore_pattern": r"[/\\](?!\d\d_)\w+\.py$",
    "within_subsection_order": "FileNameSortKey",
    "abort_on_example_error": True,
    "backreferences_dir": "gallery/backreferences",
    "doc_module": ("fairpca",),
    "image_scrapers": ("matplotlib", page_of_an_audit),
    "reset_modules": ("matplotlib", gallery_style),
    "download_all_examples": False,
    "show_signature": False,
    "thumbnail_size": (480, 300),
    "plot_gallery": "FAIRPCA_DOCS_QUICK" not in os.environ,  # quick: show scripts, do not run them
    "parallel": int(os.environ.get("FAIRPCA_DOCS_PROCESSES", "1")),
}

html_theme = "pydata_sphinx_theme"
html_title = "fairpca"
html_baseurl = ADDRESSES.get("documentation", "")
html_favicon = "_static/favicon.svg"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_extra_path = ["gallery_pages"]
html_copy_source = False
html_show_sourcelink = False
html_theme_options = {
    "logo": {"text": "fairpca"},
    "navbar_align": "left",
    "navbar_end": ["version", "theme-switcher", "navbar-icon-links"],
    "header_links_before_dropdown": 7,
    "show_prev_next": True,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "icon_links": [  # none before the repository has an address: see CONTRIBUTING.md
        {"name": "Source code", "url": ADDRESSES[name], "icon": "fa-solid fa-code-branch"}
        for name in ("source", "repository")
        if name in ADDRESSES
    ],
}
html_sidebars = {"index": [], "start": []}
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

logging.getLogger("matplotlib").setLevel(logging.WARNING)


def describe(app, page, template, context, doctree):
    """Describe a page to search engines and social cards by its first sentence in words."""
    body = context.get("body", "").partition("<h1")[2]
    body = re.sub(r'<div class="sphx-glr-download-link-note.*?</div>', "", body, flags=re.DOTALL)
    paragraphs = re.findall(r"<p>(.*?)</p>", body, flags=re.DOTALL)
    texts = [" ".join(re.sub(r"<[^>]+>", "", html.unescape(one)).split()) for one in paragraphs]
    first = next((text for text in texts if text), "")
    context["description"] = first if len(first) <= 200 else f"{first[:197].rsplit(' ', 1)[0]} ..."


FOR_MAINTAINERS = re.compile(
    r"\[([^]]+)\]\((?:\.\./|docs/|project/)*((?:testing/\w+|decisions)\.md)(?:#[\w-]+)?\)"
)
"""Links to pages that are in the repository and not on the site: `exclude_patterns`."""


def link_to_repository(app, where, *others):
    """Say where in the repository a page is, or link to it if the repository has an address."""
    *_, content = others or (where,)
    content[0] = FOR_MAINTAINERS.sub(_in_the_repository, content[0])


def _in_the_repository(found):
    text, page = found.groups()
    page = f"docs/{page}" if "/" in page else f"docs/project/{page}"
    address = ADDRESSES.get("source")
    return f"[{text}]({address}/blob/main/{page})" if address else f"{text} (`{page}`)"


def setup(app):
    """Connect what is above to the build."""
    app.connect("html-page-context", describe)
    app.connect("source-read", link_to_repository)
    app.connect("include-read", link_to_repository)
