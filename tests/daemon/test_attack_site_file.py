"""Site files that an editor, a disk or a hand has spoiled: findings with a line, never another exception."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from meterd.config import Site, load_site
from meterd.config.findings import SiteErrors
from meterd.edge.catalogue import catalogue

EXAMPLE = (Path(__file__).parents[2] / "docs" / "site.example.toml").read_text("utf-8")
MUTATIONS = 300
VALUES = (
    "-1", "0", "1", "9" * 26, "9" * 5000, "1e400", "nan", "inf", "true", "[]", "{}", '""', '"none"', '"\\u0000"',
    f'"{"a" * 5000}"', "1979-05-27", "0x10", "[[1]]", '"level:nope"', "1.5", "\ufeff", "\x00", '"../../etc"', '"é"',
    "9223372036854775808", "{a=1}", '["nexus-1/mega","nexus-1/mega"]', "256", '"America/../x"', '"25:99"',
)  # fmt: skip
LINES = ("[[link]]\n", "[[table]]\n", "[site]\n", "[x]\n", "[[bus]]\n", "[[link.level]]\n", "[web]\nport = 99999\n")
CHARACTERS = "\x00\t\n\"'[]{}=\U0001f600\ufeff\x7f\u2028"


def outcome(text: str) -> Site | SiteErrors:
    """What the file is, or what is wrong with it. Anything else that is raised fails the test."""
    try:
        return load_site(text, "site.toml", catalogue())
    except SiteErrors as errors:
        return errors


def mutated(chance: random.Random) -> str:
    """The example after one to four accidents."""
    lines = EXAMPLE.splitlines(keepends=True)
    for _ in range(chance.choice((1, 1, 1, 2, 4))):
        at = chance.randrange(len(lines))
        keys = [n for n, line in enumerate(lines) if "=" in line and not line.startswith("#")]
        match chance.randrange(7):
            case 0:
                del lines[at]
            case 1:
                lines.insert(at, lines[at])
            case 2:
                other = chance.randrange(len(lines))
                lines[at], lines[other] = lines[other], lines[at]
            case 3 | 4:
                at = chance.choice(keys)
                lines[at] = f"{lines[at].partition('=')[0]}= {chance.choice(VALUES)}\n"
            case 5:
                place = chance.randrange(len(lines[at]))
                lines[at] = lines[at][:place] + chance.choice(CHARACTERS) + lines[at][place + 1 :]
            case _:
                lines[at] = chance.choice(LINES)
    return "".join(lines)


def test_a_spoiled_site_file_is_a_finding() -> None:
    """Each of many accidents gives a site, or findings that name a line of the file."""
    seed = 20260801
    print("seed", seed)
    chance = random.Random(seed)
    for _ in range(MUTATIONS):
        text = mutated(chance)
        found = outcome(text)
        if isinstance(found, SiteErrors):
            assert found.findings
            assert all(1 <= finding.line <= text.count("\n") + 1 for finding in found.findings), found.findings


#: The line of the example on which a seed stands.
SEED_LINE = EXAMPLE[: EXAMPLE.index("seed_cents = 5_000_000")].count("\n") + 1


@pytest.mark.parametrize(
    ("figure", "line", "message"),
    [
        (
            "9" * 5000,
            SEED_LINE,
            "not valid TOML: a number has too many digits",
        ),
        ("[" * 9000, 1, "not valid TOML: nested too deeply"),
    ],
)
def test_what_the_parser_itself_gives_up_on_is_a_finding(figure: str, line: int, message: str) -> None:
    """A number of five thousand digits, brackets deeper than the parser's stack."""
    found = outcome(EXAMPLE.replace("seed_cents = 5_000_000", f"seed_cents = {figure}"))
    assert isinstance(found, SiteErrors)
    assert [(line, message)] == [(finding.line, finding.message) for finding in found.findings]
