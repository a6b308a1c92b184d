"""``python -m isonomia.cli``: the same as ``isonomia``."""

from isonomia.cli.app import main

if __name__ == "__main__":
    main()
