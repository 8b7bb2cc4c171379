"""Pay tables: what is printed, our reading of it, and which row a hand earns. Pure; takes text, never a path."""
