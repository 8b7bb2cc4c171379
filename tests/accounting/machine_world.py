"""A floor on which anything may happen, reckoned three times: the rules, the fold of what they wrote, and the twin.

``World.step`` makes one act out of small numbers, so that hypothesis can shrink a history and a seed can repeat it.
After every step: both reckonings give the same answer and the same amount on every account; postings sum to zero; the
fold of the entries as text is the book, and decides the same; deciding changed nothing, and a refusal leaves everything
as it was; no account of the players is below zero, nor is what is owed to them; what they own is what wagers brought
less what was paid out. Links, devices and pools share the one book.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from machine_acts import COMMANDS, NOISE, make
from machine_devices import COMMANDS as DEVICE_COMMANDS
from machine_devices import Marks, new_chips, same_trust, with_event
from machine_links import LINK_COMMANDS, LINK_VERBS, FloorTwin
from machine_pools import Funds
from machine_rules import FloorRules, limits_of, link_settings, table_settings
from pool_steps import Act

from meterd.accounting import commands as ask
from meterd.accounting.book import Book
from meterd.accounting.commands import SYSTEM, Command
from meterd.accounting.entries import Entry, Kind, Posting
from meterd.accounting.past import Timeline
from meterd.accounting.replay import play
from meterd.accounting.rules import Decision, decide
from meterd.accounting.settings import LinkSettings, SiteSettings

MICRO = 1_000_000
START = "2026-01-01T00:00:00.000000Z"
PLAYERS = ("meter/", "reserve/", "overflow/", "payable/", "unclaimed/", "pool/")
ALL_COMMANDS = {**COMMANDS, **LINK_COMMANDS, **DEVICE_COMMANDS}
#: What an entry of the ledger must not move: the seq and time of the last entry are the book's place, not its money.
PLACE = {"seq", "at_utc"}


def retold(entry: Entry) -> Entry:
    """An entry as it comes back from the ledger."""
    body = json.loads(json.dumps(entry.body, sort_keys=True))
    postings = tuple(Posting(account, amount) for account, amount in json.loads(json.dumps(entry.postings)))
    return Entry(entry.kind, entry.actor, entry.table, entry.link, entry.device, entry.event_id, body, postings)


def comparable(decision: Decision) -> list[tuple[object, ...]]:
    """The entries of an answer, for which neither the order of postings nor that of keys counts."""
    return [(entry.kind, entry.table, entry.link, entry.body, sorted(entry.postings)) for entry in decision.entries]


def holdings(book: Book) -> dict[str, Any]:
    return {name: value for name, value in vars(book).items() if name not in PLACE}


class World:
    """Links with their tables, told to the rules and to a twin each.

    ``settings`` where a link is not made from the twin's own rules. ``light``: no fold is compared.
    """

    def __init__(
        self,
        links: Sequence[FloorRules],
        settings: dict[str, LinkSettings] | None = None,
        *,
        funds: Funds | None = None,
        light: bool = False,
    ) -> None:
        self.light = light
        self.funds = funds
        self.marks = Marks()
        self.late: Counter[str] = Counter()
        self.twins = {link.name: FloorTwin(link, limits_of(link)) for link in links}
        self.tables = {table: link.name for link in links for table in link.tables}
        self.book, self.shadow = Book(), Book()
        self.written: list[str] = []
        self.history: list[tuple[object, ...]] = []
        self.counts: Counter[str] = Counter()
        site = SiteSettings(
            "twin",
            confirm_above_cents=links[0].confirm_above,
            cards_above_cents=links[0].cards_above,
            two_person_cents=links[0].two_person,
            seed_recovery=True,
            release_to_house=True,
            unclaimed_days=1,
        )
        self._sure(ask.CreateLedger(actor=SYSTEM, site="twin", currency="USD", demo=False))
        self._sure(ask.SetSite(actor=SYSTEM, settings=site))
        for link in links:
            self._sure(ask.OpenLink(actor=SYSTEM, settings=(settings or {}).get(link.name) or link_settings(link)))
            for table in table_settings(link):
                self._sure(ask.DefineTable(actor=SYSTEM, settings=table))
                self._sure(ask.OpenTable(actor=SYSTEM, table=table.id))
        if funds is not None:
            funds.open(self)
        self.compare()

    def _sure(self, command: Command) -> None:
        assert None is self.decide(command).refusal, command

    # the three reckonings

    def decide(self, command: Command, at: str = START) -> Decision:
        """Decide a command and take its entries in, live and retold."""
        decision = decide(self.book, command)
        if self.light:
            for entry in decision.entries:
                self.book.apply(self.book.seq + 1, at, entry)
            return decision
        assert vars(self.shadow) == vars(self.book), "deciding changed the book, or its fold is another"
        restarted = decide(self.shadow, command)
        assert decision.refusal == restarted.refusal, "a restart changes the answer"
        assert comparable(decision) == comparable(restarted), "a restart changes what is written"
        for entry in decision.entries:
            assert 0 == sum(posting.microcents for posting in entry.postings)
            assert all(posting.microcents for posting in entry.postings), "a posting of nothing"
            self.book.apply(self.book.seq + 1, at, entry)
            assert None is self.book.check_levels(entry)
        told = [entry.event_id for entry in decision.entries]
        event = str(command.event) if command.event is not None else None
        assert [event, *[None] * len(told[1:])][: len(told)] == told, "an answer tells its event once"
        if decision.refusal is not None:
            assert not any(entry.postings for entry in decision.entries)
            stood, stands = holdings(self.shadow), holdings(self.book)
            if command.event is not None:  # a press that was refused is used up all the same
                stood["devices"] = stands["devices"]
            assert stood == stands, f"{decision.refusal} changed the book"
        for entry in decision.entries:
            again = retold(entry)
            self.write(again, at)
            self.shadow.apply(self.shadow.seq + 1, at, again)
        return decision

    def write(self, entry: Entry, at: str = START) -> None:
        """Keep an entry as text, for a restart."""
        line = [at, entry.kind, entry.actor, entry.table, entry.link, entry.event_id, entry.body, entry.postings]
        self.written.append(json.dumps(line, sort_keys=True))

    def restart(self) -> None:
        """The book is forgotten and folded again from everything that was written."""
        self.book = Book()
        for text in self.written:
            at, kind, actor, table, link, event, body, postings = json.loads(text)
            posted = tuple(Posting(account, amount) for account, amount in postings)
            entry = Entry(Kind(kind), actor, table, link, None, event, body, posted)
            self.book.apply(self.book.seq + 1, at, entry)
        assert vars(self.shadow) == vars(self.book)

    def step(self, verb: str, a: int, b: int, c: int) -> str | None:
        """One act out of numbers; what they mean depends on where the history stands. Tells why it was refused."""
        if verb == "restart":
            self.restart()
            self.counts["restart"] += 1
            return None
        if verb == "noise":
            return self.refused(NOISE[a % len(NOISE)](self, b, c))
        if verb == "fund" and self.funds is not None:
            self.funds.step(a, Act(b % 100, c % 100, a // 3, (b ^ c) % 100))
            self.compare()
            self.counts["fund"] += 1
            return None
        act = make(self, "claim" if verb == "fund" else verb, a, b, c)
        if act is None:
            self.counts["none"] += 1
            return None
        return self.act(act)

    def settle(self, twin: FloorTwin, *, hold: bool) -> None:
        """End all rounds of a link. What is pending is held, or else confirmed, or where that is refused voided."""
        if twin.state.suspended:
            self.act(("resume", twin.rules.name))
        pending = sorted(
            (win for win in twin.state.wins.values() if win.status == "pending"), key=lambda w: int(w.id[1:])
        )
        for win in pending:
            if hold and not win.held:
                self.act(("hold", win.id))
            elif not hold and self.act(("confirm", win.id, win.hand if twin.ranked else None, True)) is not None:
                self.act(("void", win.id, True))
        for table, current in list(twin.state.rounds.items()):
            if current is not None:
                self.act(("end", table))

    def refused(self, command: Command) -> str:
        decision = self.decide(command)
        assert decision.refusal is not None, command
        self.counts["noise"] += 1
        return decision.refusal.refusal.value

    def act(self, act: tuple[object, ...]) -> str | None:
        """Send an act to the rules and to its twin, and compare everything."""
        ours = self.play(act)
        self.compare()
        return ours

    def play(self, act: tuple[object, ...]) -> str | None:
        """Send an act to the rules and to its twin, and compare the answers."""
        self.history.append(act)
        event: tuple[str, int, int] | None = None
        if act[0] == "press":
            event, act = act[1:]  # type: ignore[assignment]
        verb = str(act[0])
        command = ALL_COMMANDS[verb](*act[1:])
        if event is not None:
            command = with_event(command, event)
            if self.marks.spent(event):
                decision = self.decide(command)
                assert ("ALREADY_DONE", ()) == (decision.refusal and decision.refusal.refusal.value, decision.entries)
                self.counts[f"press {verb} ALREADY_DONE"] += 1
                return "ALREADY_DONE"
        ours = self.ask_twin(act)
        decision = self.decide(command)
        theirs = None if decision.refusal is None else decision.refusal.refusal.value
        self.counts[verb if ours is None else f"{verb} {ours}"] += 1
        if verb == "correct" and ours is not None:
            assert theirs is not None  # which of several reasons: the round may be long gone
        else:
            assert (ours, act) == (theirs, act), (ours, theirs)
        if event is not None:
            self.marks.mark(event)
        if ours is None:
            self._noted(act, decision)
        return ours

    def _noted(self, act: tuple[object, ...], decision: Decision) -> None:
        """What an act that was done means for the marks of devices."""
        match act:
            case ("trust", *_):
                same_trust(self.marks, act, decision)
            case ("lost", _, dict(heard)) | ("stopped", dict(heard)):
                self.marks.heard(heard)
            case ("lock", table, dict(units), *rest):
                chips: dict[int, tuple[str, int, int]] | None = rest[0] if rest else None  # type: ignore[assignment]
                sure = self._sure_wagers(str(table), units, chips)
                refused = [entry.body["keyed"]["seat"] for entry in decision.entries[1:]]
                assert sorted(set(units) - set(sure)) == sorted(refused), table
                self.counts["lock SEAT"] += len(refused)
                for seat in set(sure) & set(chips or {}):
                    self.marks.mark((chips or {})[seat])
            case ("late", table, _):
                self.late[str(table)] += 1
        if act[0] == "lock":
            self.late[str(act[1])] = 0

    def ask_twin(self, act: tuple[object, ...]) -> str | None:
        verb = str(act[0])
        if verb in {"lost", "stopped"}:
            return None
        if verb == "trust":
            return self._trusted(act[1])  # type: ignore[arg-type]
        if verb == "late":
            return self.twin_of(str(act[1])).late_bet_why_not(str(act[1]), int(str(act[2])))
        if verb == "crash":
            for twin in self.twins.values():
                twin.do(act)
            return None
        if verb in LINK_VERBS:
            return self._change(verb, str(act[1]), *act[2:])
        if verb == "dispose":
            act = (act[0], act[1], act[3])
        if verb == "claim-by-cards":
            act = ("claim", *act[1:])
        if verb == "lock":
            act = ("lock", act[1], self._sure_wagers(*act[1:]))  # type: ignore[arg-type]
        return self.twin_of(str(act[1])).do(act, self.claims)

    def _sure_wagers(
        self, table: str, units: dict[int, int], chips: dict[int, tuple[str, int, int]] | None = None
    ) -> dict[int, int]:
        """The wagers of a LOCK that can be: their chip counts, and they can be paid."""
        fresh = units if chips is None else new_chips(self.marks, chips)
        rules = self.twin_of(table).rules
        return {seat: count for seat, count in units.items() if seat in fresh and rules.payable(table, count)}

    def _trusted(self, tables: tuple[str, ...]) -> str | None:
        """A device that comes back closes its open tables until END GAME."""
        if any(table not in self.tables for table in tables):
            return "TABLE_UNKNOWN"
        for table in tables:
            twin = self.twin_of(table)
            if twin.state.rounds[table] is None and table not in twin.state.shut_tables:
                assert None is twin.do(("shut", table, True), self.claims)
        return None

    def _change(self, verb: str, link: str, *rest: object) -> str | None:
        if verb == "transfer" and rest[1] != link:
            level, other, target, cents = rest
            return self.twins[link].transfer_to(str(level), self.twins[str(other)], str(target), int(str(cents)))
        if verb == "transfer":
            rest = (rest[0], *rest[2:])
        return self.twins[link].do((verb, *rest), self.claims)

    @property
    def claims(self) -> int:
        return len(self.book.awards)

    def twin_of(self, name: str) -> FloorTwin:
        """The twin that knows a table or an award; any where nobody does."""
        if name in self.tables:
            return self.twins[self.tables[name]]
        twins = list(self.twins.values())
        return next((twin for twin in twins if name in twin.state.wins or name in twin.voided), twins[0])

    # comparing

    def compare(self) -> None:
        book = self.book
        ours: dict[str, Fraction] = {}
        for name, twin in self.twins.items():
            for account, amount in twin.state.accounts.items():
                if amount:
                    real = _real_name(name, account)
                    ours[real] = ours.get(real, Fraction(0)) + amount * MICRO
        for account, amount in (self.funds.accounts() if self.funds is not None else {}).items():
            ours[account] = ours.get(account, Fraction(0)) + amount * MICRO
        assert {account: amount for account, amount in ours.items() if amount} == {
            account: amount for account, amount in book.balances.items() if amount
        }
        assert 0 == book.residual_microcents()
        assert self.marks.marks == {name: tuple(mark) for name, mark in book.devices.items()}
        assert {name: self.late[name] for name in self.tables} == {name: book.tables[name].late for name in self.tables}
        if self.funds is not None:
            self.funds.compare()
        for name, twin in self.twins.items():
            self._compare_link(name, twin)
            self._compare_journal(name)
        assert all(amount >= 0 for account, amount in book.balances.items() if account.startswith(PLAYERS))
        self._compare_identity()

    def _compare_link(self, name: str, twin: FloorTwin) -> None:
        book, state = self.book, twin.state
        wins = {**state.wins, **twin.voided}
        for award, win in wins.items():
            real = book.awards[award]
            flags = (real.sign_above_meter, real.meter_empty)
            assert (win.word, win.amount, win.above, win.empty) == (real.state_word, real.amount_cents, *flags), award
            assert (win.word == "held", win.undone) == (real.held, real.undone), award
            assert (win.status in {"pending", "confirmed"}) == (award in book.open_awards), award
        link = book.links[name]
        for level, rules in link.levels.items():
            assert rules.standing_seed_microcents == state.standing[level] * MICRO
            assert link.counts[level].adjusted == state.adjusted[level] * MICRO
            assert (rules.resets, rules.hits, rules.won_cents) == (
                state.resets[level],
                state.hits[level],
                state.won[level],
            )
        assert (state.wagers, state.units) == (link.wagers, link.units)
        liability = book.liability_microcents(name)
        assert state.liability() * MICRO == liability
        assert liability >= 0
        self._compare_tables(name, twin)
        for table in twin.rules.tables:
            if state.rounds[table] is None:
                assert state.tokes[table] == book.tables[table].last_toke_cents
                assert sorted(state.past_envy[table]) == sorted(tuple(s) for s in book.tables[table].last_envy)

    def _compare_tables(self, name: str, twin: FloorTwin) -> None:
        """Which tables are open, and that no more is remembered of rounds than is needed."""
        state, rounds = twin.state, set()
        for table in twin.rules.tables:
            real, shut = self.book.tables[table], state.shut_tables.get(table)
            status = "LOCKED" if state.rounds[table] is not None else "OPEN" if shut is None else "CLOSED"
            assert (status, state.locks[table]) == (real.state.value, real.round), table
            assert bool(shut) == real.needs_end_game, table
            ended = {win.round.number for win in state.wins.values() if win.round.table == table and win.round.ended}
            waiting = {
                win.round.number for win in state.wins.values() if win.round.table == table and win.status == "pending"
            }
            assert ended & waiting == set(real.past), table
            rounds |= {f"{table}#{number}" for number in real.past} | ({real.key} if status == "LOCKED" else set())
        marks = self.book.links[name].marks
        assert rounds == set(marks)
        for win in state.wins.values():
            mark = marks.get(f"{win.round.table}#{win.round.number}")
            told = {level: tie.closed for level, tie in mark.ties.items()} if mark is not None else {}
            assert mark is None or all(tie.closed == told[level] for level, tie in win.round.ties.items()), win.id

    def _compare_journal(self, name: str) -> None:
        """The acts since the earliest pending claim, told again unchanged, lead to what the book holds."""
        book, link = self.book, self.book.links[name]
        assert bool(link.pending) == (link.journal is not None)
        if link.journal is None:
            return
        ops = link.journal.ops
        pins = Timeline.of(book, name).pins
        told = play(link.rules, ops[0].before, ops, pins, link.marks).money  # type: ignore[union-attr]
        now = book.money(name)
        assert now.levels == told.levels
        for award in link.pending:
            assert book.awards[award].parts == told.parts[award], award
        for award, pinned in pins.items():
            assert pinned == told.parts[award], award
        for key, mark in link.marks.items():
            again = told.marks[key]
            assert (mark.resets, mark.over, mark.landed) == (again.resets, again.over, again.landed)
            open_ties = {level: replace(tie, closed=False) for level, tie in mark.ties.items()}
            assert open_ties == {level: replace(tie, closed=False) for level, tie in again.ties.items()}

    def _compare_identity(self) -> None:
        """What the players own is the shares of their wagers and what the house put up, less what was handed out."""
        sums: Counter[str] = Counter()
        for account, amount in self.book.balances.items():
            kind, _, rest = account.partition("/")
            sums[f"house/{rest.partition('/')[0]}" if kind == "house" else kind] += amount
        players = sum(sums[kind.rstrip("/")] for kind in PLAYERS)
        shared = sum((twin.state.shared for twin in self.twins.values()), Fraction(0))
        handed_out = sum(twin.state.handed_out for twin in self.twins.values())
        put_in = self.funds.put_in() if self.funds is not None else Fraction(0)
        put_up = -sums["house/seed"] - sums["house/pays"]
        assert (shared - handed_out + put_in) * MICRO + put_up - sums["house/revenue"] == players


def _real_name(link: str, name: str) -> str:
    """The twin's account by its real name."""
    kind, _, level = name.rpartition("/")
    return f"{kind}/{link}/{level}" if kind in {"meter", "reserve", "overflow", "house/seed"} else name


Maker = Callable[[World, int, int], Command]
