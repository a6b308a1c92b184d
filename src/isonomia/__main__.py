"""Run the command line as a module: `python -m isonomia`."""

from isonomia.cli import main

if __name__ == "__main__":
    main()
