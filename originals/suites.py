"""The test suites, and the tests that are expected to fail, each with its reason."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Suite:
    """The tests of an original.

    ``package`` is its name and version on PyPI, or None for the standard library. ``modules`` maps
    import names to the facade's; ``paths`` are the tests in its source distribution. ``private``
    are tests of private helpers, which are left out. ``excepted`` are tests that are expected to
    fail, with the reason.
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
                "it checks two private counters; our own tests cover line ends"
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
                "RFC 9309 §2.2.1: a crawler with a group of its own name obeys that one; "
                "so does Python 3.15"
            ),
            "UseFirstUserAgentWildcardTest::test_good_urls": (
                "RFC 9309 §2.2.1: all groups of a name apply; so does Python 3.15"
            ),
            "StringFormattingTest::test_string_formatting": (
                "Python 3.15 returns the groups in file order, including the * groups"
            ),
            "PercentEncodingTest::test_bad_urls": (
                "RFC 9309 §2.2.2: an escape of a reserved character is not that character "
                "(%2F and /, %26 and &, %3D and =); a fragment is not part of a request"
            ),
            "LocalNetworkTestCase::testRead": "RFC 9309 §2.2.2: %2F is not /",
        },
    ),
)
