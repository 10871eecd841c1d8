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
WITH RECURSIVE fetches AS (
    SELECT *
    FROM query_table(records)
    WHERE url IS NOT NULL
    QUALIFY row_number() OVER (
        PARTITION BY crawl, url ORDER BY fetched DESC NULLS LAST, class, location
    ) = 1
),
chains AS (
    SELECT crawl, origin AS asked, url, location, class, 0 AS hops
    FROM fetches
    WHERE url = origin || '/robots.txt'
    UNION ALL
    SELECT chains.crawl, chains.asked, fetches.url, fetches.location, fetches.class, hops + 1
    FROM chains
    JOIN fetches
        ON fetches.crawl IS NOT DISTINCT FROM chains.crawl AND fetches.url = chains.location
    WHERE chains.class = 'redirect' AND hops < 5
),
ends AS (
    SELECT crawl, asked, url, hops, class
    FROM chains
    QUALIFY row_number() OVER (PARTITION BY crawl, asked ORDER BY hops DESC) = 1
)
SELECT
    ends.asked,
    ends.hops,
    CASE
        WHEN ends.class <> 'redirect' THEN 'answered'
        WHEN ends.hops = 5 THEN 'too many redirects'
        ELSE 'not in the archive'
    END AS ended,
    fetches.*
FROM ends
JOIN fetches ON fetches.crawl IS NOT DISTINCT FROM ends.crawl AND fetches.url = ends.url;
