"""The child a changed code is run in, and what checks say of it.

A change inside a function is put in place of the living function's code; one outside of functions is compiled when the
module is imported, in a child that has imported nothing of the tree.
"""

from __future__ import annotations

import functools
import gc
import hashlib
import marshal
import os
import pickle
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import spec_from_file_location
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

import pytest
from mutant_checks import FLAGS, LONG_S, Check, Known, flags_of, look, of_item, paths, quiet, random_checks, warm

if TYPE_CHECKING:
    from mutants import Mutant

#: What is changed; nothing that was reckoned with the unchanged code is kept.
ROOMS = ("meterd.money", "meterd.accounting")
#: Of checks on one mutant, in a plain run and in a thorough one.
MOST_S, MOST_AGAIN_S = 1.8, 2.5
#: Floors and rooms that come first.
FIRST = 3


class Bench:
    """All checks of a tree, and what they say of mutants."""

    def __init__(self, tree: Path, *, thorough: bool) -> None:
        self.tree, self.thorough = tree, thorough
        self.checks: list[Check] = []
        self.known: list[Known] = []
        self.noticed: dict[tuple[str, str], list[int]] = {}
        self.functions: dict[str, list[FunctionType]] = {}
        self.by_import: list[str] = []

    def with_checks(self, work: Callable[[], None]) -> int:
        """Collect all tests, see what each executes, then work; within pytest, which knows how to run them."""
        static, ask = Static.start(self.tree), self
        try:

            class Plugin:
                @pytest.hookimpl(tryfirst=True)
                def pytest_runtestloop(self, session: pytest.Session) -> bool:
                    ask.static = static
                    ask.begin(session)
                    work()
                    return True

            return int(pytest.main([*FLAGS, *flags_of(self.tree), *paths(self.tree)], plugins=[Plugin()]))
        finally:
            static.stop()

    def begin(self, session: pytest.Session) -> None:
        """Know the checks, and which lines they execute."""
        warm()
        self.checks = [*(of_item(item) for item in session.items), *random_checks(thorough=self.thorough)]
        wanted = {str(self.tree / "meterd" / "money.py")}
        wanted |= {str(file) for file in (self.tree / "meterd" / "accounting").glob("*.py")}
        gc.collect()
        for found in gc.get_objects():
            if isinstance(found, FunctionType) and found.__code__.co_filename in wanted:
                self.functions.setdefault(found.__code__.co_filename, []).append(found)
        started = time.monotonic()
        self.known = self._traced(wanted)
        gc.freeze()
        bad = [n for n, known in enumerate(self.known) if known.seconds < 0]
        print(f"left out, for they fail on the unchanged tree: {[self.checks[n].name for n in bad]}", flush=True)
        self.known = [Known(1e9, {}) if n in bad else known for n, known in enumerate(self.known)]
        self.control()
        total = sum(known.seconds for known in self.known if known.lines)
        print(f"{len(self.checks)} checks, {total:.0f} s; traced in {time.monotonic() - started:.0f} s", flush=True)

    def _traced(self, wanted: set[str]) -> list[Known]:
        """Run each check twice, with and without a look at its lines, in a child, so that nothing here is touched.

        What came of it is kept beside the temporary trees, for the next run of the same code and tests.
        """
        kept = Path(tempfile.gettempdir()) / f"mutant-lines-{self._digest()}-{self.thorough:d}.pickle"
        if kept.exists():
            found: list[Known] = pickle.loads(kept.read_bytes())  # noqa: S301 - what it reads it wrote itself
            return found
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(reader)
            quiet()
            with os.fdopen(writer, "wb") as pipe:
                pickle.dump([look(check, wanted, self.tree) for check in self.checks], pipe)
            os._exit(0)
        os.close(writer)
        with os.fdopen(reader, "rb") as pipe:
            found = pickle.load(pipe)  # noqa: S301
        os.waitpid(child, 0)
        kept.write_bytes(pickle.dumps(found))
        return found

    def _digest(self) -> str:
        digest = hashlib.sha256(repr([check.name for check in self.checks]).encode())
        for folder in ("meterd", "tests", "bench"):
            for file in sorted((self.tree / folder).rglob("*.*")):
                if file.suffix in {".py", ".scn", ".toml"}:
                    digest.update(file.read_bytes())
        return digest.hexdigest()[:16]

    def control(self) -> None:
        """The unchanged code must survive all short checks, quickest first as for a mutant, or nothing here counts."""
        short = [n for n, known in enumerate(self.known) if known.lines and known.seconds < LONG_S]
        short.sort(key=lambda n: self.known[n].seconds)
        floors = [n for n in short if self.checks[n].kind == "floor"]
        mine = [n for n in short if "test_mutant_" in self.checks[n].name or "carried" in self.checks[n].name]
        first = (*floors[:4], *(mine if self.thorough else ()), *short)
        self.by_import = [self.checks[n].name for n in self._within(dict.fromkeys(first))]
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            quiet()
            self._run(short, writer)
        os.close(writer)
        with os.fdopen(reader) as pipe:
            told = pipe.read().split()
        _, status = os.waitpid(child, 0)
        if status:
            sys.exit(f"the unchanged code does not survive {self.checks[int(told[-1])].name}")

    # one mutant

    def fate(self, mutant: Mutant) -> tuple[str, str]:
        """What became of it, and which check noticed."""
        file = str(self.tree / "meterd" / mutant.file)
        if not mutant.function:
            return self.static.fate(mutant, self.by_import)
        order = self._order(mutant, file)
        if not order:  # nothing executes it, or only imports do
            return self.static.fate(mutant, self.by_import) if self.thorough else ("uncovered", "")
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(reader)
            self._child(mutant, file, order, writer)
        os.close(writer)
        with os.fdopen(reader) as pipe:
            told = pipe.read().split()
        _, status = os.waitpid(child, 0)
        if told[-1:] in (["equal"], ["static"]):
            return ("equal", "") if told[-1] == "equal" else self.static.fate(mutant, self.by_import)
        if not os.WIFSIGNALED(status) and os.waitstatus_to_exitcode(status) == 0:
            return "survived", ""
        place = int(told[-1]) if told else order[0]
        before = self.noticed.setdefault((file, mutant.function), [])
        self.noticed[file, mutant.function] = [place, *(one for one in before if one != place)][:4]
        check = self.checks[place]
        return ("clock" if os.WIFSIGNALED(status) else check.kind), check.name

    def _order(self, mutant: Mutant, file: str) -> list[int]:
        """Checks that execute a changed line: those that noticed before, quick ones, a few floors, then the others."""
        first, last = mutant.lines
        places = set(range(first, last + 1))
        touch = [
            n for n, known in enumerate(self.known) if places & known.lines.get(f"meterd/{mutant.file}", frozenset())
        ]
        known = self.known
        touch = [n for n in touch if known[n].seconds < LONG_S]
        touch.sort(key=lambda n: known[n].seconds)
        before = [n for n in self.noticed.get((file, mutant.function), ()) if n in touch]
        floors = [n for n in touch if self.checks[n].kind == "floor"][:FIRST]
        if (
            self.thorough
        ):  # a second time: tests written for mutants, floors not tried yet, and what there was no time for
            mine = [n for n in touch if "test_mutant_" in self.checks[n].name]
            floors = [n for n in touch if self.checks[n].kind == "floor"][: 4 * FIRST]
            return self._within(dict.fromkeys((*before, *mine, *floors, *reversed(touch))))
        return self._within(dict.fromkeys((*before, *touch[:20], *floors, *touch)))

    def _within(self, order: Iterable[int]) -> list[int]:
        """As many of these checks as a run that is not thorough has time for."""
        chosen, spent = [], 0.0
        for n in order:
            spent += self.known[n].seconds
            chosen.append(n)
            if spent > (MOST_AGAIN_S if self.thorough else MOST_S):
                break
        return chosen

    def _child(self, mutant: Mutant, file: str, order: Sequence[int], writer: int) -> None:
        quiet()
        for found in gc.get_objects():
            if isinstance(found, functools._lru_cache_wrapper) and found.__module__.startswith(ROOMS):  # noqa: SLF001
                found.cache_clear()
        try:
            changed = put_in_place(mutant.code, self.functions[file])
        except ValueError:  # the way to an outer class is not needed any more
            os.write(writer, b"static ")
            os._exit(0)
        if not changed:
            os.write(writer, b"equal ")
            os._exit(0)
        self._run(order, writer)

    def _run(self, order: Sequence[int], writer: int) -> None:
        """Run these checks up to the first that fails, and be gone."""
        for place in order:
            os.write(writer, f"{place} ".encode())
            signal.setitimer(signal.ITIMER_VIRTUAL, 1.0 + 10 * self.known[place].seconds)
            try:
                self.checks[place].run()
            except BaseException:  # noqa: BLE001 - a mutant that raises is noticed
                os._exit(1)
        os._exit(0)


def codes(code: CodeType) -> Iterator[CodeType]:
    """A code and all that stand in it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from codes(constant)


def put_in_place(code: CodeType, functions: Sequence[FunctionType]) -> int:
    """Give living functions their changed code. How many were changed."""
    by_place: dict[tuple[str, int], list[CodeType]] = {}
    for one in codes(code):
        by_place.setdefault((one.co_qualname, one.co_firstlineno), []).append(one)
    changed = 0
    for function in functions:
        old = function.__code__
        same = by_place.get((old.co_qualname, old.co_firstlineno), [])
        if len(same) > 1:  # several lambdas of a line
            same = [one for one in same if next(one.co_positions()) == next(old.co_positions())][:1]
        if same and same[0] != old:
            function.__code__ = same[0]
            changed += 1
    return changed


class Static:
    """A process that has imported nothing of the tree, and forks a child for each mutant outside of functions."""

    def __init__(self, tree: Path, pid: int, ask: int, answer: int) -> None:
        self.tree, self.pid, self.to, self.answers = tree, pid, os.fdopen(ask, "wb"), os.fdopen(answer, "r")

    @classmethod
    def start(cls, tree: Path) -> Static:
        """Fork it off, before anything of the tree is imported."""
        asks, ask = os.pipe()
        answer, answers = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.close(ask)
            os.close(answer)
            serve(tree, os.fdopen(asks, "rb"), os.fdopen(answers, "w"))
            os._exit(0)
        os.close(asks)
        os.close(answers)
        return cls(tree, pid, ask, answer)

    def fate(self, mutant: Mutant, names: Sequence[str]) -> tuple[str, str]:
        """Ask it, with the checks to run in their order."""
        pickle.dump((mutant.file, marshal.dumps(mutant.code), names), self.to)
        self.to.flush()
        result, _, by = self.answers.readline().strip().partition(" ")
        return result, by

    def stop(self) -> None:
        """No more questions."""
        self.to.close()
        os.waitpid(self.pid, 0)


def serve(tree: Path, asks: Any, answers: Any) -> None:
    """Fork a child for each question."""
    while True:
        try:
            file, code, names = pickle.load(asks)  # noqa: S301 - from the own parent
        except EOFError:
            return
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            quiet()
            imported(tree, file, marshal.loads(code), writer, names)  # noqa: S302
        os.close(writer)
        with os.fdopen(reader) as pipe:
            told = pipe.read().splitlines()
        _, status = os.waitpid(child, 0)
        by = told[-1] if told else "import"
        result = "clock" if os.WIFSIGNALED(status) else ("survived", "test")[os.waitstatus_to_exitcode(status) != 0]
        answers.write(f"{result} {by if result != 'survived' else ''}\n")
        answers.flush()


class Changed(MetaPathFinder):
    """Finds one module, changed."""

    def __init__(self, name: str, file: Path, code: CodeType) -> None:
        self.name, self.file, self.code = name, file, code

    def find_spec(self, name: str, _path: object, _target: ModuleType | None = None) -> ModuleSpec | None:
        """The changed code for the changed module."""
        if name != self.name:
            return None
        loader = ChangedLoader(name, str(self.file))
        loader.changed = self.code
        return spec_from_file_location(name, self.file, loader=loader)


class ChangedLoader(SourceFileLoader):
    """Gives the changed code."""

    changed: CodeType

    def get_code(self, _fullname: str) -> CodeType:
        """Not what stands in the file."""
        return self.changed


def imported(tree: Path, file: str, code: CodeType, writer: int, names: Sequence[str]) -> None:
    """In a child: import all, with the change in it, and run these checks."""
    signal.setitimer(signal.ITIMER_VIRTUAL, 300.0)
    floors = [name for name in names if name.startswith(("floor ", "room "))][:FIRST]
    name = f"meterd.{file.removesuffix('.py').replace('/', '.')}"
    sys.path.insert(0, str(tree / "tests" / "accounting"))
    sys.meta_path.insert(0, Changed(name, tree / "meterd" / file, code))

    random = {one.name: one for again in (False, True) for one in random_checks(thorough=again)}
    _all_hold([random[one] for one in floors], writer)

    class Plugin:
        @pytest.hookimpl(tryfirst=True)
        def pytest_runtestloop(self, session: pytest.Session) -> bool:
            if session.testsfailed:
                os._exit(1)
            checks = {**{one.name: one for one in map(of_item, session.items)}, **random}
            _all_hold([checks[one] for one in names if one not in floors], writer)
            os._exit(0)
            return True

    try:
        pytest.main([*FLAGS, *flags_of(tree), *paths(tree)], plugins=[Plugin()])
    finally:
        os._exit(1)


def _all_hold(checks: Iterable[Check], writer: int) -> None:
    """Run these; the first that fails is the end of this child."""
    for check in checks:
        os.write(writer, f"{check.name}\n".encode())
        try:
            check.run()
        except BaseException:  # noqa: BLE001 - a mutant that raises is noticed
            os._exit(1)
