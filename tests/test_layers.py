"""No module imports itself through others: not even for the sake of types."""

from __future__ import annotations

from graphlib import CycleError, TopologicalSorter

import grimp


def test_no_circle_of_imports() -> None:
    graph = grimp.build_graph("koster", exclude_type_checking_imports=False, cache_dir=None)
    imports = {each: graph.find_modules_directly_imported_by(each) for each in graph.modules}
    assert len(imports) > 300
    try:
        TopologicalSorter(imports).prepare()
    except CycleError as error:
        raise AssertionError(" imports ".join(reversed(error.args[1]))) from None
