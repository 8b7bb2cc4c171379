"""The ledger: canonical bytes, hash chain, verification. Knows no money and no database."""
