"""What Prometheus reads: a collector over one committed snapshot and the daemon's own counters.

For display and alerts only: samples are floats; the ledger is the only money truth. Money is in major units with a
``currency`` label. Every (table, link) child exists from the start, so that an alert never waits for a first event.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, Final

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)
from prometheus_client.registry import Collector

from meterd import __version__

CENTS: Final = 100
MICROCENTS: Final = 100_000_000
STATES: Final = ("CLOSED", "OPEN", "LOCKED")
DUE_KINDS: Final = ("award_unclaimed", "share_unclaimed", "pay_out", "notice_over", "gaming_day", "posting")


class FloorCollector(Collector):
    """One scrape: one snapshot, one set of statistics."""

    def __init__(self, snapshot: dict[str, Any], stats: dict[str, Any], *, up: bool) -> None:
        """``up``: whether the daemon answers; without it only that fact is exposed."""
        self._snapshot = snapshot
        self._stats = stats
        self._up = up

    def collect(self) -> Iterable[Metric]:
        """All families, in a fixed order."""
        yield _gauge("meterd_up", "1 while the daemon answers its control socket.", [((), int(self._up))])
        if not self._up:
            return
        yield from self._about()
        yield from self._money()
        yield from self._tables()
        yield from self._devices()
        yield from self._sas()
        yield from self._ledger()

    def _about(self) -> Iterator[Metric]:
        stats, snapshot = self._stats, self._snapshot
        build = GaugeMetricFamily("meterd_build_info", "What runs.", labels=("version", "web_version"))
        build.add_metric((str(stats.get("version", "")), __version__), 1)
        yield build
        config = GaugeMetricFamily("meterd_config_info", "Digest of the site file in use.", labels=("sha256",))
        config.add_metric((str(stats.get("site_sha256", "")),), 1)
        yield config
        demo, closed = int(bool(snapshot.get("demo"))), int(snapshot.get("closed") is not None)
        yield _gauge("meterd_demo_mode", "1 where the ledger is a demo's.", [((), demo)])
        yield _gauge("meterd_closed", "1 where the daemon has closed the whole floor.", [((), closed)])
        yield _gauge(
            "meterd_reconcile_difference_amount",
            "Sum of all accounts in major units; anything but 0 closes the floor.",
            [((), snapshot.get("residual_microcents", 0) / MICROCENTS)],
        )

    def _money(self) -> Iterator[Metric]:
        snapshot = self._snapshot
        currency = str(snapshot.get("currency", ""))
        names = ("link", "level", "currency")
        families = {
            "display_microcents": GaugeMetricFamily(
                "meterd_meter_amount", "Displayed progressive, for display and alerts only.", labels=names
            ),
            "reserve_microcents": GaugeMetricFamily(
                "meterd_reserve_amount", "Hidden share kept for the next reset.", labels=names
            ),
            "overflow_microcents": GaugeMetricFamily(
                "meterd_overflow_amount", "What arrived above the limit.", labels=names
            ),
        }
        hits = CounterMetricFamily("meterd_level_hits", "100 % awards of a level.", labels=("link", "level"))
        pending = GaugeMetricFamily("meterd_award_pending", "Awards that wait for a supervisor.", labels=("link",))
        liability = GaugeMetricFamily(
            "meterd_liability_amount", "Players' money held on a link.", labels=("link", "currency")
        )
        for link_id, link in snapshot.get("links", {}).items():
            pending.add_metric((link_id,), link["pending"])
            liability.add_metric((link_id, currency), link["liability_microcents"] / MICROCENTS)
            for name, level in link["levels"].items():
                for key, family in families.items():
                    family.add_metric((link_id, name, currency), level[key] / MICROCENTS)
                hits.add_metric((link_id, name), level["hits"])
        yield from families.values()
        yield hits
        yield pending
        yield liability
        yield self._due()
        links = list(snapshot.get("links", {}))
        yield _counter("meterd_awards", "Awards claimed since start.", "link", links, self._stats.get("awards", {}))
        wagered = CounterMetricFamily(
            "meterd_wager_amount", "Accepted wagers since start.", labels=("link", "currency")
        )
        for link_id in links:
            wagered.add_metric((link_id, currency), self._stats.get("wagered_cents", {}).get(link_id, 0) / CENTS)
        yield wagered

    def _due(self) -> Metric:
        due = GaugeMetricFamily(
            "meterd_due", "Clocks of the rules that have run out and wait for a person.", labels=("kind",)
        )
        found = Counter(one["kind"] for one in self._snapshot.get("due", ()))
        for kind in DUE_KINDS:
            due.add_metric((kind,), found[kind])
        return due

    def _tables(self) -> Iterator[Metric]:
        tables = self._snapshot.get("tables", {})
        ids = list(tables)
        state = GaugeMetricFamily("meterd_table_state", "One-hot state of a table.", labels=("table", "state"))
        for table_id, table in tables.items():
            for name in STATES:
                state.add_metric((table_id, name), int(table["state"] == name))
        yield state
        stats = self._stats
        yield _counter("meterd_bets", "Accepted wagers since start.", "table", ids, stats.get("bets", {}))
        yield _counter("meterd_late_bets", "Wagers after LOCK, refused.", "table", ids, stats.get("late_bets", {}))
        yield _counter("meterd_games", "Rounds ended since start.", "table", ids, stats.get("games", {}))
        refused = CounterMetricFamily("meterd_refusals", "Commands refused since start.", labels=("table", "reason"))
        for table_id, reason, count in stats.get("refused", ()):
            refused.add_metric((table_id, reason), count)
        yield refused

    def _devices(self) -> Iterator[Metric]:
        up = GaugeMetricFamily("meterd_device_up", "1 while a module is trusted.", labels=("device",))
        for device, state in self._snapshot.get("devices", {}).items():
            up.add_metric((device,), int(state["up"]))
        yield up
        frames = CounterMetricFamily("meterd_serial_frames", "Frames per port and result.", labels=("port", "result"))
        polls = CounterMetricFamily("meterd_polls", "Polls per port.", labels=("port",))
        late = CounterMetricFamily("meterd_late_polls", "Polls begun a whole period late.", labels=("port",))
        slow = GaugeMetricFamily("meterd_serial_delay_seconds", "Replies beyond what they need.", labels=("port",))
        stuck = GaugeMetricFamily("meterd_input_stuck", "1 while an input does not let go.", labels=("input",))
        for bus, stats in self._stats.get("buses", {}).items():
            for result, count in stats.get("frames", {}).items():
                frames.add_metric((bus, result), count)
            polls.add_metric((bus,), stats.get("polls", 0))
            late.add_metric((bus,), stats.get("late_polls", 0))
            slow.add_metric((bus,), max(0.0, stats.get("round_trip_ms", {}).get("late", 0.0)) / 1000)
            for name in stats.get("stuck", {}):
                stuck.add_metric((name,), 1)
        yield from (frames, polls, late, slow, stuck)
        overruns = self._stats.get("overruns", {})
        ports = dict.fromkeys((*self._stats.get("buses", {}), *overruns))
        yield _counter("meterd_overruns", "Times a port's events were too many.", "port", ports, overruns)
        sign_up = GaugeMetricFamily("meterd_sign_up", "1 while a sign's port is open.", labels=("sign",))
        sign_seq = GaugeMetricFamily("meterd_sign_seq", "Ledger entry a sign last showed.", labels=("sign",))
        sign_long = CounterMetricFamily("meterd_sign_too_long", "Figures that did not fit: CLOSED.", labels=("sign",))
        sign_again = CounterMetricFamily("meterd_sign_set_up_again", "Signs found without files.", labels=("sign",))
        for sign, status in self._stats.get("signs", {}).items():
            sign_up.add_metric((sign,), int(bool(status.get("up"))))
            sign_seq.add_metric((sign,), status.get("seq", 0))
            sign_long.add_metric((sign,), status.get("too_long", 0))
            sign_again.add_metric((sign,), status.get("set_up_again", 0))
        yield from (sign_up, sign_seq, sign_long, sign_again)

    def _sas(self) -> Iterator[Metric]:
        """Lines of games, as the process that serves them told last."""
        lines = self._stats.get("sas", {})
        up = GaugeMetricFamily("meterd_sas_up", "1 while a line of games is served.", labels=("bus",))
        games = GaugeMetricFamily("meterd_sas_game_up", "1 while a game answers its polls.", labels=("bus", "address"))
        words = CounterMetricFamily("meterd_sas_messages", "Messages and faults per line.", labels=("bus", "what"))
        age = GaugeMetricFamily("meterd_sas_level_age_seconds", "Since a level was said.", labels=("bus", "level"))
        for bus, line in lines.items():
            up.add_metric((bus,), int(bool(line.get("up"))))
            for address, answers in line["games"].items():
                games.add_metric((bus, address), int(bool(answers)))
            for what, count in (line.get("counts") or {}).items():
                words.add_metric((bus, what), count)
            for level, age_ms in (line.get("level_age_ms") or {}).items():
                if age_ms is not None:
                    age.add_metric((bus, level), age_ms / 1000)
        wins = CounterMetricFamily("meterd_game_wins", "Wins that games reported since start.", labels=("device",))
        told = self._stats.get("game_wins", {})
        for device in {f"{bus}/{address}": 0 for bus, line in lines.items() for address in line["games"]} | told:
            wins.add_metric((device,), told.get(device, 0))
        yield from (up, games, words, age, wins)

    def _ledger(self) -> Iterator[Metric]:
        stats = self._stats
        yield _gauge("meterd_ledger_head_seq", "Newest committed entry.", [((), self._snapshot.get("seq", 0))])
        entries = CounterMetricFamily("meterd_ledger_entries", "Entries committed since start.")
        entries.add_metric((), stats.get("entries", 0))
        yield entries
        steps = CounterMetricFamily("meterd_clock_steps", "Steps of the wall clock over 500 ms.")
        steps.add_metric((), stats.get("clock_steps", 0))
        yield steps
        dropped = CounterMetricFamily("meterd_log_dropped", "Log lines that nobody took.")
        dropped.add_metric((), stats.get("log_dropped", 0))
        yield dropped
        kept = stats.get("frames", {})
        for what, text in (("lost", "Pieces of a wire that no file took."), ("failures", "Times the disk took none.")):
            frames = CounterMetricFamily(f"meterd_frames_{what}", text)
            frames.add_metric((), kept.get(what, 0))
            yield frames
        yield from self._checkpoints(stats.get("checkpoints", {}))
        yield _gauge("meterd_queue_length", "Commands that wait.", [((), stats.get("queue", 0))])
        yield _gauge(
            "meterd_loop_lag_seconds",
            "Longest delay of the wire loop since start.",
            [((), stats.get("loop_lag_seconds_max", 0.0))],
        )
        yield _histogram("meterd_ledger_commit_seconds", "Time of one commit.", stats.get("commit_seconds"))
        yield _histogram("meterd_ledger_batch_entries", "Entries in one commit.", stats.get("batch_entries"))

    def _checkpoints(self, state: dict[str, Any]) -> Iterator[Metric]:
        """Whether readings are signed and kept, as far as the daemon tells."""
        owed = [((), state["owed"])] if "owed" in state else []
        yield _gauge("meterd_checkpoint_owed", "Checkpoints that a folder did not take yet.", owed)
        unsigned = CounterMetricFamily("meterd_readings_unsigned", "Readings that no key signed.")
        unsigned.add_metric((), state.get("unsigned", 0))
        yield unsigned
        made_up = [((), state["made_up"])] if "made_up" in state else []
        yield _gauge(
            "meterd_checkpoints_made_up", "Checkpoints signed at this start, not by the run that read.", made_up
        )
        at_s = [((), state["kept_at_s"])] if state.get("kept_at_s") is not None else []
        yield _gauge("meterd_checkpoint_timestamp_seconds", "When a checkpoint was last kept, where a key signs.", at_s)


def _gauge(name: str, text: str, samples: Iterable[tuple[tuple[str, ...], float]]) -> Metric:
    family = GaugeMetricFamily(name, text)
    for labels, value in samples:
        family.add_metric(labels, value)
    return family


def _counter(name: str, text: str, label: str, children: Iterable[str], counts: dict[str, int]) -> Metric:
    family = CounterMetricFamily(name, text, labels=(label,))
    for child in children:
        family.add_metric((child,), counts.get(child, 0))
    return family


def _histogram(name: str, text: str, data: dict[str, Any] | None) -> Metric:
    family = HistogramMetricFamily(name, text)
    if data:
        total = 0
        buckets: list[tuple[str, float]] = []
        for bound, count in zip([*map(str, data["bounds"]), "+Inf"], data["counts"], strict=True):
            total += count
            buckets.append((bound, total))
        family.add_metric((), buckets, data["sum"])
    return family


def exposition(snapshot: dict[str, Any], stats: dict[str, Any], *, up: bool) -> bytes:
    """The text a scrape receives."""
    registry = CollectorRegistry()
    registry.register(FloorCollector(snapshot, stats, up=up))
    return generate_latest(registry)
