"""Pads that tell their presses one by one, and badges: the same keys, other identities; who signs what."""

from __future__ import annotations

from dataclasses import replace

import pytest
from floor_table import TestFloor

from meterd.accounting.commands import SYSTEM, Command, Role, SetSite
from meterd.accounting.entries import Kind
from meterd.accounting.settings import SiteSettings
from meterd.config import PadProfile, PadRef, PadText, People, Person
from meterd.floor.router import Router
from protocols import pad_words
from protocols.events import KEY_LOST, KEY_PART, CardRead, DeviceDown, DeviceUp, KeyPressed, Reading

ENTER, CLEAR, END, LOCK = (
    pad_words.KEY_ENTER, pad_words.KEY_CLEAR, pad_words.KEY_END_GAME, pad_words.KEY_LOCK,
)  # fmt: skip
SUPERVISOR, VOID_SEAT, HOLD = pad_words.KEY_SUPERVISOR, pad_words.KEY_VOID_SEAT, pad_words.KEY_HOLD
ANN, BOB, DEE = "26:0123ABC0", "26:0123ABC1", "32:DEADBEEF"
PEOPLE = People(
    (
        Person("s-ann", Role.SUPERVISOR, ANN),
        Person("s-bob", Role.SUPERVISOR, BOB),
        Person("d-dee", Role.DEALER, DEE),
    )
)
PROFILE = PadProfile("test-osdp", "osdp-keypad", {"enter": (13,)}, PadText(2, 20))


class PadFloor(TestFloor):
    """The same table with a pad of its own at ``keys/5``."""

    __test__ = False

    def __init__(self, site: SiteSettings | None = None, evaluator: str | None = None) -> None:
        super().__init__()
        if evaluator is not None:
            super().__init__(paytable=replace(self.paytable, evaluator=evaluator))
        if site is not None:
            self.decide(SetSite(actor=SYSTEM, settings=site))
        self.config = replace(self.config, keypad=PadRef("keys", 5, PROFILE), badge_ms=15_000)
        self.count = 0
        self.restart(first=True)

    def restart(self, first: bool = False) -> None:
        super().restart(first)
        self.router = Router([self.config], PEOPLE)
        self.session = self.router.sessions[0]

    def pad_up(self) -> list[Command]:
        self.count = 0
        now = self.now_ms
        return self.send(DeviceUp("keys/5", Reading("keys/5", now, now, now, (), ()), 1))

    def press(self, *keys: str, gap_ms: int = 200) -> list[Command]:
        asked = []
        for key in keys:
            self.now_ms += gap_ms
            self.count += 1
            name = f"digit-{key}" if key.isdigit() else key
            asked += self.send(KeyPressed("keys/5", self.count, name, self.now_ms, self.now_ms - 5, self.now_ms - 60))
        return asked

    def card(self, badge: str) -> list[Command]:
        self.now_ms += 200
        self.count += 1
        return self.send(CardRead("keys/5", self.count, badge, self.now_ms))

    def open(self) -> PadFloor:
        self.up(self.sensors)
        self.pad_up()
        assert "OPEN" == self.table.state.value
        return self

    def locked(self, *seats: int) -> PadFloor:
        self.chips(*seats)
        self.lock_button()
        assert "LOCKED" == self.table.state.value
        return self

    def claimed(self, *seats: int) -> PadFloor:
        """A royal flush on the first of the seats, pending."""
        self.locked(*seats)
        self.press(str(seats[0]), "hand-1", ENTER)
        assert "pending" == self.book.awards["A1"].state_word
        return self


@pytest.fixture
def floor() -> PadFloor:
    return PadFloor().open()


# ── keys ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_table_opens_when_the_pad_is_trusted_too() -> None:
    """A pad counts among the devices of its table."""
    floor = PadFloor()
    floor.up(floor.sensors)
    assert "CLOSED NO DEVICE" == floor.text[0]
    floor.pad_up()
    assert "OPEN 0 BETS" == floor.text[0]


def test_a_round_by_pad_has_the_identity_of_each_press(floor: PadFloor) -> None:
    """LOCK, claim and END GAME carry device, epoch and number of their press."""
    floor.chips(3)
    floor.press(LOCK)
    floor.press("3", "hand-3", ENTER, END)
    events = {entry.kind: entry.event_id for entry in floor.entries if entry.event_id}
    assert "keys/5/key:1:1" == events[Kind.LOCKED]
    assert "keys/5/key:1:4" == events[Kind.CLAIMED]
    assert "keys/5/key:1:5" == events[Kind.GAME_ENDED]


def test_seat_hand_amount_and_envy_stand_before_enter(floor: PadFloor) -> None:
    """As on every pad."""
    floor.locked(1, 3, 5)
    floor.press("3", "hand-1")
    assert ("LOCKED ENVY 2000", "S3 H1 10000.60") == floor.text


def test_digits_in_one_breath_keep_their_order(floor: PadFloor) -> None:
    """Five digits told in one reply have the same time and an order."""
    floor.press(*"12345", gap_ms=0)
    assert "S12345" == floor.text[1]


def test_a_lost_press_clears_the_line(floor: PadFloor) -> None:
    """The numbers of two presses are not one apart: what is on the line may lack a digit."""
    floor.press("1")
    floor.count += 1
    floor.press("2")
    assert pad_words.KEYS_TOO_FAST == floor.text[1]
    floor.press("3", KEY_LOST)
    assert pad_words.KEYS_TOO_FAST == floor.text[1].rstrip(pad_words.MARK)


def test_the_first_key_of_a_sequence_is_seen(floor: PadFloor) -> None:
    """The full stop comes and goes, the line stays."""
    floor.press("3")
    floor.press(KEY_PART)
    assert "S3." == floor.text[1]
    floor.press(KEY_PART)
    assert "S3" == floor.text[1]


@pytest.mark.parametrize(
    "gaps",
    [[30], [20, 10, 15, 8], [250, *[33] * 53], [500, *[100] * 15]],
    ids=["twice in 30 ms", "bounced", "held with repeat", "held with slow repeat"],
)
def test_end_game_is_one_however_it_is_pressed(floor: PadFloor, gaps: list[int]) -> None:
    """Twice in 30 ms, bounced, held for two seconds with repeat: one END GAME, and nothing refused."""
    floor.locked(3)
    mark = len(floor.refusals)
    floor.press(END)
    for gap in gaps:
        floor.press(END, gap_ms=gap)
    ended = [entry for entry in floor.entries if entry.kind is Kind.GAME_ENDED]
    assert (1, mark, "OPEN") == (len(ended), len(floor.refusals), floor.table.state.value)


@pytest.mark.parametrize("every_ms", [33, 149, 151, 200, 300, 450])
@pytest.mark.parametrize("first_ms", [0, 250, 500, 1_000])
@pytest.mark.parametrize("lost", [None, "unseen", "counted", "told"])
def test_end_game_held_is_one_however_its_pad_repeats(
    floor: PadFloor, every_ms: int, first_ms: int, lost: str | None
) -> None:
    """Held for three seconds, one report lost at 1.2 s: unseen, missing from the pad's numbers, or told by the line."""
    floor.locked(3)
    mark = len(floor.refusals)
    floor.press(END)
    begun_ms, gap_ms = floor.now_ms, first_ms or every_ms
    while floor.now_ms - begun_ms < 3_000:
        if lost is not None and floor.now_ms - begun_ms + gap_ms >= 1_200:
            floor.count += lost == "counted"
            if lost == "told":
                floor.press(KEY_LOST, gap_ms=gap_ms)
                gap_ms = 0
            lost, gap_ms = None, gap_ms + every_ms
        floor.press(END, gap_ms=gap_ms)
        gap_ms = every_ms
    ended = [entry for entry in floor.entries if entry.kind is Kind.GAME_ENDED]
    assert (1, mark, "OPEN") == (len(ended), len(floor.refusals), floor.table.state.value)


def test_a_key_held_while_the_line_had_no_session_is_still_one(floor: PadFloor) -> None:
    """Nobody heard it for five seconds; where the line says so, what comes at once behind that is no new press."""
    floor.locked(3)
    floor.press(END)
    floor.press(KEY_LOST, gap_ms=5_000)
    for _ in range(20):
        floor.press(END, gap_ms=100)
    assert 1 == len([entry for entry in floor.entries if entry.kind is Kind.GAME_ENDED])
    assert pad_words.KEYS_TOO_FAST == floor.text[1].rstrip(pad_words.MARK)


@pytest.mark.parametrize("gap_ms", [8, 200, 350, 600, 1_000])
def test_end_game_that_was_refused_is_heard_again_once_it_was_let_go_for_a_second(floor: PadFloor, gap_ms: int) -> None:
    """A digit stood there: NO, key it alone. Pressed on and on, or held, it is the same; let go, it counts."""
    floor.locked(3)
    floor.press("3")
    floor.press(END)
    assert "ALONE" in floor.text[1]
    for _ in range(10):
        floor.press(END, gap_ms=gap_ms)
        assert "LOCKED" == floor.table.state.value
    floor.press(END, gap_ms=1_001)
    assert "OPEN" == floor.table.state.value


@pytest.mark.parametrize("gap_ms", [0, 60, 200])
@pytest.mark.parametrize(("key", "state"), [("3", "LOCKED"), (END, "OPEN")])
def test_what_a_pad_tells_behind_its_own_lock_was_pressed_after_it(
    floor: PadFloor, key: str, state: str, gap_ms: int
) -> None:
    """LOCK and the next key in one reply, or in replies with no empty one between: the numbers tell the order."""
    floor.chips(3)
    quiet_ms, floor.now_ms = floor.now_ms + 140, floor.now_ms + 200
    for name in (LOCK, f"digit-{key}" if key.isdigit() else key):
        floor.count += 1
        floor.send(KeyPressed("keys/5", floor.count, name, floor.now_ms, floor.now_ms - 5, quiet_ms))
        floor.now_ms += gap_ms
    assert (state, False) == (floor.table.state.value, "TOO FAST" in floor.text[1])
    if key == "3":
        assert "S3" == floor.text[1].rstrip(".")


def test_a_key_of_a_pad_that_may_be_from_before_the_button_is_not_for_the_round(floor: PadFloor) -> None:
    """LOCK by the table's button: the pad's numbers say nothing of that."""
    floor.chips(3)
    quiet_ms = floor.now_ms
    floor.lock_button()
    floor.count += 1
    floor.send(KeyPressed("keys/5", floor.count, END, floor.now_ms + 5, floor.now_ms, quiet_ms))
    assert ("LOCKED", True) == (floor.table.state.value, "TOO FAST" in floor.text[1])


@pytest.mark.parametrize("times", [2, 3, 7])
def test_end_game_that_bounces_within_a_snapshot_is_one(times: int) -> None:
    """The same on a pad wired to inputs: its counter moved more than once."""
    floor = TestFloor().open()
    floor.locked(3)
    floor.press_together(*[END] * times)
    floor.press(END)
    assert 1 == len([entry for entry in floor.entries if entry.kind is Kind.GAME_ENDED])
    assert "OPEN" == floor.table.state.value


def test_a_press_told_twice_counts_once(floor: PadFloor) -> None:
    """A driver that tells an event again changes nothing."""
    floor.locked(3)
    floor.press(END)
    floor.count -= 1
    floor.now_ms += 60_000
    assert [] == floor.press(END)


def test_lock_on_a_pad_takes_what_lay_there_before_its_request_left(floor: PadFloor) -> None:
    """A chip whose snapshot began after the pad was asked is late."""
    floor.chips(1)
    floor.sensors.set(1, True)
    floor.now_ms += 100
    floor.send(floor.sensors.reading(floor.now_ms))
    began = floor.now_ms
    floor.count += 1
    floor.send(KeyPressed("keys/5", floor.count, LOCK, began + 40, began, began - 60))
    assert ({1}, {2}) == (set(floor.table.wagers), {e.body["seat"] for e in floor.entries if e.kind is Kind.LATE_BET})


def test_a_lost_pad_closes_the_table_and_begins_a_new_epoch(floor: PadFloor) -> None:
    """Half a line and a badge are gone with it; what was found in its place is in the ledger."""
    floor.press("3")
    floor.card(ANN)
    floor.send(DeviceDown("keys/5", "key", "00BEBA-02-0000004D"))
    lost = floor.entries[-2]
    assert (Kind.DEVICE_LOST, "key", "00BEBA-02-0000004D") == (lost.kind, lost.body["cause"], lost.body["found"])
    assert "CLOSED NO DEVICE" == floor.text[0]
    floor.pad_up()
    assert ("CLOSED END GAME", "") == floor.text
    assert not [entry for entry in floor.entries if entry.kind is Kind.MISSED_WHILE_AWAY]
    floor.press(END)
    assert ("OPEN", "keys/5/key:2:1") == (floor.table.state.value, floor.entries[-1].event_id)


def test_keys_of_a_pad_that_is_not_trusted_are_nothing() -> None:
    """Before the baseline stands in the book."""
    floor = PadFloor()
    floor.up(floor.sensors)
    assert [] == floor.press(LOCK, END)


# ── badges ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_badge_shows_who_then_what_then_enter_takes_it(floor: PadFloor) -> None:
    """The confirmation is the person's; one badge, one act."""
    floor.claimed(3)
    assert [] == floor.card(ANN)
    assert "BADGE S-ANN" == floor.text[1]
    assert [] == floor.press(ENTER)
    assert ("LOCKED $10000.20", "CONFIRM A1 S3H1") == floor.text
    (confirm,) = floor.press(ENTER)
    assert ("s-ann", Role.SUPERVISOR) == tuple(confirm.actor)
    assert ("confirmed", "OK A1 CONFIRMED") == (floor.book.awards["A1"].state_word, floor.text[1])
    assert [] == floor.press(SUPERVISOR, ENTER), "the badge is used up"
    floor.card(BOB)
    (pay,) = floor.press(ENTER, ENTER)
    assert ("s-bob", "s-bob") == (pay.actor.id, pay.cashier)


def test_a_wide_display_names_the_signer_beside_the_amount() -> None:
    """Line 1 has the room."""
    floor = PadFloor()
    floor.config = replace(floor.config, keypad=PadRef("keys", 5, replace(PROFILE, text=PadText(2, 24))))
    floor.restart(first=True)
    floor.open()
    floor.claimed(3)
    floor.card(ANN)
    floor.press(ENTER)
    assert "LOCKED $10000.20 S-ANN" == floor.text[0]


def test_a_badge_is_over_after_its_time_and_the_late_key_is_not_taken(floor: PadFloor) -> None:
    """Times come from events alone; LOCK would be taken."""
    floor.claimed(3)
    floor.card(ANN)
    floor.press(ENTER)
    floor.now_ms += 15_001
    assert [] == floor.press(ENTER)
    assert ("NO BADGE IS OVER", "pending") == (floor.text[1], floor.book.awards["A1"].state_word)
    floor.press(ENTER)
    assert "NO LINE KEYED" == floor.text[1]


def test_lock_after_the_badges_time_is_the_dealers(floor: PadFloor) -> None:
    """The safe direction asks for no signature and gets none."""
    floor.chips(3)
    floor.card(ANN)
    floor.now_ms += 15_001
    (lock,) = floor.press(LOCK)
    assert ("dealer@T1", "LOCKED") == (lock.actor.id, floor.table.state.value)


def test_a_key_that_anybody_can_press_is_no_supervisor(floor: PadFloor) -> None:
    """Where SUPERVISOR is a key like any other it goes to the next award once a badge was read, and signs nothing."""
    floor.claimed(3)
    mark = len(floor.entries)
    for keys in ((SUPERVISOR, ENTER), (SUPERVISOR, VOID_SEAT), ("3", SUPERVISOR, VOID_SEAT), (SUPERVISOR, HOLD)):
        assert [] == floor.press(*keys)
    assert ("pending", mark) == (floor.book.awards["A1"].state_word, len(floor.entries))
    floor.press(SUPERVISOR)
    assert "NO BADGE FIRST" == floor.text[1]
    floor.card(ANN)
    floor.press(SUPERVISOR)
    assert "CONFIRM A1 S3H1" == floor.text[1]


def test_an_unknown_badge_says_so_and_changes_nothing(floor: PadFloor) -> None:
    """No secret is keyed at a table; a badge read before it does not count on."""
    floor.claimed(3)
    mark = len(floor.entries)
    floor.card(ANN)
    floor.card("26:FFFFFFC0")
    assert ("NO BADGE UNKNOWN", mark) == (floor.text[1], len(floor.entries))
    floor.press(ENTER)
    assert "pending" == floor.book.awards["A1"].state_word


def test_a_dealers_badge_confirms_nothing(floor: PadFloor) -> None:
    """The role decides, and the refusal is written down with the name."""
    floor.claimed(3)
    floor.card(DEE)
    floor.press(ENTER, ENTER)
    refused = floor.entries[-1]
    assert ("NO NOT AUTHORISED", "NOT_AUTHORISED", "d-dee") == (
        floor.text[1], floor.refusals[-1], refused.actor,
    )  # fmt: skip


def test_whoever_corrected_an_award_cannot_confirm_it(floor: PadFloor) -> None:
    """A correction keys the hand anew."""
    floor.claimed(3)
    floor.card(ANN)
    floor.press(ENTER, "hand-2")
    assert "A1 H2 1000.02" == floor.text[1]
    (correct,) = floor.press(ENTER)
    assert ("s-ann", "straight-flush", "OK A1 CORRECTED") == (correct.actor.id, correct.hand, floor.text[1])
    floor.card(ANN)
    floor.press(ENTER, ENTER)
    assert ("NO SAME PERSON", "SAME_PERSON") == (floor.text[1], floor.refusals[-1])
    floor.card(BOB)
    (confirm,) = floor.press(ENTER, ENTER)
    assert "s-bob" == confirm.actor.id
    assert "confirmed" == floor.book.awards["A1"].state_word


def test_a_correction_may_change_the_seat_too(floor: PadFloor) -> None:
    """Digits before the hand key."""
    floor.claimed(3, 5)
    floor.card(BOB)
    floor.press(ENTER, "5", "hand-2")
    assert "A1 S5 H2 1000.04" == floor.text[1]
    floor.press(ENTER)
    assert (5, "straight-flush") == (floor.book.awards["A1"].seat, floor.book.awards["A1"].hand)


def test_a_disputed_award_is_held_and_voided_by_badge(floor: PadFloor) -> None:
    """HOLD, then VOID SEAT on the award shown."""
    floor.claimed(3)
    floor.card(ANN)
    floor.press(ENTER, HOLD)
    assert ("held", "OK A1 HELD") == (floor.book.awards["A1"].state_word, floor.text[1])
    floor.card(BOB)
    (void,) = floor.press(ENTER, VOID_SEAT)
    assert ("s-bob", "OK A1 VOID") == (void.actor.id, floor.text[1])


def test_hold_without_an_award_says_so(floor: PadFloor) -> None:
    """Nothing is shown, nothing is held."""
    assert [] == floor.press(HOLD)
    assert "NO AWARD" == floor.text[1]


def test_two_people_by_two_badges() -> None:
    """One is refused and keeps his time; the second one's badge completes it. The same badge twice is one person."""
    floor = PadFloor(SiteSettings("test", confirm_above_cents=100_000, two_person_cents=100_000, cards_above_cents=100))
    floor.open()
    floor.claimed(3)
    floor.card(ANN)
    floor.press(ENTER, ENTER)
    assert ("NO 2ND PERSON", "SECOND_PERSON_REQUIRED") == (floor.text[1], floor.refusals[-1])
    floor.card(ANN)
    assert "BADGE S-ANN" == floor.text[1]
    floor.card(BOB)
    assert "BADGE S-ANN+S-BOB" == floor.text[1]
    (confirm,) = floor.press(ENTER, ENTER)
    assert ("s-ann", "s-bob", "confirmed") == (
        confirm.actor.id, confirm.second.id, floor.book.awards["A1"].state_word,
    )  # fmt: skip


def test_a_large_award_is_confirmed_where_its_cards_can_be_entered() -> None:
    """A pad has no cards: it says where, and the award stays pending."""
    site = SiteSettings("test", confirm_above_cents=100_000, cards_above_cents=100_000)
    floor = PadFloor(site, evaluator="five-card").open()
    floor.claimed(3)
    floor.card(ANN)
    floor.press(ENTER, ENTER)
    assert (pad_words.CARDS_AT_THE_PIT, "pending") == (floor.text[1], floor.book.awards["A1"].state_word)


def test_a_badge_held_to_a_half_keyed_hand_drops_neither_silently(floor: PadFloor) -> None:
    """The dealer's line goes with words, and the badge does not count."""
    floor.locked(3)
    floor.press("3", "hand-1")
    floor.card(ANN)
    assert "NO KEY IT ALONE" == floor.text[1]
    floor.press(ENTER)
    assert ("NO LINE KEYED", {}) == (floor.text[1], floor.book.awards)


def test_the_same_card_read_on_and_on_is_one_badge(floor: PadFloor) -> None:
    """Readers repeat a card that lies on them; it asks for nothing, and its time is the last one's."""
    floor.claimed(3)
    for _ in range(5):
        assert [] == floor.card(ANN)
    assert "BADGE S-ANN" == floor.text[1].rstrip(pad_words.MARK)


def test_end_of_round_drops_the_badge(floor: PadFloor) -> None:
    """A badge read in one round signs nothing in the next."""
    floor.locked(3)
    floor.card(ANN)
    floor.press(END)
    floor.now_ms += 2_000
    floor.clear_chips()
    floor.locked(3)
    floor.press(SUPERVISOR)
    assert "NO BADGE FIRST" == floor.text[1]


def test_split_and_board(floor: PadFloor) -> None:
    """A split seat; a hand that the board gives to all live seats, shown together before ENTER."""
    floor.locked(1, 3)
    floor.press("3", pad_words.KEY_SPLIT)
    assert "OK SPLIT S3" == floor.text[1]
    floor.press(pad_words.KEY_BOARD)
    assert "BOARD" == floor.text[1]
    floor.press("hand-3")
    assert "BOARD H3 50.00" == floor.text[1]
    assert {} == floor.book.awards
    (claim,) = floor.press(ENTER)
    assert ("full-house", {1, 3}) == (claim.hand, {award.seat for award in floor.book.awards.values()})
    assert "OK BOARD 50.00" == floor.text[1]


def test_keys_that_make_no_sense_after_board_are_refused_alone(floor: PadFloor) -> None:
    """As after a hand."""
    floor.locked(1)
    for key in ("3", pad_words.KEY_FOLD, END, HOLD):
        floor.press(pad_words.KEY_BOARD, key)
        assert "NO KEY IT ALONE" == floor.text[1].rstrip(pad_words.MARK), key
    floor.press(pad_words.KEY_BOARD, ENTER)
    assert "NO HAND KEYED" == floor.text[1]


def test_clear_takes_the_badge_away(floor: PadFloor) -> None:
    """The supervisor changed his mind."""
    floor.claimed(3)
    floor.card(ANN)
    assert [] == floor.press(CLEAR, SUPERVISOR, ENTER)
    assert "pending" == floor.book.awards["A1"].state_word
