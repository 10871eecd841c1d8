"""The version of koster, in the one place where it is written."""

VERSION = "0.1.0"
