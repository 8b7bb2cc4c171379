"""The other end of every wire: modules, keypads, signs, players, bad cables."""
