"""The rooms of the house: who may import what, read from the syntax tree."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]

BASE = {
    "__future__", "dataclasses", "enum", "typing", "collections", "functools", "itertools", "bisect", "fractions",
    "math", "re",
}  # fmt: skip
PURE: dict[str, set[str]] = {
    "meterd/errors.py": BASE,
    "meterd/money.py": BASE,
    "meterd/handrank": BASE,
    "meterd/paytables": BASE | {"tomllib", "pydantic", "difflib"},
    "meterd/accounting": BASE,
    "meterd/ledger": BASE | {"json", "hashlib", "struct", "binascii"},  # base64 of signed notes
    "meterd/config": BASE | {"tomllib", "pydantic", "difflib"},
    "meterd/floor": BASE,
    "protocols": BASE | {"json", "hashlib", "struct"},
}
FORBIDDEN_CALLS = {"open", "__import__", "eval", "exec", "compile"}


def _files(room: str) -> list[Path]:
    path = ROOT / room
    if path.is_file():
        return [path]
    found = sorted(path.rglob("*.py"))
    return found or sorted(ROOT.glob(f"{room}.py"))


def _imports(tree: ast.AST) -> Iterator[tuple[int, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for name in node.names:
                yield node.lineno, name.name
        elif isinstance(node, ast.ImportFrom):
            yield node.lineno, ("." * node.level) + (node.module or "")


def _own_folder(module: str) -> bool:
    """``.cards``, but not ``..money``: a file of the same folder."""
    return module.startswith(".") and not module.startswith("..")


@pytest.mark.parametrize("room", PURE)
def test_a_pure_room_imports_only_what_is_allowed(room: str) -> None:
    """A pure room takes text and numbers: its imports are on a list, and it opens and evaluates nothing."""
    files = _files(room)
    assert files, f"{room} is empty"
    findings = []
    for path in files:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for line, module in _imports(tree):
            root = module.split(".")[0]
            if root not in PURE[room] and root not in {"meterd", "protocols"} and not _own_folder(module):
                findings.append(f"{path.relative_to(ROOT)}:{line} imports {module}")
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                if node.func.id in FORBIDDEN_CALLS:
                    findings.append(f"{path.relative_to(ROOT)}:{node.lineno} calls {node.func.id}")
                if node.func.id == "float":
                    findings.append(f"{path.relative_to(ROOT)}:{node.lineno} makes a float")
    assert findings == []


def test_only_one_file_knows_sqlite3() -> None:
    """One module chooses the database driver; everything else imports from it."""
    users = [
        str(path.relative_to(ROOT))
        for path in sorted((ROOT / "meterd").rglob("*.py"))
        for _, module in _imports(ast.parse(path.read_text(encoding="utf-8")))
        if module.split(".")[0] in {"sqlite3", "pysqlite3"}
    ]
    assert users == ["meterd/edge/sqlite.py", "meterd/second_verifier.py"]


def test_the_second_verifier_stands_alone() -> None:
    """It shares no code with what it verifies: it imports the standard library alone, and nobody imports it."""
    tree = ast.parse((ROOT / "meterd/second_verifier.py").read_text(encoding="utf-8"))
    foreign = sorted({module for _, module in _imports(tree) if module.split(".")[0] not in sys.stdlib_module_names})
    users = [
        str(path.relative_to(ROOT))
        for path in sorted((ROOT / "meterd").rglob("*.py"))
        for _, module in _imports(ast.parse(path.read_text(encoding="utf-8")))
        if "second_verifier" in module
    ]
    assert (foreign, users) == ([], [])


def test_protocols_imports_nothing_of_meterd_and_sim_only_wires_and_cards() -> None:
    """A codec can be taken elsewhere; the other end of the wire shares no money code with the daemon."""
    allowed = {"protocols": ("protocols",), "meterd/sim": ("protocols", "meterd.handrank", "meterd.sim")}
    findings = [
        f"{path.relative_to(ROOT)}:{line} imports {module}"
        for room, prefixes in allowed.items()
        for path in _files(room)
        for line, module in _imports(ast.parse(path.read_text(encoding="utf-8")))
        if module.split(".")[0] in {"meterd", "protocols"} and not module.startswith(prefixes)
    ]
    assert findings == []


def test_the_hand_ranking_core_is_importable_alone() -> None:
    """Another program needs only the folder: standard library and itself."""
    own = set(sys.stdlib_module_names) | {"meterd"}
    findings = [
        f"{path.relative_to(ROOT)}:{line} imports {module}"
        for path in _files("meterd/handrank")
        for line, module in _imports(ast.parse(path.read_text(encoding="utf-8")))
        if not _own_folder(module)
        and (
            module.split(".")[0] not in own
            or (module.startswith("meterd") and not module.startswith("meterd.handrank"))
        )
    ]
    assert findings == []
