"""``meterd ports``: which serial ports there are, what uses them, and how they fare."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from meterd.cli.client import socket_option
from meterd.cli.words import complain
from meterd.errors import EXIT_CONFIG, EXIT_DONE, EXIT_FINDING

if TYPE_CHECKING:
    from meterd.config import Site
    from meterd.edge.ports import PortSeen


@click.command()
@click.option("--config", "config", type=click.Path(path_type=Path, dir_okay=False), help="The site file.")
@socket_option
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def ports(config: Path | None, control: Path | None, *, as_json: bool) -> None:
    """Show what is plugged where: stable names, adapters, who holds a port; with a site file, which bus uses it.

    Where the daemon answers, also when a byte last passed and whether the line is up. Nothing is opened or changed.

    Exit codes: 0 all is as it should be (there may be advice about what works), 1 a finding (said in words), 78 the
    site file cannot be used.
    """
    from meterd.edge.catalogue import read_site
    from meterd.edge.ports import seen_ports
    from meterd.errors import ConfigError

    try:
        site = read_site(config)[0] if config is not None else None
    except ConfigError as error:
        complain("meterd ports", error)
        sys.exit(EXIT_CONFIG)
    seen = seen_ports()
    lines = _lines(site, _daemon(control), seen)
    findings = [*_twin_findings(seen, lines), *_line_findings(lines, seen)]
    advice = [f"advice for bus {bus}: {told}" for bus, line in lines.items() if (told := _advice(line))]
    if as_json:
        listed = [_port_json(port) for port in seen]
        click.echo(json.dumps({"ports": listed, "lines": lines, "findings": findings, "advice": advice}))
    else:
        _print(seen, lines)
        for said in (*findings, *advice):
            click.echo(said, err=True)
    sys.exit(EXIT_FINDING if findings else EXIT_DONE)


def _daemon(control: Path | None) -> dict[str, dict[str, Any]]:
    """What a daemon says of its lines and the devices on them; nothing where none answers."""
    from meterd.cli.run import default_socket
    from meterd.edge.control import ask

    path = control or default_socket()
    try:
        lines, devices = ask(path, {"op": "ports"}).get("ports"), ask(path, {"op": "snapshot"}).get("devices", {})
    except (OSError, ValueError):
        return {}
    if not isinstance(lines, dict):
        return {}
    for bus, line in lines.items():
        line["devices"] = {name: state for name, state in devices.items() if name.partition("/")[0] == bus}
    return lines


def _lines(site: Site | None, daemon: dict[str, dict[str, Any]], seen: tuple[PortSeen, ...]) -> dict[str, Any]:
    """Every line of the site file or the daemon: its port, the node behind it, who holds it, how it fares."""
    from meterd.edge.ports import holders_of

    named = {bus.id: (bus.port, bus.kind) for bus in site.buses} if site is not None else {}
    named |= {bus: (state["port"], state["kind"]) for bus, state in daemon.items()}
    held = holders_of(port for port, _ in named.values())
    lines = {}
    for bus, (port, kind) in named.items():
        node = str(Path(port).resolve()) if Path(port).exists() else None
        adapter = next((each.adapter or each.driver for each in seen if node is not None and each.node == node), "")
        lines[bus] = {
            "port": port,
            "kind": kind,
            "node": node,
            "adapter": adapter,
            "holders": [holder._asdict() for holder in held.get(port, ())],
            "daemon": {k: v for k, v in daemon[bus].items() if k not in {"port", "kind"}} if bus in daemon else None,
        }
    return lines


def _twin_findings(seen: tuple[PortSeen, ...], lines: dict[str, Any]) -> list[str]:
    """Adapters that nobody can tell apart by what they say of themselves."""
    findings = []
    for port in seen:
        if not port.twins:
            continue
        by_id = [bus for bus, line in lines.items() if line["port"] in port.by_id]
        whose = f", which bus {by_id[0]} uses" if by_id else ""
        findings.append(
            f"{port.node} and {', '.join(port.twins)} are adapters of one kind without serial numbers: they share their"
            f" name by-id{whose}. Write {port.stable} into the site file, or use adapters with serial numbers"
        )
    return findings


def _line_findings(lines: dict[str, Any], seen: tuple[PortSeen, ...]) -> list[str]:
    """Ports of a site file that are not there, or held by somebody else."""
    findings = []
    used = {line["node"] for line in lines.values()}
    free = [port.stable for port in seen if port.node not in used]
    for bus, line in lines.items():
        told = line["daemon"] or {}
        if told.get("up"):
            findings += [f"{name}: {said}" for name, said in _silent(line)]
            findings += [f"bus {bus}: {told['hint']}"] if told.get("hint") else []
        elif line["node"] is None:
            hint = f"Ports that no bus uses: {', '.join(free)}" if free else "No other port is free: is it plugged in?"
            findings.append(f"bus {bus}: {line['port']} is not there. {hint}")
        elif told.get("up") is False:
            findings.append(f"bus {bus}: down, {told.get('cause') or 'no cause told'}{_by(line['holders'])}")
        if len(line["holders"]) > 1:
            findings.append(f"bus {bus}: {line['port']} is open twice{_by(line['holders'])}")
    return findings


def _advice(line: dict[str, Any]) -> str:
    """What could be better on a line that works."""
    told = line["daemon"] or {}
    return str(told.get("advice") or "") if told.get("up") else ""


def _silent(line: dict[str, Any]) -> list[tuple[str, str]]:
    """The devices of a line that are not trusted: why, and what answered in their place."""
    return away((line["daemon"] or {}).get("devices", {}))


def away(devices: dict[str, Any]) -> list[tuple[str, str]]:
    """Of a snapshot's devices those that are not trusted, each with why in words."""
    return [(name, _why(state)) for name, state in devices.items() if not state.get("up")]


def _why(state: dict[str, Any]) -> str:
    cause, found = state.get("cause") or "", state.get("found") or ""
    if cause == "key":
        return f"key, {found or 'what answers'} has another key than the file osdp-keys"
    if cause == "timeout" and not found:
        return "timeout, nobody answers"
    if cause == "unheard" and not found:
        return "unheard, for a second nothing whole of it was heard"
    return ", ".join(word for word in (cause, found) if word) or "not heard yet"


def _by(holders: list[dict[str, Any]]) -> str:
    who = ", ".join(f"process {holder['pid']} ({holder['name']})" for holder in holders)
    return f"; held by {who}" if who else ""


def _print(seen: tuple[PortSeen, ...], lines: dict[str, Any]) -> None:
    click.echo("PORTS")
    for port in seen:
        click.echo(f"  {port.stable}")
        kind = " ".join(word for word in (port.adapter, port.identity, port.serial) if word) or "on the board"
        click.echo(f"    {port.node}  {port.driver}  {kind}")
        click.echo(f"    {_used(port, lines)}{_by([holder._asdict() for holder in port.holders])}")
    if not seen:
        click.echo("  none: no adapter is plugged in, or this user may not see it")
    if lines:
        click.echo("LINES")
    for bus, line in lines.items():
        click.echo(f"  {bus:<14}{line['kind']:<8}{line['port']}")
        click.echo(f"    {_state(line)}{_by(line['holders'])}")
        up = [name for name, state in (line["daemon"] or {}).get("devices", {}).items() if state.get("up")]
        if up:
            click.echo(f"    trusted: {', '.join(up)}")


def _used(port: PortSeen, lines: dict[str, Any]) -> str:
    buses = [bus for bus, line in lines.items() if line["node"] == port.node]
    return f"bus {', '.join(buses)}" if buses else "no bus uses it"


def _state(line: dict[str, Any]) -> str:
    told = line["daemon"]
    there = "there" if line["node"] is not None else "not there"
    if told is None:
        return f"{there}; no daemon answers about it"
    passed = [f"{what} {_ago(told.get(key))}" for what, key in (("heard", "heard_ms_ago"), ("sent", "sent_ms_ago"))]
    if "up" not in told:
        return f"{there}; not the daemon's own line{', but that of meterd sas' if line['kind'] == 'sas' else ''}"
    return f"{there}, {'up' if told['up'] else 'down'}; {', '.join(passed)}"


def _ago(milliseconds: int | None) -> str:
    return "never" if milliseconds is None else f"{milliseconds / 1000:.1f} s ago"


def _port_json(port: PortSeen) -> dict[str, Any]:
    from dataclasses import asdict

    return {**asdict(port), "stable": port.stable, "holders": [holder._asdict() for holder in port.holders]}
