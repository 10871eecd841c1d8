"""Schemathesis tests of the API against its OpenAPI schema.

No response is a 5xx, and the status, media type and body of each match the schema.
"""

from __future__ import annotations

import schemathesis
from hypothesis import HealthCheck, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    negative_data_rejection,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from koster.service._requests import MAX_SITE, MAX_URL
from tests.helpers import serving

_service = serving.in_thread()
URL = _service.__enter__()
schema = schemathesis.openapi.from_url(f"{URL}/openapi.json")

CHECKS = (
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    negative_data_rejection,
)


def teardown_module() -> None:
    _service.__exit__(None, None, None)


@schema.parametrize()
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
def test_responses_match_the_schema(case: schemathesis.Case) -> None:  # type: ignore[type-arg]
    # Generated host names must not be resolved or fetched.
    for values in (case.body, case.query):
        if isinstance(values, dict):
            use_loopback_sites(values)
    response = case.call()
    # The last check does not accept these as rejections.
    checks = CHECKS[:-1] if response.status_code in (413, 414) else CHECKS
    case.validate_response(response, checks=checks)


def use_loopback_sites(values: dict[str, object]) -> None:
    """Replace the sites in a request by loopback URLs, which the guard blocks.

    Those of invalid lengths stay: they are not fetched, and are meant to be rejected.
    """
    for name, longest in (("site", MAX_SITE), ("url", MAX_URL)):
        value = values.get(name)
        if isinstance(value, str) and 0 < len(value) <= longest:
            values[name] = f"http://127.0.0.2/{value}"[:2000]
    for name in ("before", "after"):
        nested = values.get(name)
        if isinstance(nested, dict):
            use_loopback_sites(nested)
