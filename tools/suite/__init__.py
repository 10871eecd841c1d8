"""Write the conformance suite: ``python -m tools.suite``.

`source` reads the cases in ``tests/cases``, which koster's own tests run too; `export` turns them
into the files of the folder ``conformance``, which need neither koster nor Python.
"""
