"""meterd: a table-game progressive jackpot and meter controller."""

__version__ = "0.1.0"
