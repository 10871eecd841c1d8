"""Other robots.txt parsers, and the programs that ask them.

``parsers`` lists them, ``install`` installs them, and ``subjects`` holds one program per language
that makes them answer JSON lines.
"""
