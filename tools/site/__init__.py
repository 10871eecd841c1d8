"""Builds the documentation: ``python -m tools.site``, which ``make docs`` runs.

    docs/**/*.md ─┐
    the code ─────┴─▶ build/docs/*.md ──Zensical──▶ site/VERSION/*.html
                                     └─▶ site/VERSION/*.md, llms.txt

Pages about what the code knows (commands, lint codes, the Python API, crawlers, …) are generated;
hand-written pages take tables with ``<!-- insert: NAME -->``. Every page is in `nav.NAV`.
"""
