"""The documentation as a site: it builds without a warning, holds together, and fetches nothing."""

from __future__ import annotations

import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.slow  # `make docs` refuses links that lead nowhere, too
NEEDED = ("mkdocs", "mkdocstrings_handlers.python", "pymdownx")


class Page(HTMLParser):
    """Links, what the browser loads by itself, and anchors of a page."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.anchors: set[str] = set()
        self.feed(path.read_text())

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.anchors |= {given[name] for name in ("id", "name") if given.get(name)}
        if tag == "a" and given.get("href"):
            self.links.append(given["href"])
        elif tag in ("script", "img", "iframe", "source") and given.get("src"):
            self.loaded.append(given["src"])
        elif tag == "link" and given.get("href"):
            self.loaded.append(given["href"])


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    for name in NEEDED:
        pytest.importorskip(name, reason="the site needs: pip install 'systoliq[docs]'")
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)],
        cwd=ROOT, capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "WARNING" not in done.stderr
    return folder


@pytest.fixture(scope="module")
def pages(site) -> dict[Path, Page]:
    return {path: Page(path) for path in site.rglob("*.html")}


def test_every_link_picture_and_anchor_is_there(site, pages):
    broken = []
    for path, page in pages.items():
        if path.name == "404.html":  # its links are those of the root of a server
            continue
        for link in page.links + page.loaded:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if target.is_dir():
                target /= "index.html"
            if not target.is_file():
                broken.append(f"{path.relative_to(site)}: {link}")
            elif parts.fragment and target in pages and parts.fragment not in pages[target].anchors:
                broken.append(f"{path.relative_to(site)}: {link} (no such heading)")
    assert not broken


def test_nothing_is_fetched_from_elsewhere(site, pages):
    for path, page in pages.items():
        assert not [source for source in page.loaded if "//" in source], path
    for path in site.rglob("*.css"):
        assert not re.search(r"url\(\s*[\"']?(https?:)?//|@import", path.read_text()), path
    for path in site.rglob("*.svg"):
        assert not re.search(r"(href|src)=[\"']https?:", path.read_text()), path


def test_the_reference_has_the_public_names(pages):
    from systoliq import api

    (page,) = (page for path, page in pages.items() if path.parts[-2:] == ("api", "index.html"))
    for name in api.__all__:
        assert f"systoliq.api.{name}" in page.anchors, f"docs/api/index.md must have {name}"


def test_every_page_can_be_reached(site, pages):
    reached = {
        (path.parent / unquote(urlsplit(link).path)).resolve()
        for path, page in pages.items() for link in page.links if not urlsplit(link).scheme
    }  # fmt: skip
    for path in pages:
        assert path.name in ("404.html", "search.html") or path.resolve() in reached, path.relative_to(site)
