"""Mutation testing of the money: one small change of the code at a time, and whether a test notices.

    python bench/mutants.py [--files money.py meter.py …] [--minutes M] [--every K]      append results
    python bench/mutants.py --again --thorough            only what survived before, with every check there is
    python bench/mutants.py --list                                                       count mutants by file
    python bench/mutants.py --table                                                      what became of them, by file
    python bench/mutants.py --living                                                     what nothing noticed

A mutant is one change of one place of the syntax tree: another comparison, sum for difference, ``and`` for ``or``, a
number one larger, a condition turned round, a statement left out. All is done in an export of the last commit (or of
``--root``). First it is written down which lines each check executes (``mutant_checks.py``: tests of the money and of
the rules, scenario pages, random floors and card rooms against their twins). Then, for each mutant, a forked child in
which all is imported already gets the changed code put in place and runs the checks that touch the changed lines: first
what noticed another change of the same function, then the quickest, up to the first failure. A plain run stops after
so many seconds of checks; ``--thorough`` runs all. What stands outside any function is run by a fresh import.

A mutant is known by its file, its place and the text around it, so that a run begins where the last one stopped.
Results are lines of ``bench/results/mutants.jsonl``; what survived is explained in ``bench/results/mutants.md``.
"""

from __future__ import annotations

import argparse
import ast
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import CodeType
from typing import NamedTuple

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
RESULTS = HERE / "results" / "mutants.jsonl"

#: What became of a mutant that nothing noticed: checks ran on it, or none executes it.
LIVING = ("survived", "uncovered")

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
    """One change: where, what stood there and what stands there now, the changed code, and the function it is in."""

    file: str
    lines: tuple[int, int]
    before: str
    after: str
    code: CodeType
    function: str

    @property
    def key(self) -> str:
        """Known again as long as its line and what is changed in it stay."""
        text = f"{self.file}|{self.before}|{self.after}"
        return hashlib.sha256(text.encode()).hexdigest()[:16]


Span = tuple[int, int]
Change = Callable[[], tuple[Callable[[], None], Span]]


def changes(node: ast.AST) -> Iterator[Change]:  # noqa: C901, PLR0912 - one case for each way
    """All ways to change a node in place; each gives the way back."""
    match node:
        case ast.Compare(ops=ops):
            for place, op in enumerate(ops):
                yield _set_item(ops, place, COMPARE[type(op)](), node)
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
                    yield _set_item(block, place, ast.Pass(), node)


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
    def change() -> tuple[Callable[[], None], Span]:
        old = getattr(node, field)
        setattr(node, field, value)
        # of a condition turned round or a block only the condition itself is changed
        span = _span(old if field == "test" else node)
        return lambda: setattr(node, field, old), span

    return change


def _set_item(items: list[ast.cmpop] | list[ast.stmt], place: int, value: ast.AST, node: ast.AST) -> Change:
    def change() -> tuple[Callable[[], None], Span]:
        old = items[place]
        items[place] = value  # type: ignore[call-overload]
        span = _span(old if isinstance(old, ast.stmt) else node)
        return lambda: items.__setitem__(place, old), span  # type: ignore[index]

    return change


Function = ast.FunctionDef | ast.Lambda
NOTHING = compile("", "", "exec")


def walk(node: ast.AST, function: Function | None = None) -> Iterator[tuple[ast.AST, Function | None]]:
    """Every node but annotations and what is only text, with the innermost function in whose body it is."""
    yield node, function
    for name, value in ast.iter_fields(node):
        if name in {"annotation", "returns", "decorator_list"}:
            continue
        inner = node if isinstance(node, Function) and name == "body" else function
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST) and not isinstance(child, (ast.Import, ast.ImportFrom)):
                yield from walk(child, inner)


def mutants(file: Path, name: str, needed: Callable[[str], bool] = bool) -> Iterator[Mutant]:
    """All mutants of a file, in the order of its text; of those that are not needed (by their keys) no code is made."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    original = ast.unparse(tree)
    lines = original.splitlines()
    for node, function in walk(tree):
        for change in changes(node):
            back, span = change()
            changed = ast.unparse(ast.fix_missing_locations(tree))
            after = changed.splitlines()
            place = next((i for i, pair in enumerate(zip(lines, after, strict=False)) if pair[0] != pair[1]), 0)
            before = f"{_context(lines, place)}: {lines[place].strip()}"
            owner = node if isinstance(node, Function) else function
            inside = "" if owner is None else f"{owner.lineno} {getattr(owner, 'name', 'lambda')}"
            found = Mutant(name, span, before, after[place].strip(), NOTHING, inside)
            if changed != original and needed(found.key):
                found = found._replace(code=compile(tree, str(file), "exec", dont_inherit=True))
            back()
            if changed != original:
                yield found


def _span(node: ast.AST) -> tuple[int, int]:
    """The lines of a node; what has none of its own (a comprehension's part) has those of what it holds."""
    if isinstance(node, ast.comprehension):
        node = node.target
    first = getattr(node, "lineno", 0)
    return first, getattr(node, "end_lineno", first) or first


def _context(lines: Sequence[str], place: int) -> str:
    """The function a line is in."""
    for line in reversed(lines[: place + 1]):
        if line.lstrip().startswith(("def ", "class ")):
            return line.split("(")[0].split(":")[0].split()[-1]
    return ""


# results


def known(*, again: bool) -> set[str]:
    """Mutants whose fate stands."""
    found = {}
    if RESULTS.exists():
        for line in RESULTS.read_text(encoding="utf-8").splitlines():
            data = json.loads(line)
            found[data["key"]] = data["result"]
    return {key for key, result in found.items() if not (again and result in LIVING)}


def last_word() -> dict[str, dict[str, object]]:
    """The last line of each mutant."""
    lines = (json.loads(line) for line in RESULTS.read_text(encoding="utf-8").splitlines())
    return {line["key"]: line for line in lines}


def table(tree: Path) -> None:
    """By file of this tree: its mutants, and of those how many were noticed, are the same code, or live, or wait."""
    last = last_word()
    sums: Counter[str] = Counter()
    print("| file | mutants | noticed | same code | living | not tried |\n|---|---|---|---|---|---|")
    for name in names(tree, None):
        seen: Counter[str] = Counter()
        fates: Counter[str] = Counter()
        for mutant in mutants(tree / "meterd" / name, name, lambda _: False):
            seen[mutant.key] += 1
            line = last.get(f"{mutant.key}-{seen[mutant.key]}")
            result = "not tried" if line is None else str(line["result"])
            fates["living" if result in LIVING else result if result in {"equal", "not tried"} else "noticed"] += 1
        sums.update(fates)
        _row(name, fates)
    _row("**all**", sums)


def _row(name: str, fates: Counter[str]) -> None:
    counts = [fates[fate] for fate in ("noticed", "equal", "living", "not tried")]
    if sum(counts):
        print(f"| {name} | {sum(counts)} | {' | '.join(map(str, counts))} |")


def export(root: Path | None) -> Path:
    """A tree of its own: the last commit, or a copy of another tree."""
    tree = Path(tempfile.mkdtemp(prefix="mutants-"))
    if root is None:
        text = subprocess.run(["git", "archive", "HEAD"], cwd=ROOT, check=True, capture_output=True).stdout
        subprocess.run(["tar", "-x", "-C", str(tree)], input=text, check=True)
        return tree
    for name in ("meterd", "protocols", "schema", "tests", "docs", "bench"):
        shutil.copytree(root / name, tree / name, ignore=shutil.ignore_patterns("__pycache__", "results"))
    return tree


def wanted(tree: Path, arguments: argparse.Namespace) -> Iterator[tuple[str, Mutant]]:
    """Mutants to be tried, by their keys."""
    done = known(again=arguments.again)
    living = {key for key in known(again=False) if key not in done}
    again = {key.rpartition("-")[0] for key in living}
    for name in names(tree, arguments.files):
        seen: Counter[str] = Counter()
        needed = again.__contains__ if arguments.again else bool
        for mutant in mutants(tree / "meterd" / name, name, needed):
            seen[mutant.key] += 1
            key = f"{mutant.key}-{seen[mutant.key]}"
            if arguments.again:
                if key in living:
                    yield key, mutant
            elif key not in done and not int(mutant.key, 16) % arguments.every:
                yield key, mutant


def names(tree: Path, files: Sequence[str] | None) -> list[str]:
    """Files of the money, as they are called in the results."""
    all_names = ["money.py", *(f"accounting/{f.name}" for f in sorted((tree / "meterd" / "accounting").glob("*.py")))]
    return [name for name in all_names if not files or Path(name).name in files]


def main() -> int:
    """Try mutants that have not been tried."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", nargs="*")
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--thorough", action="store_true")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--living", action="store_true")
    parser.add_argument("--root", type=Path)
    arguments = parser.parse_args()
    os.nice(5)
    if arguments.living:
        for line in last_word().values():
            if line["result"] in LIVING:
                print(f"{line['file']}:{line['line']} {line['before']}  ->  {line['after']}")
        return 0
    tree = export(arguments.root)
    try:
        if arguments.table:
            table(tree)
            return 0
        if arguments.list:
            for name in names(tree, arguments.files):
                print(name, sum(1 for _ in mutants(tree / "meterd" / name, name)))
            return 0
        return try_all(tree, arguments)
    finally:
        shutil.rmtree(tree)


def try_all(tree: Path, arguments: argparse.Namespace) -> int:
    """Each mutant in its own child, and a line of the results for each."""
    from mutant_runs import Bench  # noqa: PLC0415 - of this tool; all that is tried is of the tree

    sys.path[:0] = [str(tree), str(tree / "bench")]
    bench = Bench(tree, thorough=arguments.thorough)
    counts: Counter[str] = Counter()
    started = time.monotonic()

    def run_all() -> None:
        for name in ("money.py", "accounting/settings.py"):
            file = tree / "meterd" / name
            code = compile(file.read_text(encoding="utf-8"), str(file), "exec", dont_inherit=True)
            told = bench.fate(Mutant(name, (0, 0), "", "", code, ""))
            if told[0] != "survived":
                sys.exit(f"the unchanged code of {name}, imported afresh, is noticed: {told}")
        todo = wanted(tree, arguments)
        if not arguments.again:  # what stands outside of functions takes a fresh import each, and comes last
            todo = iter(sorted(todo, key=lambda one: not one[1].function))
        for key, mutant in todo:
            if time.monotonic() - started > arguments.minutes * 60:
                break
            begun = time.monotonic()
            result, by = bench.fate(mutant)
            counts[result] += 1
            line = {"key": key, "file": mutant.file, "line": mutant.lines[0]}
            line |= {"before": mutant.before, "after": mutant.after, "result": result, "by": by}
            with RESULTS.open("a", encoding="utf-8") as file:
                file.write(json.dumps({**line, "s": round(time.monotonic() - begun, 2)}) + "\n")
            if result in LIVING:
                print(f"{result} {mutant.file}:{mutant.lines[0]} {mutant.before}  ->  {mutant.after}", flush=True)
        print(dict(counts), f"{time.monotonic() - started:.0f} s", flush=True)

    return bench.with_checks(run_all)


if __name__ == "__main__":
    sys.exit(main())
