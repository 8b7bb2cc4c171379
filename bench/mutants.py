"""Mutation testing of the money: one small change of the code at a time, and whether a test notices.

    python bench/mutants.py [--files money.py meter.py …] [--minutes M] [--every K]      append results
    python bench/mutants.py --again --thorough            only what survived before, with all tests of the room
    python bench/mutants.py --list                                                       count mutants by file

A mutant is one change of one place of the syntax tree: another comparison, sum for difference, ``and`` for ``or``, a
number one larger, a condition turned round, a statement left out. It is put into a copy of the tree; a forked child
plays a few random floors against the twin and then runs the tests of the room, up to the first failure: the quick
ones, or with ``--thorough`` all but the longest, which are random floors too; for the pools only their own. A mutant is
known by its file, its place and the text around it, so that a run begins where the last one stopped. Results are lines
of ``bench/results/mutants.jsonl``; what survived is explained in ``bench/results/mutants.md``.
"""

from __future__ import annotations

import argparse
import ast
import hashlib
import json
import os
import random
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import IO, NamedTuple

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
RESULTS = HERE / "results" / "mutants.jsonl"
TIMEOUT_CPU_S = 40
FLOORS = 10
STEPS = 80
#: Run first, and not run: what random floors show in a second, these would show in half a minute.
QUICK = (
    "../test_money.py",
    "test_money_rules.py",
    "test_rules.py",
    "test_ties_together.py",
    "test_overflow_given_back.py",
    "test_edges.py",
)
SLOW = ("test_machine.py", "test_long_run.py", "test_twin.py", "test_twin_links.py", "test_corrected.py")

COMPARE: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.FloorDiv,
    ast.BitOr: ast.BitAnd,
    ast.BitAnd: ast.BitOr,
}
NAMES = {"min": "max", "max": "min", "any": "all", "all": "any"}


class Mutant(NamedTuple):
    """One change: where, what stood there and what stands there now, and the whole changed source."""

    file: str
    line: int
    before: str
    after: str
    source: str

    @property
    def key(self) -> str:
        """Known again as long as its line and what is changed in it stay."""
        text = f"{self.file}|{self.before}|{self.after}"
        return hashlib.sha256(text.encode()).hexdigest()[:16]


Change = Callable[[], Callable[[], None]]


def changes(node: ast.AST) -> Iterator[Change]:  # noqa: C901, PLR0912 - one case for each way
    """All ways to change a node in place; each gives the way back."""
    match node:
        case ast.Compare(ops=ops):
            for place, op in enumerate(ops):
                yield _set_item(ops, place, COMPARE[type(op)]())
        case ast.BinOp(op=op) if type(op) in ARITHMETIC and not _text(node):
            yield _set(node, "op", ARITHMETIC[type(op)]())
        case ast.AugAssign(op=op) if type(op) in ARITHMETIC:
            yield _set(node, "op", ARITHMETIC[type(op)]())
        case ast.BoolOp(op=op):
            yield _set(node, "op", ast.Or() if isinstance(op, ast.And) else ast.And())
        case ast.UnaryOp(op=ast.USub()):
            yield _set(node, "op", ast.UAdd())
        case ast.Constant(value=bool() as value):
            yield _set(node, "value", not value)
        case ast.Constant(value=int() as number):
            yield _set(node, "value", number + 1)
        case ast.Name(id=name) if name in NAMES:
            yield _set(node, "id", NAMES[name])
        case ast.If(test=test) | ast.IfExp(test=test):
            yield _set(node, "test", ast.UnaryOp(ast.Not(), test))
        case ast.comprehension(ifs=[_, *_] as ifs):
            yield _set(node, "ifs", ifs[1:])
    for field in ("body", "orelse"):
        block = getattr(node, field, None)
        if isinstance(block, list):
            for place, statement in enumerate(block):
                if _droppable(statement):
                    yield _set_item(block, place, ast.Pass())


def _text(node: ast.BinOp) -> bool:
    return any(isinstance(side, ast.Constant) and isinstance(side.value, str) for side in (node.left, node.right))


def _droppable(statement: ast.stmt) -> bool:
    """A call or an assignment to something that stands already; no docstring, no first binding of a name."""
    match statement:
        case ast.Expr(value=ast.Call()):
            return True
        case ast.AugAssign():
            return True
        case ast.Assign(targets=[ast.Attribute() | ast.Subscript()]):
            return True
    return False


def _set(node: ast.AST, field: str, value: object) -> Change:
    def change() -> Callable[[], None]:
        old = getattr(node, field)
        setattr(node, field, value)
        return lambda: setattr(node, field, old)

    return change


def _set_item(items: list[ast.cmpop] | list[ast.stmt], place: int, value: object) -> Change:
    def change() -> Callable[[], None]:
        old = items[place]
        items[place] = value  # type: ignore[call-overload]
        return lambda: items.__setitem__(place, old)  # type: ignore[index]

    return change


def walk(node: ast.AST) -> Iterator[ast.AST]:
    """Every node but annotations and what is only text."""
    yield node
    for name, value in ast.iter_fields(node):
        if name in {"annotation", "returns", "decorator_list"}:
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST) and not isinstance(child, (ast.Import, ast.ImportFrom)):
                yield from walk(child)


def mutants(file: Path, name: str) -> Iterator[Mutant]:
    """All mutants of a file, in the order of its text."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    original = ast.unparse(tree)
    lines = original.splitlines()
    for node in walk(tree):
        for change in changes(node):
            back = change()
            changed = ast.unparse(ast.fix_missing_locations(tree))
            back()
            if changed == original:
                continue
            after = changed.splitlines()
            place = next((i for i, pair in enumerate(zip(lines, after, strict=False)) if pair[0] != pair[1]), 0)
            context = _context(lines, place)
            yield Mutant(
                name, getattr(node, "lineno", 0), f"{context}: {lines[place].strip()}", after[place].strip(), changed
            )


def _context(lines: Sequence[str], place: int) -> str:
    """The function a line is in."""
    for line in reversed(lines[: place + 1]):
        if line.lstrip().startswith(("def ", "class ")):
            return line.split("(")[0].split(":")[0].split()[-1]
    return ""


# running


def survives(tree: Path, tests: Path, mutant: Mutant, tell: IO[str] | None = None, *, thorough: bool = False) -> str:
    """What became of a mutant: killed by a floor, killed by a test, by the clock, or survived."""
    target = tree / "meterd" / mutant.file
    old = target.read_text(encoding="utf-8")
    target.write_text(mutant.source, encoding="utf-8")
    try:
        child = os.fork()
        if child == 0:
            _child(tree, tests, mutant, tell, thorough=thorough)
        _, status = os.waitpid(child, 0)
    finally:
        target.write_text(old, encoding="utf-8")
    if os.WIFSIGNALED(status):
        return "clock"
    return {0: "survived", 1: "test", 2: "floor"}.get(os.waitstatus_to_exitcode(status), "test")


def _child(tree: Path, tests: Path, mutant: Mutant, tell: IO[str] | None, *, thorough: bool) -> None:
    signal.setitimer(signal.ITIMER_VIRTUAL, TIMEOUT_CPU_S)
    sys.dont_write_bytecode = True
    null = os.open(os.devnull, os.O_WRONLY)
    if tell is None:
        os.dup2(null, 1)
        os.dup2(null, 2)
    sys.path[:0] = [str(tree), str(tests)]
    try:
        about_pools = "pool" in mutant.file
        os._exit((0 if about_pools else _floors()) or _tests(tests, about_pools=about_pools, thorough=thorough))
    except BaseException:  # noqa: BLE001 - a mutant that raises is noticed
        if tell:
            traceback.print_exc(file=tell)
            tell.flush()
        os._exit(2)


def _own_stderr() -> IO[str]:
    """A way to say what is wrong that the child does not close."""
    return os.fdopen(os.dup(2), "w")


def _floors() -> int:
    from machine_acts import VERBS  # noqa: PLC0415 - only the child, with the mutant in it
    from machine_floor import random_world  # noqa: PLC0415

    for seed in range(FLOORS):
        numbers = random.Random(seed)
        world = random_world(numbers.randrange)
        for _ in range(STEPS):
            verb = VERBS[numbers.randrange(len(VERBS))]
            world.step(verb, numbers.randrange(256), numbers.randrange(256), numbers.randrange(256))
    return 0


def _tests(tests: Path, *, about_pools: bool, thorough: bool) -> int:
    import pytest  # noqa: PLC0415

    names = [file.name for file in sorted(tests.glob("test_*.py")) if file.name not in {*QUICK, *SLOW}]
    if about_pools:
        names = [name for name in names if "pool" in name]
    else:
        names = [*QUICK, *(name for name in names if thorough and "pool" not in name)]
    flags = ["-x", "-q", "-p", "no:cacheprovider", "-p", "no:randomly", "-p", "no:xdist", "--no-header"]
    flags += [
        "-c",
        os.devnull,
        f"--rootdir={tests.parent}",
        f"--confcutdir={tests.parent}",
        "-m",
        "not peer and not slow",
    ]
    return int(pytest.main([*flags, *(str(tests / name) for name in names)]) != 0)


def known(again: bool) -> dict[str, str]:
    """What became of each mutant so far."""
    found = {}
    if RESULTS.exists():
        for line in RESULTS.read_text(encoding="utf-8").splitlines():
            data = json.loads(line)
            found[data["key"]] = data["result"]
    return {key: result for key, result in found.items() if not (again and result == "survived")}


def main() -> int:
    """Try mutants that have not been tried."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", nargs="*")
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--thorough", action="store_true")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--root", type=Path, default=ROOT)
    arguments = parser.parse_args()
    os.nice(15)
    tree = Path(tempfile.mkdtemp(prefix="mutants-"))
    for name in ("meterd", "protocols", "schema"):
        shutil.copytree(arguments.root / name, tree / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("tests", "docs"):
        shutil.copytree(arguments.root / name, tree / name, ignore=shutil.ignore_patterns("__pycache__"))
    names = ["money.py", *(f"accounting/{f.name}" for f in sorted((tree / "meterd" / "accounting").glob("*.py")))]
    wanted = [name for name in names if not arguments.files or Path(name).name in arguments.files]
    done = known(arguments.again)
    thorough = arguments.thorough
    counts: Counter[str] = Counter()
    started = time.monotonic()
    import hypothesis  # noqa: F401, PLC0415 - loaded once, before the forks
    import pytest  # noqa: F401, PLC0415

    if not arguments.list:
        source = (tree / "meterd" / "money.py").read_text(encoding="utf-8")
        unchanged = survives(
            tree, tree / "tests" / "accounting", Mutant("money.py", 0, "", "", source), _own_stderr(), thorough=thorough
        )
        if unchanged != "survived":
            sys.exit(f"the tests do not pass on the unchanged tree: {unchanged}")
        print(f"unchanged: all tests pass in {time.monotonic() - started:.0f} s", flush=True)
    for name in wanted:
        seen: Counter[str] = Counter()
        for mutant in mutants(tree / "meterd" / name, name):
            seen[mutant.key] += 1
            key = f"{mutant.key}-{seen[mutant.key]}"
            counts[f"{name} mutants"] += 1
            if arguments.list or key in done or int(mutant.key, 16) % arguments.every:
                continue
            if time.monotonic() - started > arguments.minutes * 60:
                break
            result = survives(tree, tree / "tests" / "accounting", mutant, thorough=thorough)
            counts[result] += 1
            with RESULTS.open("a", encoding="utf-8") as file:
                line = {"key": key, "file": name, "line": mutant.line, "before": mutant.before, "after": mutant.after}
                file.write(json.dumps({**line, "result": result}) + "\n")
            if result == "survived":
                print(f"{name}:{mutant.line} {mutant.before}  ->  {mutant.after}", flush=True)
    shutil.rmtree(tree)
    print(dict(counts), f"{time.monotonic() - started:.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
