"""Presenting results: text for a terminal, JSON, Markdown, CSV, HTML, SARIF, JUnit, GitHub.

`registry` is the one table of what can be shown in which format. `records` are the objects that
JSON and the service give. A module for each command has the rest, and the HTML pages are templates
in ``templates``. Text needs rich and pages need Jinja: the extra ``cli`` has both.
"""
