"""``python -m meterd``."""

from meterd.cli.main import main

if __name__ == "__main__":
    main()
