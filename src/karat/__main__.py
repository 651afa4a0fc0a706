"""``python -m karat`` is ``karat``."""

from karat.cli.main import program

if __name__ == "__main__":
    program()
