"""What Prometheus reads of lines of games."""

from __future__ import annotations

from typing import Any

from meterd.edge.web.metrics import exposition


def read(sas: dict[str, Any], wins: dict[str, int] | None = None) -> list[str]:
    text = exposition({}, {"sas": sas, "game_wins": wins or {}}, up=True).decode()
    return [
        line for line in text.splitlines() if line.startswith(("meterd_sas", "meterd_game")) and "created" not in line
    ]


def test_a_line_its_games_and_their_wins() -> None:
    """Every game has its counter of wins from the start, so that the alert never waits for a first one."""
    line = {
        "up": True,
        "games": {"1": True, "2": False},
        "counts": {"polls": 7},
        "level_age_ms": {"nexus-1/mega": 250, "nexus-1/minor": None},
    }
    assert [
        'meterd_sas_up{bus="sas-1"} 1.0',
        'meterd_sas_game_up{address="1",bus="sas-1"} 1.0',
        'meterd_sas_game_up{address="2",bus="sas-1"} 0.0',
        'meterd_sas_messages_total{bus="sas-1",what="polls"} 7.0',
        'meterd_sas_level_age_seconds{bus="sas-1",level="nexus-1/mega"} 0.25',
        'meterd_game_wins_total{device="sas-1/1"} 3.0',
        'meterd_game_wins_total{device="sas-1/2"} 0.0',
    ] == read({"sas-1": line}, {"sas-1/1": 3})


def test_a_line_that_was_never_heard_of() -> None:
    """It is down, and so are its games."""
    assert [
        'meterd_sas_up{bus="sas-1"} 0.0',
        'meterd_sas_game_up{address="1",bus="sas-1"} 0.0',
        'meterd_game_wins_total{device="sas-1/1"} 0.0',
    ] == read({"sas-1": {"up": False, "games": {"1": False}}})
    assert [] == read({})
