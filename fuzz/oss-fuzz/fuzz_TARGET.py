"""What OSS-Fuzz runs: build.sh makes one of these for each target."""

import sys

import atheris

with atheris.instrument_imports(include=["koster", "fuzz"]):
    from fuzz import TARGET

if __name__ == "__main__":
    atheris.Setup(sys.argv, TARGET.check)
    atheris.Fuzz()
