"""Accounting: commands in, entries or a refusal out. Knows no device, no hash, no clock."""
