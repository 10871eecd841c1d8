"""The version of koster, in the one place where it is written."""

VERSION = "0.1.0"

#: Where the documentation of this version is.
DOCS = f"https://koster-robots.github.io/koster/{'.'.join(VERSION.split('.')[:2])}/"
