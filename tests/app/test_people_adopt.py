"""A changed site file on a ledger in force: what two people can adopt, what no one can, and who proves to be whom."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from argon2 import PasswordHasher
from click.testing import CliRunner, Result

from meterd.accounting.book import Book
from meterd.accounting.commands import SYSTEM, Actor, Claim, Command, EndGame, Lock, OpenTable, Role, WagerSeen
from meterd.accounting.commands_links import GiveNotice
from meterd.accounting.settings import LevelSettings
from meterd.accounting.settings_pools import FundSettings, PoolGame, PoolSettings
from meterd.app.adopt import Adopted, adopt, look
from meterd.app.commit import Committer, Stamp
from meterd.app.create import create_ledger
from meterd.app.demo_floor import site_text
from meterd.app.parameters import differences
from meterd.app.verify import audited_book, verify
from meterd.cli.main import main
from meterd.config import Site, load_site
from meterd.edge.catalogue import catalogue
from meterd.edge.store import Store, read_records
from meterd.errors import ConfigError, MisuseError

CHEAP = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
JACKPOT = FundSettings("bad-beat", PoolGame.POSTED, (PoolSettings("primary", 1_000_000),), 200)
TEXT = site_text(Path("/nonexistent"), 100, 9477)
DEALER = Actor("dealer@LIR-1", Role.DEALER)
ADM, ACC = Actor("adm-1", Role.ADMINISTRATOR), Actor("acc-1", Role.ACCOUNTING)


@pytest.fixture
def site() -> Site:
    return load_site(TEXT, "site.toml", catalogue())


@pytest.fixture
def folder(tmp_path: Path, site: Site) -> Path:
    create_ledger(tmp_path / "l", replace(site, funds=(JACKPOT,)))
    return tmp_path / "l"


def book_of(folder: Path) -> Book:
    return audited_book(read_records(folder))


def play(folder: Path, *commands: Command) -> None:
    """Put commands into the ledger, as a daemon would."""
    store = Store.open(folder)
    try:
        book = audited_book(store.records())
        committer = Committer(book, store, lambda: Stamp("2026-12-01T06:00:00.000000Z", "b", 1))
        for command in commands:
            assert committer.decide(command).refusal is None, command
        committer.commit()
    finally:
        store.close()


def adopted(folder: Path, site: Site) -> Adopted:
    return adopt(folder, site, first="adm-1", second="acc-1", reference="DIV-7")


def with_link(site: Site, **changes: Any) -> Site:
    return replace(site, links=(replace(site.links[0], **changes), *site.links[1:]), funds=(JACKPOT,))


def with_level(site: Site, which: int = 0, **changes: Any) -> Site:
    levels = list(site.links[0].levels)
    level: LevelSettings = replace(levels[which], **changes)
    levels[which] = level
    return with_link(site, levels=tuple(levels))


def with_table(site: Site, **changes: Any) -> Site:
    first, *others = site.tables
    table = replace(first, settings=replace(first.settings, **changes))
    return replace(site, tables=(table, *others), funds=(JACKPOT,))


def with_settings(site: Site, **changes: Any) -> Site:
    return replace(site, settings=replace(site.settings, **changes), funds=(JACKPOT,))


CAN: list[tuple[Callable[[Site], Site], str, str]] = [
    (lambda site: with_settings(site, two_person_cents=100, unclaimed_days=30), "SiteSet", "site.two_person_cents"),
    (lambda site: with_settings(site, discontinue_notice_days=30), "SiteSet", "discontinue_notice_days"),
    (lambda site: with_level(site, limit_cents=9_000_000, overflow="next_meter"), "LimitSet", "to 90,000.00"),
    (lambda site: with_level(site, 1, limit_cents=9_000_000), "LimitSet", "goes from 100,000.00 to 90,000.00"),
    (
        lambda site: with_level(site, 1, overflow="next_meter"),
        "LimitSet",
        "overflow goes from level:mega to next",
    ),
    (lambda site: with_table(site, seats=5), "TableChanged", "table LIR-1.seats: the ledger holds 7"),
    (lambda site: with_table(site, cap_player_cents=400_000_00), "CapsPosted", "24 hours"),
    (lambda site: with_table(site, cap_player_cents=400_000_00), "CapsPosted", "table LIR-1.player_cap_cents: "),
]


@pytest.mark.parametrize(("change", "kind", "says"), CAN)
def test_what_the_rules_allow_is_adopted_by_two_people(
    folder: Path, site: Site, change: Callable[[Site], Site], kind: str, says: str
) -> None:
    """One entry with both, the paper and the uid; afterwards file and ledger agree; looking said so before."""
    wanted = change(site)
    outlook = look(folder, wanted)
    assert ((), 1, ()) == (outlook.new, len(outlook.can), outlook.cannot)
    assert says in outlook.can[0]
    assert ("overflow" in outlook.can[0]) is ("next_meter" in outlook.can[0])  # what stays is not told
    before = len(list(read_records(folder)))
    assert outlook.can == adopted(folder, wanted).changed
    assert [] == differences(wanted, book_of(folder))
    (entry,) = list(read_records(folder))[before:]
    body = json.loads(entry.body)
    assert (kind, "adm-1") == (entry.kind, entry.actor)
    assert ("acc-1", "DIV-7") == (body["second"], body["reference"])
    assert (os.getuid(), ["adm-1", "acc-1"]) == (body["asked"]["uid"], body["asked"]["by"])
    assert () == entry.postings
    assert verify(folder).ok
    assert ((), (), ()) == look(folder, wanted)


CANNOT: list[tuple[Callable[[Site], Site], str]] = [
    (lambda site: with_level(site, increment_ppm=1), "level nexus-1/mega.increment_ppm"),
    (lambda site: with_level(site, seed_cents=1), "level nexus-1/mega.seed_cents"),
    (lambda site: with_link(site, wager_cents=500), "link nexus-1.wager_cents"),
    (lambda site: with_link(site, units_max=3), "link nexus-1.units_max"),
    (lambda site: with_link(site, levels=site.links[0].levels[:1]), "link nexus-1.levels"),
    (lambda site: replace(site, links=site.links[1:], funds=(JACKPOT,)), 'meterd act "discontinue nexus-1'),
    (lambda site: replace(site, tables=site.tables[1:], funds=(JACKPOT,)), 'meterd act "close-table LIR-1'),
    (lambda site: with_table(site, link="tcp-1"), "table LIR-1.link: a table keeps its link nexus-1"),
    (lambda site: with_settings(site, currency="EUR"), "site.currency: a ledger is in one currency"),
    (lambda site: replace(site, funds=()), "transfer-pool bad-beat/POOL"),
    (lambda site: replace(site, funds=(replace(JACKPOT, take_max_cents=100),)), "close bad-beat"),
]


@pytest.mark.parametrize(("change", "says"), CANNOT)
def test_what_no_rule_allows_is_told_with_the_act_that_does_it(
    folder: Path, site: Site, change: Callable[[Site], Site], says: str
) -> None:
    """Nothing is written, and looking says the same as adopting."""
    head = verify(folder).head
    outlook = look(folder, change(site))
    assert any(says in line for line in outlook.cannot), outlook
    with pytest.raises(ConfigError) as caught:
        adopted(folder, change(site))
    assert all(line in str(caught.value) for line in outlook.cannot)
    assert head == verify(folder).head


def test_a_limit_below_the_meter_is_refused_by_the_rules(folder: Path, site: Site) -> None:
    """The file may say it, two people may sign it: the rule stands, nothing is written."""
    head = verify(folder).head
    with pytest.raises(MisuseError, match="LIMIT_BELOW_METER"):
        adopted(folder, with_level(site, limit_cents=4_999_999, overflow="level:major"))
    assert head == verify(folder).head


LOCKED = (
    OpenTable(actor=SYSTEM, table="LIR-1"),
    Lock(actor=DEALER, table="LIR-1", wagers=(WagerSeen(1), WagerSeen(2))),
)


@pytest.mark.parametrize(
    "change", [lambda site: with_settings(site, two_person_cents=100), lambda site: with_table(site, seats=5)]
)
def test_nothing_changes_while_a_round_is_locked_or_an_award_waits(
    folder: Path, site: Site, change: Callable[[Site], Site]
) -> None:
    """An award is confirmed under the thresholds it was claimed under, a round ends with the seats it began with."""
    play(folder, *LOCKED)
    with pytest.raises(MisuseError, match="NOT_YET"):
        adopted(folder, change(site))
    play(folder, Claim(actor=DEALER, table="LIR-1", seat=1, hand="royal-flush"))
    with pytest.raises(MisuseError, match="LEVEL_HAS_PENDING_AWARD"):
        adopted(folder, change(site))


def test_between_rounds_it_changes(folder: Path, site: Site) -> None:
    """The same, after END GAME."""
    play(folder, *LOCKED, EndGame(actor=DEALER, table="LIR-1"))
    adopted(folder, with_table(site, seats=5))
    assert 5 == book_of(folder).tables["LIR-1"].settings.seats


def test_a_notice_that_runs_is_not_shortened(folder: Path, site: Site) -> None:
    """Players were told a day; longer is allowed, shorter is not until it has run."""
    adopted(folder, with_settings(site, discontinue_notice_days=30))
    play(folder, GiveNotice(actor=ADM, second=ACC, reference="x", link="tcp-1"))
    with pytest.raises(MisuseError, match="the notice of tcp-1 runs 30 days"):
        adopted(folder, with_settings(site, discontinue_notice_days=29))
    adopted(folder, with_settings(site, discontinue_notice_days=31))


def test_another_pay_table_is_taken_where_the_linter_finds_it_easier(folder: Path, site: Site) -> None:
    """Less envy is told as what players lose, and adopted by nobody; more is adopted."""
    link = next(each for each in site.links if each.id == "tcp-1")
    giving = next(row for row in link.paytable.rows if row.envy_cents)

    def envy(cents: int) -> Site:
        rows = tuple(replace(row, envy_cents=cents) if row.hand == giving.hand else row for row in link.paytable.rows)
        changed = replace(link, paytable=replace(link.paytable, rows=rows))
        links = tuple(changed if each is link else each for each in site.links)
        return replace(site, links=links, funds=(JACKPOT,))

    assert any("only become easier" in line for line in look(folder, envy(giving.envy_cents // 2)).cannot)
    with pytest.raises(ConfigError, match="only become easier to win"):
        adopted(folder, envy(giving.envy_cents // 2))
    adopted(folder, envy(giving.envy_cents * 2))
    (entry,) = [record for record in read_records(folder) if record.kind == "RulesEased"]
    assert "easier" == json.loads(entry.body)["verdict"]


# ── the command line, and who is proven ─────────────────────────────────────────────────────────────────────────────

PINS = {"adm-1": "445566", "acc-1": "778899", "acc-2": "778890", "sup-1": "112233"}


@pytest.fixture
def floor(tmp_path: Path) -> Path:
    """A site file beside its people, and a ledger made from it as it was before one threshold changed."""
    (tmp_path / "site.toml").write_text(TEXT, encoding="utf-8")
    roles = {"adm": "administrator", "acc": "accounting", "sup": "supervisor"}
    page = "".join(
        f'[[person]]\nid = "{name}"\nrole = "{roles[name[:3]]}"\npin_hash = "{CHEAP.hash(pin)}"\n'
        for name, pin in PINS.items()
    )
    (tmp_path / "people.toml").write_text(page, encoding="utf-8")
    was = load_site(TEXT, "site.toml", catalogue())
    create_ledger(tmp_path / "l", replace(was, settings=replace(was.settings, two_person_cents=77)))
    return tmp_path


def run(floor: Path, *words: str, typed: str = "") -> Result:
    command = ["ledger", "adopt", str(floor / "l"), "--config", str(floor / "site.toml"), *words]
    return CliRunner().invoke(main, command, input=typed)


def signing(first: str, second: str) -> tuple[str, ...]:
    return ("--by", first, "--and", second, "--reference", "DIV-7", "--pins-from", "-")


def test_without_people_it_tells_what_would_be_adopted(floor: Path) -> None:
    """Exit 0 and nothing written."""
    head = verify(floor / "l").head
    told = run(floor)
    assert 0 == told.exit_code, told.output
    assert told.stdout.startswith("changes: site.two_person_cents: the ledger holds 77")
    assert head == verify(floor / "l").head


def test_two_people_are_proven_by_their_pins(floor: Path) -> None:
    """Ids in whatever case; the entry holds them as the people file does."""
    told = run(floor, *signing("ADM-1", "acc-1"), typed="445566\n778899\n")
    assert 0 == told.exit_code, told.output
    assert "changed site.two_person_cents" in told.stdout
    (*_, entry) = read_records(floor / "l")
    assert ("SiteSet", "adm-1") == (entry.kind, entry.actor)
    asked = json.loads(entry.body)["asked"]
    assert ("pin", ["administrator", "accounting"]) == (asked["proof"], asked["roles"])
    assert "nothing to adopt: the site file is what the ledger has in force\n" == run(floor).stdout
    again = run(floor, *signing("adm-1", "acc-1"), typed="445566\n778899\n")
    assert (0, "nothing to adopt: the site file is what the ledger has in force\n") == (again.exit_code, again.stdout)


def test_names_that_nothing_proves_are_taken_only_where_somebody_says_so(
    floor: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a people file: --unproven, and the entry tells it; with one it is no way round the PINs."""
    who = ("--by", "adm-1", "--and", "acc-1", "--reference", "DIV-7")
    assert "leave out --unproven" in run(floor, *who, "--unproven").stderr
    (floor / "people.toml").unlink()
    head = verify(floor / "l").head
    refused = run(floor, *who)
    assert (2, True) == (refused.exit_code, "--unproven takes both at their word" in refused.stderr)
    usual = floor / "etc-people.toml"
    monkeypatch.setattr("meterd.cli.signing.USUAL_PEOPLE", usual)
    usual.write_text("[[person]]\n", encoding="utf-8")
    past = run(floor, *who, "--unproven")
    assert (2, True) == (past.exit_code, f"{usual} is there to prove who signs" in past.stderr), "a site file elsewhere"
    usual.unlink()
    assert head == verify(floor / "l").head
    assert 0 == run(floor, *who, "--unproven").exit_code
    (*_, entry) = read_records(floor / "l")
    assert ("none", []) == (json.loads(entry.body)["asked"]["proof"], json.loads(entry.body)["asked"]["roles"])


@pytest.mark.parametrize(
    ("people", "typed", "says"),
    [
        (("adm-1", "acc-1"), "445566\n778890\n", "acc-1: the PIN is wrong"),
        (("adm-1", "acc-9"), "445566\n778890\n", "acc-9: the PIN is wrong, or nobody"),
        (("acc-1", "acc-2"), "778899\n778890\n", "of the same department"),
        (("adm-1", "acc-1"), "445566\n", "2 people sign"),
    ],
)
def test_who_is_not_proven_or_may_not_adopts_nothing(
    floor: Path, people: tuple[str, str], typed: str, says: str
) -> None:
    """Exit 2, and the ledger is as it was."""
    head = verify(floor / "l").head
    told = run(floor, *signing(*people), typed=typed)
    assert (2, True) == (told.exit_code, says in told.stderr), told.output
    assert head == verify(floor / "l").head


def test_something_new_needs_an_administrator_among_the_two(tmp_path: Path, site: Site) -> None:
    """A supervisor and an accountant change a threshold; a new table takes one who may put something in force."""
    create_ledger(tmp_path / "l", replace(site, tables=site.tables[:-1]))
    roles = (Role.SUPERVISOR, Role.ACCOUNTING)
    other = replace(site, settings=replace(site.settings, two_person_cents=77), tables=site.tables[:-1])
    with pytest.raises(MisuseError, match="DefineTable was refused NOT_AUTHORISED"):
        adopt(tmp_path / "l", site, first="sup-1", second="acc-1", reference="r", roles=roles)
    adopt(tmp_path / "l", other, first="sup-1", second="acc-1", reference="r", roles=roles)
    grown = replace(other, tables=site.tables)
    roles = (Role.ACCOUNTING, Role.ADMINISTRATOR)
    new = adopt(tmp_path / "l", grown, first="acc-1", second="adm-1", reference="r", roles=roles)
    assert (site.tables[-1].id,) == new.tables
