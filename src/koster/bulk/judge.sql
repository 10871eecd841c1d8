-- How requests are judged by the versions of a robots.txt that their crawlers may have held: the
-- module koster.bulk.judging explains it. DuckDB and Spark share these queries; times are
-- microseconds since 1970.

-- held: from "asked", with the columns row_id, t, site, crawler, client and kind (of a request for
-- /robots.txt: 1 a file, 2 unreachable, 3 redirected, 4 no file, 5 no file for anyone; else 0), and
-- from "limits", with grace_us: the
-- period in whose versions the one that the crawler held is, and whether it may have found no file.
fetches AS (
    SELECT
        *,
        max(CASE WHEN kind IN (1, 4, 5) THEN t END) OVER own AS latest,
        max(CASE WHEN kind IN (1, 4, 5) THEN t END) OVER own_before AS earlier,
        max(CASE WHEN kind IN (4, 5) THEN t END) OVER own AS missing,
        max(CASE WHEN kind = 2 THEN t END) OVER own AS failed,
        max(CASE WHEN kind = 3 THEN t END) OVER own AS elsewhere,
        max(CASE WHEN kind = 5 THEN t END) OVER all_of_site AS gone
    FROM asked CROSS JOIN limits
    WINDOW
        own AS (
            PARTITION BY site, crawler, client ORDER BY t
            RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
        ),
        own_before AS (
            PARTITION BY site, crawler, client ORDER BY t
            RANGE BETWEEN UNBOUNDED PRECEDING AND CAST(10000000 AS BIGINT) PRECEDING
        ),
        all_of_site AS (
            PARTITION BY site ORDER BY t RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
        )
),
states AS (
    SELECT
        *,
        coalesce(latest >= t - grace_us, false) AND coalesce(elsewhere <= latest, true)
            AS is_fresh,
        coalesce(
            latest < t - grace_us AND failed > latest AND failed >= t - grace_us, false
        ) AND coalesce(elsewhere <= latest, true) AS is_failing,
        coalesce(latest >= t - 2592000000000, false) AS is_within_limit,
        coalesce(gone >= t - grace_us - 10000000, false) AS is_gone
    FROM fetches
),
held AS (
    SELECT
        row_id, t, crawler, kind, is_robots,
        CASE
            WHEN is_failing AND is_within_limit THEN latest
            WHEN is_fresh AND earlier > t - grace_us THEN earlier
            ELSE t - grace_us
        END - 10000000 AS low,
        t + 10000000 AS high,
        CASE WHEN is_fresh AND earlier IS NOT NULL THEN coalesce(missing >= earlier, false)
            ELSE is_gone END
        OR (is_failing AND (NOT is_within_limit OR coalesce(missing >= latest, false))) AS is_open
    FROM states
)

-- pairs: each request with the versions that its crawler may have held, and the one in force; from
-- "held" and "numbered", with the columns number, since_us, until_us (null: the last) and label.
paired AS (
    SELECT
        held.row_id, held.is_robots, held.is_open, held.crawler,
        held.low < (SELECT min(since_us) FROM numbered) AS is_unknown,
        numbered.number,
        numbered.since_us <= held.high AND (until_us IS NULL OR until_us > held.low) AS is_held,
        numbered.since_us <= held.t AND (until_us IS NULL OR until_us > held.t) AS is_current
    FROM held
    LEFT JOIN numbered
        ON NOT held.is_robots
        AND numbered.since_us <= greatest(held.high, held.t)
        AND (until_us IS NULL OR until_us > least(held.low, held.t))
)

-- verdicts: from "answered", the pairs with the columns code, disallowed, line, rule and label.
judged AS (
    SELECT
        row_id,
        bool_or(is_robots) AS is_robots,
        bool_or(is_current) AS has_current,
        coalesce(bool_and(code = 1) FILTER (WHERE is_held), false)
            AND NOT bool_or(is_open) AND NOT bool_or(is_unknown) AS is_violation,
        coalesce(
            max_by(code, number) FILTER (WHERE is_held), max(code) FILTER (WHERE is_current)
        ) AS newest_code,
        bool_or(disallowed) FILTER (WHERE is_current) AS is_disallowed,
        max_by(label, number) FILTER (WHERE is_held) AS held_version,
        max_by(line, number) FILTER (WHERE is_held) AS held_line,
        max_by(rule, number) FILTER (WHERE is_held) AS held_rule,
        max(label) FILTER (WHERE is_current) AS current_version,
        max(line) FILTER (WHERE is_current) AS current_line,
        max(rule) FILTER (WHERE is_current) AS current_rule
    FROM answered
    GROUP BY row_id
),
verdicts AS (
    SELECT
        row_id,
        CASE
            WHEN is_robots THEN 'robots_txt'
            WHEN has_current IS NULL OR NOT has_current THEN 'not_judged'
            WHEN is_violation THEN 'violation'
            WHEN newest_code = 2 THEN 'exempt'
            WHEN newest_code = 3 THEN 'not_judged'
            WHEN is_disallowed THEN 'within_caching_period'
            ELSE 'allowed'
        END AS verdict,
        coalesce(is_disallowed, false) AND NOT is_robots AND coalesce(has_current, false)
            AS disallowed,
        CASE WHEN is_violation THEN held_version WHEN is_disallowed THEN current_version END
            AS version,
        CASE WHEN is_violation THEN held_line WHEN is_disallowed THEN current_line END AS line,
        CASE WHEN is_violation THEN held_rule WHEN is_disallowed THEN current_rule END AS rule
    FROM judged
)
