"""Our door: everything that touches the world."""
