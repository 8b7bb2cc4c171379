"""What somebody does to a simulated floor while it runs: cables, devices, inputs. One order a line of text.

An order names what the daemon's site file names: a line ``pit-1``, a module ``pit-1/60``, an input ``pit-1/60/di3``, a
sign. Every order can be taken back by another. Times are seconds, rates are per byte.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from meterd.sim.faults import BadCable, Rates
from meterd.sim.lines import Line, Noise
from meterd.sim.modules import SimModule
from meterd.sim.osdp_pad import OsdpPad
from meterd.sim.sign import AlphaSign
from meterd.sim.world import World

TAP_S: Final = 0.15  # a button is held about as long
#: What can be ordered; docs/sim.md says it in a table, which a test holds against this.
WORDS: Final = (
    "unplug LINE",
    "plug LINE",
    "swap LINE LINE",
    "cable LINE good",
    "cable LINE [drop R] [flip R] [duplicate R] [stray R] [cut R]",
    "echo LINE STATE",
    "slow LINE/UNIT MILLISECONDS",
    "reboot DEVICE",
    "mute DEVICE",
    "speak DEVICE",
    "stick LINE/UNIT/diN STATE",
    "free LINE/UNIT/diN",
    "on LINE/UNIT/diN",
    "off LINE/UNIT/diN",
    "tap LINE/UNIT/diN",
)
_CABLE: Final = ("drop", "flip", "duplicate", "stray", "cut")
_INPUT: Final = re.compile(r"(.+)/di(\d+)")


Deed = Callable[[], object]


class OrderError(ValueError):
    """An order nobody can carry out; the message says why and what there is."""


class Timed(NamedTuple):
    """An order with the seconds after which it is due."""

    after_s: float
    text: str


def timed(line: str) -> Timed | None:
    """``at 12.5 unplug pit-1``, or an order for now; None for a comment or an empty line. Raises OrderError."""
    text = line.partition("#")[0].strip()
    if not text:
        return None
    first, _, rest = text.partition(" ")
    if first != "at":
        return Timed(0.0, text)
    after, _, order = rest.strip().partition(" ")
    return Timed(_number(after, "seconds"), order.strip())


class Orders:
    """Carries orders out on a world. ``seed`` is that of the bad cables."""

    def __init__(self, world: World, now: Callable[[], float], later: Callable[..., object], seed: str = "0") -> None:
        """``now`` and ``later`` are the loop's clock and its ``call_later``."""
        self._world = world
        self._now = now
        self._later = later
        self._seed = seed
        self._verbs: dict[str, Callable[[Sequence[str]], Deed]] = {
            "unplug": lambda words: self._line(words, 1).unplug,
            "plug": lambda words: self._line(words, 1).plug,
            "swap": self._swap,
            "cable": self._cable,
            "echo": self._echo,
            "slow": self._slow,
            "reboot": self._reboot,
            "mute": lambda words: self._mute(words, mute=True),
            "speak": lambda words: self._mute(words, mute=False),
            "stick": self._stick,
            "free": lambda words: self._on_input(words, 1, lambda m, n: m.stick(n, None, self._now())),
            "on": lambda words: self._set(words, on=True),
            "off": lambda words: self._set(words, on=False),
            "tap": self._tap,
        }

    def read(self, text: str) -> Deed:
        """What an order will do. Raises :class:`OrderError`; nothing has been done either way."""
        verb, *words = text.split() or [""]
        if verb not in self._verbs:
            raise OrderError(f"no order {verb!r}: there are {', '.join(self._verbs)}")
        return self._verbs[verb](words)

    def carry_out(self, text: str) -> None:
        """Do it now. Raises :class:`OrderError`; then nothing has been done."""
        deed = self.read(text)
        try:
            deed()
        except OSError as error:  # a name for a port is taken meanwhile
            raise OrderError(str(error)) from error
        self._world.journal.note("order", self._now(), text=text)

    # ---- cables

    def _line(self, words: Sequence[str], count: int) -> Line:
        _expect(words, count)
        if words[0] not in self._world.lines:
            raise OrderError(f"no line {words[0]}: there are {', '.join(self._world.lines)}")
        return self._world.lines[words[0]]

    def _swap(self, words: Sequence[str]) -> Deed:
        one, other = self._line(words, 2), self._line(words[1:], 1)
        if one is other:
            raise OrderError(f"{words[0]} cannot change places with itself")

        def swap() -> None:
            for line in (one, other):
                line.unplug()
            one.path, other.path = other.path, one.path
            for line in (one, other):
                line.plug()

        return swap

    def _cable(self, words: Sequence[str]) -> Deed:
        line = self._line(words[:1], 1)
        if list(words[1:]) == ["good"]:
            return lambda: setattr(line, "noise", Noise())
        pairs = dict(zip(words[1::2], words[2::2], strict=False))
        if len(words) < 3 or len(words) % 2 == 0 or not pairs.keys() <= set(_CABLE):
            raise OrderError(f"a cable is good, or has rates per byte of {', '.join(_CABLE)}: drop 0.001 flip 0.001")
        try:
            drop, flip, duplicate, stray, cut = (_number(pairs.get(kind, "0"), "rate") for kind in _CABLE)
            rates = Rates(drop, flip, duplicate, stray, cut)
        except ValueError as error:
            raise OrderError(str(error)) from error
        return lambda: setattr(line, "noise", BadCable(rates, f"{self._seed}/{words[0]}"))

    def _echo(self, words: Sequence[str]) -> Deed:
        line, on = self._line(words[:1], 1), _on_off(words, 2)
        return lambda: setattr(line, "echo", on)

    def _slow(self, words: Sequence[str]) -> Deed:
        module, line = self._module(words, 2)
        late_s = _number(words[1], "milliseconds") / 1000
        return lambda: line.turnaround_s.update({module.unit: late_s})

    # ---- devices

    def _module(self, words: Sequence[str], count: int) -> tuple[SimModule, Line]:
        _expect(words, count)
        line, _, unit = words[0].partition("/")
        key = (line, int(unit) if unit.isdecimal() else -1)
        if key not in self._world.modules:
            there = ", ".join(f"{bus}/{number}" for bus, number in self._world.modules)
            others = ", ".join([*(f"{bus}/{number}" for bus, number in self._world.pads), *self._world.signs])
            raise OrderError(
                f"no module {words[0]}: there are {there or 'none'}{f', and of other kinds {others}' if others else ''}"
            )
        return self._world.modules[key], self._world.lines[line]

    def _sign(self, name: str) -> AlphaSign | None:
        return self._world.signs.get(name)

    def _pad(self, name: str) -> OsdpPad | None:
        line, _, address = name.partition("/")
        dealer = self._world.pads.get((line, int(address))) if address.isdecimal() else None
        return dealer.pad if dealer is not None else None

    def _reboot(self, words: Sequence[str]) -> Deed:
        _expect(words, 1)
        sign, pad = self._sign(words[0]), self._pad(words[0])
        if sign is not None:
            return sign.power_cut
        if pad is not None:
            return pad.reboot
        module, _ = self._module(words, 1)
        return lambda: module.power_cut(self._now())

    def _mute(self, words: Sequence[str], *, mute: bool) -> Deed:
        _expect(words, 1)
        quiet = self._sign(words[0]) or self._pad(words[0])
        if quiet is not None:
            return lambda: setattr(quiet, "mute", mute)
        module, _ = self._module(words, 1)
        return lambda: (self._world.muted.add if mute else self._world.muted.discard)(module)

    # ---- inputs

    def _on_input(self, words: Sequence[str], count: int, act: Callable[[SimModule, int], None]) -> Deed:
        _expect(words, count)
        match = _INPUT.fullmatch(words[0])
        if match is None:
            raise OrderError(f"{words[0]} is no input: expected LINE/UNIT/diN")
        module, _ = self._module([match[1]], 1)
        if int(match[2]) >= module.shape.inputs.count:
            raise OrderError(f"{match[1]} has the inputs di0 to di{module.shape.inputs.count - 1}")
        return lambda: act(module, int(match[2]))

    def _stick(self, words: Sequence[str]) -> Deed:
        level = _on_off(words, 2)
        return self._on_input(words, 2, lambda module, index: module.stick(index, level, self._now()))

    def _set(self, words: Sequence[str], *, on: bool) -> Deed:
        return self._on_input(words, 1, lambda module, index: module.set_input(index, on=on, at=self._now()))

    def _tap(self, words: Sequence[str]) -> Deed:
        def tap(module: SimModule, index: int) -> None:
            module.set_input(index, on=True, at=self._now())
            self._later(TAP_S, lambda: module.set_input(index, on=False, at=self._now()))

        return self._on_input(words, 1, tap)


def _expect(words: Sequence[str], count: int) -> None:
    if len(words) != count:
        words_expected = f"{count} word{'s' * (count != 1)}"
        raise OrderError(f"{words_expected} expected behind it, not {len(words)}: {' '.join(words)}".rstrip(": "))


def _on_off(words: Sequence[str], count: int) -> bool:
    _expect(words, count)
    if words[-1] not in {"on", "off"}:
        raise OrderError(f"on or off, not {words[-1]}")
    return words[-1] == "on"


def _number(text: str, what: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value < float("inf"):
        raise OrderError(f"{what}: expected a number from 0 up, not {text!r}")
    return value
