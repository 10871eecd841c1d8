-- How requests are judged by the versions of a robots.txt that their crawlers may have held: the
-- module koster.bulk.judging explains it. koster logs, DuckDB and Spark share these queries; times
-- are microseconds since 1970.

-- asked: from "given", with the columns row_id (null: only what the server answered counts), t,
-- crawler, url, status, client, host and method: their sites, and what the answers to requests for
-- /robots.txt mean: 1 a file, 2 unreachable, 3 redirected, 4 no file, 5 no file for anyone, 6 the
-- client hung up (444, 460, 499); 0 all others, as HEAD brings no file. Requests that name no site
-- are of the one that others name, unless those name several.
named AS (
    SELECT
        row_id, t, url, status,
        coalesce(crawler, '') AS crawler,
        coalesce(client, '') AS client,
        coalesce(method, 'GET') AS method,
        lower(regexp_replace(
            coalesce(nullif(regexp_extract(url, '@AUTHORITY@', 1), ''), host, ''), ':[0-9]*$', ''
        )) AS host,
        coalesce(url <> '' AND regexp_replace(url, '@ROBOTS_TXT@', '') = '', false) AS is_robots
    FROM given
),
asked AS (
    SELECT
        *,
        CASE WHEN (SELECT count(DISTINCT nullif(host, '')) FROM named) > 1 THEN host ELSE '' END
            AS site,
        CASE
            WHEN NOT is_robots OR status IS NULL OR upper(method) <> 'GET' THEN 0
            WHEN status = 429 OR status >= 500 THEN 2
            WHEN status IN (404, 410) THEN 5
            WHEN status IN (444, 460, 499) THEN 6
            WHEN status >= 400 THEN 4
            WHEN status = 304 OR status BETWEEN 200 AND 299 THEN 1
            WHEN status >= 300 THEN 3
            ELSE 0
        END AS kind
    FROM named
)

-- held: from "asked" and from "limits", with grace_us: the period in whose versions the one that
-- the crawler held is, and whether it may have found no file. "documented" are the crawlers that
-- their operators allow more: delay_us is how long a change may take to reach them, even if they
-- fetched the file, and kept_us how old the copy may be that they use while they cannot fetch it.
documented AS (@DOCUMENTED@),
moments AS (
    SELECT row_id, t, site, crawler, client, url, is_robots, kind, CAST(NULL AS BIGINT) AS before
    FROM asked
    UNION ALL
    -- A fetch is certain to be used after the tolerance.
    SELECT NULL, t + 10000000, site, crawler, client, NULL, false, 0, t
    FROM asked
    WHERE kind IN (1, 4, 5)
),
timed AS (
    SELECT
        moments.*,
        coalesce(delay_us, 0) AS delay_us,
        coalesce(kept_us, 0) AS kept_us,
        greatest(grace_us, coalesce(delay_us, 0)) AS grace_us
    FROM moments CROSS JOIN limits
    LEFT JOIN documented ON token = lower(trim(split_part(crawler, '/', 1)))
),
fetches AS (
    SELECT
        *,
        last_value(CASE WHEN kind IN (1, 4, 5) THEN t END IGNORE NULLS) OVER own AS latest,
        last_value(before IGNORE NULLS) OVER own AS earlier,
        last_value(CASE WHEN kind IN (4, 5) THEN t END IGNORE NULLS) OVER own AS missing,
        last_value(CASE WHEN kind = 2 THEN t END IGNORE NULLS) OVER own AS failed,
        last_value(CASE WHEN kind = 3 THEN t END IGNORE NULLS) OVER own AS elsewhere,
        last_value(CASE WHEN kind = 1 THEN t END IGNORE NULLS) OVER own AS fetched,
        last_value(CASE WHEN kind > 1 THEN t END IGNORE NULLS) OVER own AS not_fetched
    FROM timed
    WINDOW
        -- Fetches come before requests of the same moment.
        own AS (
            PARTITION BY site, crawler, client ORDER BY t, kind = 0 AND before IS NULL
            ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
        )
),
-- The periods in which the answers that there is no file are fresh, for each time that they may be;
-- they do not overlap.
graces AS (
    SELECT grace_us FROM limits
    UNION
    SELECT greatest(grace_us, delay_us) FROM limits CROSS JOIN documented
),
gone AS (
    SELECT site, grace_us, min(t) AS since, max(until) AS until
    FROM (
        SELECT *, sum(is_later) OVER (PARTITION BY site, grace_us ORDER BY t) AS number
        FROM (
            SELECT
                site, grace_us, t, t + grace_us + 10000000 AS until,
                CASE
                    WHEN t - lag(t) OVER (PARTITION BY site, grace_us ORDER BY t)
                        <= grace_us + 10000000
                    THEN 0 ELSE 1
                END AS is_later
            FROM asked CROSS JOIN graces
            WHERE kind = 5
        ) AS answers
    ) AS periods
    GROUP BY site, grace_us, number
),
states AS (
    SELECT
        fetches.*,
        coalesce(latest >= t - fetches.grace_us, false) AND coalesce(elsewhere <= latest, true)
            AS is_fresh,
        coalesce(
            latest < t - fetches.grace_us AND failed > latest AND failed >= t - fetches.grace_us,
            false
        ) AND coalesce(elsewhere <= latest, true) AS is_failing,
        coalesce(latest >= t - 2592000000000, false) AS is_within_limit,
        kept_us > 0 AND coalesce(not_fetched >= t - kept_us, false)
            AND coalesce(not_fetched > fetched, true) AS is_keeping,
        coalesce(fetched >= t - kept_us, false) AS has_kept,
        gone.site IS NOT NULL
            OR (delay_us > 0 AND coalesce(missing >= t - fetches.grace_us, false)) AS is_gone
    FROM fetches
    LEFT JOIN gone
        ON gone.site = fetches.site
        AND gone.grace_us = fetches.grace_us
        AND fetches.t BETWEEN gone.since AND gone.until
    WHERE row_id IS NOT NULL
),
held AS (
    SELECT
        row_id, t, crawler, url, is_robots,
        CASE
            WHEN is_keeping AND has_kept THEN fetched
            WHEN is_keeping THEN t - kept_us
            WHEN is_failing AND is_within_limit THEN latest
            WHEN is_fresh AND delay_us = 0 AND earlier > t - grace_us THEN earlier
            ELSE t - grace_us
        END - 10000000 AS low,
        t + 10000000 AS high,
        CASE
            WHEN is_fresh AND delay_us = 0 AND earlier IS NOT NULL
            THEN coalesce(missing >= earlier, false)
            ELSE is_gone
        END
        OR (is_failing AND (NOT is_within_limit OR coalesce(missing >= latest, false)))
        OR (is_keeping AND NOT has_kept) AS is_open
    FROM states
)

-- pairs: each request with the versions that its crawler may have held, and the one in force; from
-- "held" and "numbered", with the columns number, since_us and until_us (null: the last).
paired AS (
    SELECT
        held.row_id, held.is_robots, held.is_open, held.crawler, held.url,
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

-- verdicts: from "answered", the pairs with the columns code, disallowed, line and rule. Besides
-- the verdict: the number of the version with line and rule, which disallow the request, and the
-- first and last version that the crawler may have held.
judged AS (
    SELECT
        row_id,
        bool_or(is_robots) AS is_robots,
        coalesce(bool_or(is_current), false) AS has_current,
        coalesce(bool_and(code = 1) FILTER (WHERE is_held), false)
            AND NOT bool_or(is_open) AND NOT bool_or(is_unknown) AS is_violation,
        coalesce(
            max_by(code, number) FILTER (WHERE is_held), max(code) FILTER (WHERE is_current)
        ) AS newest_code,
        coalesce(bool_or(disallowed) FILTER (WHERE is_current), false) AS is_disallowed,
        CASE WHEN bool_or(is_unknown) THEN NULL ELSE min(number) FILTER (WHERE is_held) END
            AS first_held,
        max(number) FILTER (WHERE is_held) AS last_held,
        max_by(line, number) FILTER (WHERE is_held) AS held_line,
        max_by(rule, number) FILTER (WHERE is_held) AS held_rule,
        max(number) FILTER (WHERE is_current) AS current_number,
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
            WHEN NOT has_current THEN 'not_judged'
            WHEN is_violation THEN 'violation'
            WHEN newest_code = 2 THEN 'exempt'
            WHEN newest_code = 3 THEN 'not_judged'
            WHEN is_disallowed THEN 'within_caching_period'
            ELSE 'allowed'
        END AS verdict,
        is_disallowed AND NOT is_robots AND has_current AS disallowed,
        CASE WHEN is_violation THEN last_held WHEN is_disallowed THEN current_number END AS number,
        CASE WHEN is_violation THEN held_line WHEN is_disallowed THEN current_line END AS line,
        CASE WHEN is_violation THEN held_rule WHEN is_disallowed THEN current_rule END AS rule,
        first_held, last_held
    FROM judged
)
