"""Where a demo will not play, and what it says when it cannot."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from click.testing import CliRunner

from meterd.app.create import create_ledger
from meterd.app.demo import last_words
from meterd.app.demo_floor import site_text
from meterd.app.demo_folder import WRITES, DemoError, prepare
from meterd.cli.demo import demo
from meterd.config import load_site
from meterd.edge.catalogue import catalogue
from meterd.edge.control import PATH_BYTES_MAX, ControlServer
from meterd.errors import EXIT_USAGE


def _contents(folder: Path) -> dict[str, tuple[int, bytes]]:
    """Every file below a folder: when it changed, and what it holds."""
    return {
        str(path.relative_to(folder)): (path.lstat().st_mtime_ns, path.read_bytes() if path.is_file() else b"")
        for path in sorted(folder.rglob("*"))
        if not path.name.endswith(("-wal", "-shm"))  # a reader of a ledger makes these and takes them away
    }


def _ledger(folder: Path, *, is_demo: bool) -> None:
    text = site_text(folder / "ports", 100, 9477)
    create_ledger(folder, load_site(text, "site.toml", catalogue()), demo=is_demo)


def _refused(folder: Path, words: str) -> None:
    before = _contents(folder)
    result = CliRunner().invoke(demo, ["--headless", "--seconds", "1", "--data", str(folder)])
    assert EXIT_USAGE == result.exit_code
    assert words in result.output
    assert before == _contents(folder)


def test_a_site_file_that_no_demo_wrote_stays(tmp_path: Path) -> None:
    """The floor's own site file, or anything under its name: exit 2, and nothing is written into the folder."""
    (tmp_path / "site.toml").write_text('[site]\nid = "riverside"\n')
    _refused(tmp_path, f"{tmp_path}/site.toml was not written by a demo. Nothing was written. Give --data an empty")


def test_a_link_to_nothing_is_not_written_through(tmp_path: Path) -> None:
    """A link named like the site file leads somewhere else."""
    (tmp_path / "site.toml").symlink_to(tmp_path / "elsewhere.toml")
    _refused(tmp_path, "site.toml was not written by a demo")


@pytest.mark.parametrize("name", WRITES)
def test_a_file_of_a_demos_name_stays_where_no_demo_was(tmp_path: Path, name: str) -> None:
    """Somebody else's plan.json is as precious as a site file."""
    (tmp_path / name).write_text("precious")
    _refused(tmp_path, f"{tmp_path} holds {name}, and no site.toml of a demo beside it. Nothing was written")


def test_a_real_ledger_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    """Also beside a demo's site file."""
    _ledger(tmp_path, is_demo=False)
    _refused(tmp_path, f"{tmp_path} holds a ledger that is not a demo's. Nothing was written")
    (tmp_path / "site.toml").write_text(site_text(tmp_path / "ports", 100, 9477))
    _refused(tmp_path, "holds a ledger that is not a demo's")


def test_a_folder_that_holds_a_ledger_folder_is_refused(tmp_path: Path) -> None:
    """The state folder of the service is one level above its ledger."""
    _ledger(tmp_path / "ledger", is_demo=False)
    _refused(tmp_path, "holds a ledger that is not a demo's")


def test_what_is_left_of_a_ledger_is_refused(tmp_path: Path) -> None:
    """A file that cannot be read as a ledger is not for us to replace."""
    (tmp_path / "ledger-1.db").write_bytes(b"half")
    _refused(tmp_path, "Nothing was written")


def test_a_demos_folder_is_taken_again(tmp_path: Path) -> None:
    """Its ledger goes on; links to ports that are gone are not trusted; what else lies there stays."""
    folder = tmp_path / "demo"
    assert folder == prepare(folder)
    _ledger(folder, is_demo=True)
    (folder / "site.toml").write_text(site_text(folder / "ports", 100, 9477))
    (folder / "ports" / "pit-1").symlink_to("/dev/null")
    (folder / "notes.txt").write_text("mine")
    assert folder == prepare(folder)
    assert [] == list((folder / "ports").iterdir())
    assert "mine" == (folder / "notes.txt").read_text()


def test_a_demo_that_plays_is_not_disturbed(tmp_path: Path) -> None:
    """Its daemon answers: a second demo writes nothing over its plan."""
    (tmp_path / "site.toml").write_text(site_text(tmp_path / "ports", 100, 9477))

    async def nothing(_request: object, _uid: int) -> dict[str, object]:
        return {}

    server = ControlServer(tmp_path / "control.sock", dict, nothing)
    server.open()
    _refused(tmp_path, f"a demo plays in {tmp_path} already. Stop it, or give --data another folder")
    assert server._listener is not None
    server._listener.close()


def test_a_folder_that_cannot_be_made_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Exit 2 and a sentence, not a traceback: where nothing can be made, and where we may not look."""
    result = CliRunner().invoke(demo, ["--headless", "--data", "/proc/meterd-demo"])
    assert EXIT_USAGE == result.exit_code
    assert result.output.startswith("meterd demo: the folder /proc/meterd-demo cannot be used: No such file")

    def denied(path: Path) -> bool:
        raise PermissionError(13, "Permission denied", str(path))

    with monkeypatch.context() as closed:
        closed.setattr(Path, "exists", denied)
        result = CliRunner().invoke(demo, ["--headless", "--data", str(tmp_path / "x")])
    assert EXIT_USAGE == result.exit_code
    assert (
        f"meterd demo: the folder {tmp_path / 'x'} cannot be used: Permission denied."
        " Give --data a folder that you may write in\n"
    ) == result.output


def test_a_site_file_that_cannot_be_written_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A full disk, a read-only folder."""

    def full(path: Path, *_: object, **__: object) -> int:
        raise OSError(28, "No space left on device", str(path))

    monkeypatch.setattr(Path, "write_text", full)
    result = CliRunner().invoke(demo, ["--headless", "--data", str(tmp_path / "x")])
    assert EXIT_USAGE == result.exit_code
    assert f"meterd demo: {tmp_path}/x/site.toml cannot be written: No space left on device\n" == result.output


def test_a_folder_too_deep_for_a_socket_is_said(tmp_path: Path) -> None:
    """Before a folder is made."""
    deep = tmp_path / ("x" * PATH_BYTES_MAX)
    with pytest.raises(DemoError, match=r"too long for a socket, by its bytes\. Give --data a shorter path"):
        prepare(deep)
    assert not os.path.lexists(deep)


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ([], ""),
        (['{"level":"info","event":"run.ready"}'], ""),
        (['{"level":"critical","event":"money.closed","cause":"disk"}', '{"level":"info"}'], "money.closed: disk"),
        (['{"level":"error","event":"x"}', "meterd run: no.", "  more", '{"level":"info"}'], "meterd run: no.\n  more"),
        (["Traceback (most recent call last):", "  File ...", "PermissionError: no", ""], "PermissionError: no"),
    ],
)
def test_the_last_words_of_a_child_are_found(lines: list[str], words: str) -> None:
    """Its own sentence with all its lines; a logged error; the end of a traceback. Good news is none."""
    assert words == last_words(lines)
