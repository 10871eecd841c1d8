"""``python -m koster`` is the command ``koster``."""

# Processes that work for this one run it again, by its path: it stands in no package then.
from koster._own_process import leave_current_folder

# What `koster` alone imports has been imported by now; the rest is not looked for there.
leave_current_folder()

from koster._cli import main  # noqa: E402

if __name__ == "__main__":
    main()
