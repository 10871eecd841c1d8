"""``python -m koster`` is the command ``koster``."""

from .cli import main

if __name__ == "__main__":
    main()
