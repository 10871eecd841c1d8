"""``python -m koster`` is the command ``koster``."""

# Processes that work for this one run it again, by its path: it stands in no package then.
from koster.cli import main

if __name__ == "__main__":
    main()
