"""Which table a device belongs to. Devices nobody configured are not heard."""

from __future__ import annotations

from collections.abc import Sequence

from meterd.accounting.book import Book
from meterd.accounting.commands import Command
from meterd.config import NOBODY, People, TableConfig
from meterd.errors import MisuseError
from meterd.floor.session import DeviceEvent, TableSession


class Router:
    """The sessions of all tables, by the devices wired to them."""

    def __init__(self, tables: Sequence[TableConfig], people: People = NOBODY) -> None:
        """One session a table. ``people``: whose badges count on the pads.

        Raises:
            MisuseError: one device is wired to two tables; its counts could then be trusted for only one of them. A
                site file that says so is refused before it comes here.
        """
        self.sessions: tuple[TableSession, ...] = tuple(TableSession(table, people) for table in tables)
        self._by_device: dict[str, TableSession] = {}
        for session in self.sessions:
            for device in session.devices:
                if device in self._by_device:
                    raise MisuseError(
                        f"{device} is wired to two tables: {self._by_device[device].table_id} and {session.table_id}"
                    )
                self._by_device[device] = session

    @property
    def devices(self) -> tuple[str, ...]:
        """Every device of every table."""
        return tuple(self._by_device)

    def sessions_for(self, device: str) -> list[TableSession]:
        """The session a device speaks to; empty for a device that no table has."""
        session = self._by_device.get(device)
        return [] if session is None else [session]

    def commands(self, event: DeviceEvent, book: Book) -> list[tuple[TableSession, Command]]:
        """What an event asks for, with the session that must hear the decision."""
        return [
            (session, command)
            for session in self.sessions_for(event.device)
            for command in session.on_event(event, book)
        ]
