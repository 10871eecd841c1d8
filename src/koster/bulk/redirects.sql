-- robots_followed(records): for each origin that was requested, the record with its robots.txt,
-- after up to five redirects (RFC 9309 §2.3.1.2).
--
-- records is the name of a table or view, or a path, with the columns that "koster bulk" writes
-- of archives: crawl, url, origin, fetched, class, location. One fetch of a URL in a crawl is
-- used, the last one. The rules belong to the origin that was requested first.
--
-- Returns the columns of the last record, and before them
--   asked   the site that was requested, as in https://example.com
--   hops    how many redirects were followed
--   ended   'answered', 'not in the archive' (the last record redirects to a missing one) or
--           'too many redirects' (more than five, or a loop)
CREATE OR REPLACE MACRO robots_followed(records) AS TABLE
WITH fetches AS MATERIALIZED (
    SELECT *
    FROM query_table(records)
    WHERE url IS NOT NULL
    QUALIFY row_number() OVER (
        PARTITION BY crawl, url ORDER BY fetched DESC NULLS LAST, class, location
    ) = 1
),
hop_0 AS (
    SELECT crawl, origin AS asked, url, class, location
    FROM fetches
    WHERE url = origin || '/robots.txt'
),
-- Not a recursive query, as DuckDB holds the steps of one in memory.
hop_1 AS MATERIALIZED (
    SELECT hop.crawl, asked, hop.url AS before, fetches.url, fetches.class, fetches.location
    FROM hop_0 AS hop
    LEFT JOIN fetches ON fetches.crawl IS NOT DISTINCT FROM hop.crawl AND fetches.url = hop.location
    WHERE hop.class = 'redirect' AND hop.location IS NOT NULL
),
hop_2 AS MATERIALIZED (
    SELECT hop.crawl, asked, hop.url AS before, fetches.url, fetches.class, fetches.location
    FROM hop_1 AS hop
    LEFT JOIN fetches ON fetches.crawl IS NOT DISTINCT FROM hop.crawl AND fetches.url = hop.location
    WHERE hop.class = 'redirect' AND hop.location IS NOT NULL
),
hop_3 AS MATERIALIZED (
    SELECT hop.crawl, asked, hop.url AS before, fetches.url, fetches.class, fetches.location
    FROM hop_2 AS hop
    LEFT JOIN fetches ON fetches.crawl IS NOT DISTINCT FROM hop.crawl AND fetches.url = hop.location
    WHERE hop.class = 'redirect' AND hop.location IS NOT NULL
),
hop_4 AS MATERIALIZED (
    SELECT hop.crawl, asked, hop.url AS before, fetches.url, fetches.class, fetches.location
    FROM hop_3 AS hop
    LEFT JOIN fetches ON fetches.crawl IS NOT DISTINCT FROM hop.crawl AND fetches.url = hop.location
    WHERE hop.class = 'redirect' AND hop.location IS NOT NULL
),
hop_5 AS MATERIALIZED (
    SELECT hop.crawl, asked, hop.url AS before, fetches.url, fetches.class, fetches.location
    FROM hop_4 AS hop
    LEFT JOIN fetches ON fetches.crawl IS NOT DISTINCT FROM hop.crawl AND fetches.url = hop.location
    WHERE hop.class = 'redirect' AND hop.location IS NOT NULL
),
followed AS (
    SELECT 1 AS hops, * FROM hop_1 UNION ALL SELECT 2, * FROM hop_2 UNION ALL SELECT 3, * FROM hop_3
    UNION ALL SELECT 4, * FROM hop_4 UNION ALL SELECT 5, * FROM hop_5
),
-- The record that a chain of redirects ends at; where its target is missing, the one before.
ends AS (
    SELECT crawl, asked, coalesce(url, before) AS url, hops - if(url IS NULL, 1, 0) AS hops
    FROM followed
    WHERE url IS NULL OR class IS DISTINCT FROM 'redirect' OR location IS NULL OR hops = 5
)
SELECT origin AS asked, 0 AS hops,
    if(class <> 'redirect', 'answered', 'not in the archive') AS ended, *
FROM fetches
WHERE url = origin || '/robots.txt' AND (class IS DISTINCT FROM 'redirect' OR location IS NULL)
UNION ALL
SELECT asked, hops,
    CASE
        WHEN class <> 'redirect' THEN 'answered'
        WHEN hops = 5 THEN 'too many redirects'
        ELSE 'not in the archive'
    END,
    fetches.*
FROM ends
JOIN fetches ON fetches.crawl IS NOT DISTINCT FROM ends.crawl AND fetches.url = ends.url;
