"""Two dice: what was rolled, the streaks built on rolls, and exact chances of craps bets by the 36 ways of two dice.

Points (CO 47.1-2399.01, .02): on a come-out roll 4, 5, 6, 8, 9 or 10 sets the point; the point is made when it is
rolled again before a seven. A seven with a point up ends the shooter's turn. Nothing else rolled changes anything: no
natural and no craps on a come-out.
All numbers (CO 47.1-2399.05, Make 'Em All): every total but seven once, before any seven, the come-out's included.
Units: chances are fractions; a roll is its total, and the two dice where they were written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from itertools import product
from typing import Final, NamedTuple

from .cards import CardError, quoted
from .streak import Streak

SEVEN: Final = 7
FACES: Final = range(1, 7)

#: Totals that can be a point.
POINTS: Final = (4, 5, 6, 8, 9, 10)

#: All totals of two dice.
TOTALS: Final = range(2, 13)

#: All totals but seven.
NUMBERS: Final = (2, 3, 4, 5, 6, 8, 9, 10, 11, 12)

#: The 36 ways two dice fall, each as likely as any other.
WAYS: Final[tuple[tuple[int, int], ...]] = tuple((one, other) for one, other in product(FACES, FACES))


class Roll(NamedTuple):
    """A ``total`` of 2 to 12; ``dice`` is empty where only the total was written."""

    total: int
    dice: tuple[int, ...] = ()

    def __str__(self) -> str:
        """As written: ``2+2`` or ``4``."""
        return "+".join(map(str, self.dice)) or str(self.total)


class Chance(NamedTuple):
    """Exact chances of a bet; what is left loses."""

    win: Fraction
    push: Fraction = Fraction(0)

    @property
    def lose(self) -> Fraction:
        """Neither won nor pushed."""
        return 1 - self.win - self.push


def parse_rolls(text: str) -> tuple[Roll, ...]:
    """Rolls separated by spaces, in order: totals (``4``) or both dice (``2+2``).

    Raises:
        CardError: names the first thing that is no roll of two dice.
    """
    return tuple([_roll(word) for word in text.split()])


def craps_points(rolls: Sequence[Roll], *, distinct: bool, most: int) -> Streak:
    """Points made from a come-out roll on; ``numbers`` holds them in the order made.

    ``distinct`` counts a point once however often it is made (Fire Bet), else every one counts (Sharp Shooter). The
    streak ends with the seven-out, or with the point that makes ``most``.

    Raises:
        CardError: no roll, what is no roll of two dice, or a roll after the one that ended it.
        ValueError: ``most`` is below 1.
    """
    if most < 1:
        raise ValueError(f"no streak ends with {most} points: expected 1 or more")
    _need_rolls(rolls, "4 6 4 7")
    point = 0
    made: list[str] = []
    for place, roll in enumerate(rolls):
        if not point:
            point = roll.total if roll.total in POINTS else 0
        elif roll.total == SEVEN:
            return _ended(rolls, place, made)
        elif roll.total == point:
            if not distinct or str(point) not in made:
                made.append(str(point))
            point = 0
            if len(made) >= most:
                return _ended(rolls, place, made)
    return Streak(len(made), ended=False, numbers=tuple(made))


def all_numbers(rolls: Sequence[Roll]) -> Streak:
    """Different totals before a seven, in the order rolled; ended by any seven, or won with all ten.

    Raises:
        CardError: no roll, or a roll after the one that ended it.
    """
    _need_rolls(rolls, "6 5 12 7")
    seen: list[str] = []
    for place, roll in enumerate(rolls):
        if roll.total == SEVEN:
            return _ended(rolls, place, seen)
        if str(roll.total) not in seen:
            seen.append(str(roll.total))
            if len(seen) == len(NUMBERS):
                return _ended(rolls, place, seen)
    return Streak(len(seen), ended=False, numbers=tuple(seen))


def chance(bet: str) -> Chance:
    """The chance of a craps bet in words, from the moment it is made until it is decided.

    ``roll:7`` or ``roll:2,3,12`` (totals of the next roll), ``hop:1-3`` or ``hop:2-2,1-5`` (both dice of the next
    roll), ``before:4/7`` (one total, or one of several, before another: place, buy and lay bets), ``hard:4`` (the pair
    before a seven and before the same total otherwise), ``pass`` and ``dont-pass`` (from the come-out; 12 pushes the
    latter, CO 47.1-2304(2)).

    Raises:
        CardError: names what was given and what was expected.
    """
    word, colon, text = bet.partition(":")
    if word not in _BETS or bool(colon) != (word in _WITH_DETAIL):
        raise CardError(f"{bet!r} is not a craps bet: expected {_EXPECTED}")
    return _BETS[word](text, bet)


def ways(totals: Iterable[int]) -> int:
    """How many of the 36 ways make one of the totals."""
    wanted = set(totals)
    return sum(1 for one, other in WAYS if one + other in wanted)


def decided(win: int, lose: int) -> Fraction:
    """Chance to win a bet that stays until one of ``win`` or ``lose`` ways of the 36 comes."""
    return Fraction(win, win + lose)


def _one_roll(text: str, bet: str) -> Chance:
    return Chance(Fraction(ways(_totals(text, bet)), len(WAYS)))


def _hop(text: str, bet: str) -> Chance:
    wanted: set[tuple[int, int]] = set()
    for pair in text.split(","):
        faces = pair.split("-")
        if len(faces) != 2 or not all(_number(face, FACES) for face in faces):
            raise CardError(f"{bet!r}: {pair!r} is not two dice: expected such as 1-3, each die 1 to 6")
        wanted.add((int(faces[0]), int(faces[1])))
    return Chance(Fraction(sum(1 for way in WAYS if way in wanted or way[::-1] in wanted), len(WAYS)))


def _before(text: str, bet: str) -> Chance:
    wins, slash, losses = text.partition("/")
    if not slash:
        raise CardError(f"{bet!r}: expected the totals that win and those that lose, such as before:4/7")
    won, lost = _totals(wins, bet), _totals(losses, bet)
    if set(won) & set(lost):
        raise CardError(f"{bet!r}: {min(set(won) & set(lost))} cannot both win and lose")
    return Chance(decided(ways(won), ways(lost)))


def _hard(text: str, bet: str) -> Chance:
    if not _number(text, (4, 6, 8, 10)):
        raise CardError(f"{bet!r}: there is no hard way of {text!r}: expected 4, 6, 8 or 10")
    return Chance(decided(1, ways((int(text), SEVEN)) - 1))


def _pass(_text: str, _bet: str) -> Chance:
    come_out = Fraction(ways((7, 11)), len(WAYS))
    made = [Fraction(ways((point,)), len(WAYS)) * decided(ways((point,)), ways((SEVEN,))) for point in POINTS]
    return Chance(come_out + sum(made))


def _dont_pass(_text: str, _bet: str) -> Chance:
    come_out = Fraction(ways((2, 3)), len(WAYS))
    missed = [Fraction(ways((point,)), len(WAYS)) * decided(ways((SEVEN,)), ways((point,))) for point in POINTS]
    return Chance(come_out + sum(missed), Fraction(ways((12,)), len(WAYS)))


_BETS: Final[dict[str, Callable[[str, str], Chance]]] = {
    "roll": _one_roll,
    "hop": _hop,
    "before": _before,
    "hard": _hard,
    "pass": _pass,
    "dont-pass": _dont_pass,
}
#: First words of the bets that :func:`chance` knows.
WORDS: Final = tuple(_BETS)

_WITH_DETAIL: Final = frozenset({"roll", "hop", "before", "hard"})
_EXPECTED: Final = "roll:TOTALS, hop:DIE-DIE, before:TOTALS/TOTALS, hard:TOTAL, pass or dont-pass"


def _roll(word: str) -> Roll:
    faces = word.split("+")
    if len(faces) == 2 and all(_number(face, FACES) for face in faces):
        dice = (int(faces[0]), int(faces[1]))
        return Roll(sum(dice), dice)
    if _number(word, range(2, 13)):
        return Roll(int(word))
    raise CardError(f"{quoted(word)} is not a roll of two dice: expected a total of 2 to 12, or both dice such as 2+2")


def _totals(text: str, bet: str) -> tuple[int, ...]:
    for word in text.split(","):
        if not _number(word, range(2, 13)):
            raise CardError(f"{bet!r}: {word!r} is not a total of two dice: expected 2 to 12, several with commas")
    return tuple(map(int, text.split(",")))


def _number(text: str, allowed: Iterable[int]) -> bool:
    return text in {str(number) for number in allowed}


def _need_rolls(rolls: Sequence[Roll], example: str) -> None:
    if not rolls:
        raise CardError(f"no roll given: expected the rolls in order, such as {example}")
    for roll in rolls:
        if roll.total not in TOTALS:
            raise CardError(f"{roll} is not a roll of two dice: expected a total of 2 to 12")


def _ended(rolls: Sequence[Roll], place: int, numbers: Sequence[str]) -> Streak:
    if place + 1 < len(rolls):
        raise CardError(f"it ended with roll {place + 1}, {rolls[place]}; {rolls[place + 1]} comes after it")
    return Streak(len(numbers), ended=True, numbers=tuple(numbers))
