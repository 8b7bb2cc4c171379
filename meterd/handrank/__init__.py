"""The shared hand-ranking core: cards to outcome. Standard library only; importable alone."""
