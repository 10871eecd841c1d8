"""Which suites there are, and which of their tests are not to pass, each with its reason."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Suite:
    """The tests of an original.

    ``package`` is its name and version on PyPI, or None for what Python itself brings.
    ``modules`` are the import names that lead to the facade's; ``paths`` the tests in its source
    distribution. ``private`` are tests of helpers that are no part of the interface: they are
    left out. ``excepted`` are tests that are expected to fail.
    """

    facade: str
    package: str | None
    modules: dict[str, str]
    paths: tuple[str, ...]
    private: tuple[str, ...] = ()
    excepted: dict[str, str] = field(default_factory=dict)


SUITES = (
    Suite(
        facade="robotexclusionrulesparser",
        package="robotexclusionrulesparser==1.7.1",
        modules={"robotexclusionrulesparser": "koster.compat.robotexclusionrulesparser"},
        paths=("tests",),
    ),
    Suite(
        facade="webcanon",
        package="webcanon==0.3.0",
        modules={"webcanon.robots": "koster.compat.webcanon"},
        paths=("tests/test_robots.py",),
    ),
    Suite(
        facade="protego",
        package="protego==0.7.0",
        modules={"protego": "koster.compat.protego"},
        paths=("tests",),
        private=(
            "test_unquote.py",
            "test_parse_time_period",
            "test_quoting",
        ),
        excepted={
            "TestProtego::test_line_endings": (
                "it looks at two private counters; that the line ends are read is in our tests"
            ),
        },
    ),
    Suite(
        facade="robotparser",
        package=None,
        modules={"urllib.robotparser": "koster.compat.robotparser"},
        paths=("test.test_robotparser",),
        excepted={
            "UserAgentGoogleMobileTest::test_bad_urls": (
                "RFC 9309 §2.2.1: a robot with a group of its own name obeys that one; "
                "so does Python 3.15"
            ),
            "UseFirstUserAgentWildcardTest::test_good_urls": (
                "RFC 9309 §2.2.1: all groups of a name hold; so does Python 3.15"
            ),
            "StringFormattingTest::test_string_formatting": (
                "Python 3.15 gives the groups in file order, those for everybody among them"
            ),
            "PercentEncodingTest::test_bad_urls": (
                "RFC 9309 §2.2.2: an escape of a reserved character is not that character "
                "(%2F and /, %26 and &, %3D and =); a fragment is no part of what is asked for"
            ),
            "LocalNetworkTestCase::testRead": "RFC 9309 §2.2.2: %2F is not /",
        },
    ),
)
