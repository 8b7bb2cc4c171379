-- The ledger of meterd, format 2. What the columns mean and how rows are hashed: schema/README.md.
--
-- Rows are added at the end and never change. The triggers hold for every program that opens the file, whatever its
-- settings: a plain REPLACE deletes rows without firing delete triggers where recursive_triggers is off, so the insert
-- triggers refuse each row that could displace another. They stop accidents; the hash chain shows what they cannot stop.

PRAGMA application_id = 1296389202; -- 'METR'
PRAGMA user_version = 2;

CREATE TABLE entry (
    seq INTEGER PRIMARY KEY,
    at_utc TEXT NOT NULL,
    boot TEXT NOT NULL,
    mono_ns INTEGER NOT NULL,
    kind TEXT NOT NULL,
    table_id TEXT,
    link_id TEXT,
    site TEXT NOT NULL,
    actor TEXT NOT NULL,
    device TEXT,
    event_id TEXT UNIQUE,
    body TEXT NOT NULL,
    prev BLOB NOT NULL,
    hash BLOB NOT NULL
) STRICT;

CREATE TABLE posting (
    seq INTEGER NOT NULL,
    n INTEGER NOT NULL,
    account TEXT NOT NULL,
    microcents INTEGER NOT NULL,
    PRIMARY KEY (seq, n)
) STRICT;

CREATE TRIGGER entry_no_update BEFORE UPDATE ON entry BEGIN
    SELECT RAISE(ABORT, 'an entry never changes');
END;

CREATE TRIGGER entry_no_delete BEFORE DELETE ON entry BEGIN
    SELECT RAISE(ABORT, 'an entry is never deleted');
END;

-- The first row of a file may have any number: a later volume goes on where the one before it ended.
CREATE TRIGGER entry_continues BEFORE INSERT ON entry
WHEN new.seq < 1
    OR new.seq <> coalesce((SELECT max(seq) FROM entry) + 1, new.seq)
    OR EXISTS (SELECT 1 FROM entry WHERE event_id = new.event_id)
BEGIN
    SELECT RAISE(ABORT, 'an entry takes the next number, and an event counts once');
END;

CREATE TRIGGER posting_no_update BEFORE UPDATE ON posting BEGIN
    SELECT RAISE(ABORT, 'a posting never changes');
END;

CREATE TRIGGER posting_no_delete BEFORE DELETE ON posting BEGIN
    SELECT RAISE(ABORT, 'a posting is never deleted');
END;

-- Postings are written before the entry they belong to: once an entry stands, nothing can be added to it.
-- A rowid of its own choosing (SQLite shows "none chosen" as -1) could displace a row, so none is accepted.
CREATE TRIGGER posting_continues BEFORE INSERT ON posting
WHEN new.rowid <> -1
    OR new.seq <= coalesce((SELECT max(seq) FROM entry), 0)
    OR new.seq < coalesce((SELECT max(seq) FROM posting), 0)
    OR new.n <> coalesce((SELECT max(n) FROM posting WHERE seq = new.seq), 0) + 1
BEGIN
    SELECT RAISE(ABORT, 'a posting precedes its entry, in order');
END;
