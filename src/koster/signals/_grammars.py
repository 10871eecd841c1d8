"""The table of grammars in which sites state preferences, each with its specification."""

from __future__ import annotations

from ._model import Grammar, Status

_GOOGLE_PAGES = "https://developers.google.com/search/docs/crawling-indexing/robots-meta-tag"
_ATTACH = "https://datatracker.ietf.org/doc/draft-ietf-aipref-attach/"
_TDMREP = "https://www.w3.org/community/reports/tdmrep/CG-FINAL-tdmrep-20240510/"

GROUP = Grammar(
    "group", "Rules of a crawler's group", Status.STANDARD, "RFC 9309",
    "https://www.rfc-editor.org/rfc/rfc9309",
)  # fmt: skip
CONTROL_TOKEN = Grammar(
    "control-token", "Rules for a token that only controls use", Status.POLICY, "", "",
)  # fmt: skip
POLICY_TOKEN = Grammar(
    "policy-token", "Rules for a policy token", Status.DRAFT,
    "draft-kelley-aipref-training-preference-signal-00, 2026-10-30",
    "https://datatracker.ietf.org/doc/draft-kelley-aipref-training-preference-signal/",
)  # fmt: skip
CONTENT_SIGNAL = Grammar(
    "content-signal", "Content-Signal", Status.POLICY, "Cloudflare", "https://contentsignals.org/"
)
CONTENT_USAGE = Grammar(
    "content-usage", "Content-Usage", Status.DRAFT,
    "draft-ietf-aipref-attach-05, 2026-08-18; draft-ietf-aipref-vocab-08, 2026-09-13", _ATTACH,
)  # fmt: skip
X_ROBOTS_TAG = Grammar(
    "x-robots-tag", "X-Robots-Tag", Status.POLICY, "Google, Microsoft", _GOOGLE_PAGES
)
ROBOTS_TAG = Grammar(
    "robots-tag", "Robots-Tag", Status.EXPIRED, "draft-illyes-repext-03, expired 2026-10-20",
    "https://datatracker.ietf.org/doc/draft-illyes-repext/",
)  # fmt: skip
META_ROBOTS = Grammar(
    "meta-robots", "meta robots", Status.POLICY, "Google, Microsoft", _GOOGLE_PAGES
)
NOAI = Grammar(
    "noai", "noai and noimageai", Status.CONVENTION, "DeviantArt, 2022-11-11",
    "https://www.deviantart.com/team/journal/UPDATE-All-Deviations-Are-Opted-Out-of-AI-Datasets-934500371",
)  # fmt: skip
TDMREP = Grammar("tdmrep", "TDM Reservation Protocol", Status.REPORT, "2024-05-10", _TDMREP)
RSL = Grammar(
    "rsl", "Really Simple Licensing", Status.CONVENTION, "RSL 1.0, 2025-12-10",
    "https://rslstandard.org/rsl",
)  # fmt: skip

GRAMMARS = (
    GROUP, CONTROL_TOKEN, POLICY_TOKEN, CONTENT_SIGNAL, CONTENT_USAGE, X_ROBOTS_TAG, ROBOTS_TAG,
    META_ROBOTS, NOAI, TDMREP, RSL,
)  # fmt: skip
