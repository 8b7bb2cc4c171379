"""The sample site, and a way to change one line of it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from meterd.config import Catalogue, Finding, Site, SiteErrors, load_site
from meterd.edge.catalogue import catalogue as shipped

ROOT = Path(__file__).resolve().parents[2]
SAMPLE = ROOT / "docs" / "site.example.toml"

Edit = tuple[str, str]


@pytest.fixture(scope="session")
def sample() -> str:
    return SAMPLE.read_text(encoding="utf-8")


@pytest.fixture(scope="session")
def catalogue() -> Catalogue:
    return shipped()


def edited(text: str, *edits: Edit) -> str:
    """``text`` with the first occurrence of each old replaced; every old must be there."""
    for old, new in edits:
        assert old in text, old
        text = text.replace(old, new, 1)
    return text


@pytest.fixture
def findings(sample: str, catalogue: Catalogue) -> Callable[..., tuple[Finding, ...]]:
    """The findings of the sample after some edits."""

    def of(*edits: Edit, catalogue: Catalogue = catalogue) -> tuple[Finding, ...]:
        with pytest.raises(SiteErrors) as caught:
            load_site(edited(sample, *edits), "site.toml", catalogue)
        return caught.value.findings

    return of


@pytest.fixture
def site(sample: str, catalogue: Catalogue) -> Callable[..., Site]:
    """The sample after some edits, which must leave it usable."""

    def of(*edits: Edit, catalogue: Catalogue = catalogue) -> Site:
        return load_site(edited(sample, *edits), "site.toml", catalogue)

    return of
