"""The floor: which table, what state; keys to claims. Keeps only what is not yet money."""
