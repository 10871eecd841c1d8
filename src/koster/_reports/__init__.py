"""Presenting results: text for a terminal, JSON, Markdown, CSV, HTML, SARIF, JUnit, GitHub.

`registry` is the table of results and formats. `records` are the objects in JSON, from the command
line and the service. Each command has a module for the rest, and the HTML pages are templates in
``templates``. Colours need rich and pages need Jinja: the extra ``cli`` has both.
"""
