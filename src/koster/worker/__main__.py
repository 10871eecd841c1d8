"""Runs the worker: ``python -m koster.worker``."""

from .loop import main

if __name__ == "__main__":
    main()
