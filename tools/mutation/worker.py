"""Try the mutants of a module, at the top of a copy of the project.

``python -m tools.mutation.worker NAME SESSION PERCENT``. A session that exists is resumed.
"""

from __future__ import annotations

import math
import random
import shlex
import subprocess
import sys
from pathlib import Path

from cosmic_ray.mutating import mutate_and_test
from cosmic_ray.work_db import WorkDB, use_db

from .mutants import write_session
from .survivors import listed, survivors_of

#: A mutant that takes longer loops for ever, in seconds.
_TIMEOUT = 400.0


def main() -> None:
    """Try survivors without a reason again, and then mutants that have no result yet."""
    name, path, percent = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])
    if not path.exists():
        write_session(path, Path("src", "koster", f"{name}.py"))
    check = f"{sys.executable} -m tools.mutation.check {name}"
    if subprocess.run(shlex.split(check), stdout=subprocess.DEVNULL, check=False).returncode:
        sys.exit(f"{name}: the tests fail without a change: {check}")
    with use_db(str(path), WorkDB.Mode.open) as session:
        known = listed()
        survivors = survivors_of(session, path.stem)
        again = {job for job, survivor in survivors.items() if survivor not in known}
        items = [item for item in session.work_items if item.job_id in again]
        missing = math.ceil(session.num_work_items * percent / 100) - session.num_results
        pending = list(session.pending_work_items)
        items += random.sample(pending, min(max(missing, 0), len(pending)))
        for item in items:
            session.set_result(item.job_id, mutate_and_test(item.mutations, check, _TIMEOUT))


if __name__ == "__main__":
    main()
