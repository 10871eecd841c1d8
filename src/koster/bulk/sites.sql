-- robots_sites(records): for each site of each crawl, the record that counts. A site is a host, with
-- or without www., over http or https. Of its records one counts: one with a file, by https, after
-- the fewest redirects, without www., the last one fetched.
--
-- records is as for robots_followed. Records without a URL, as those of tables, are not redirects;
-- those without an origin, too, are sites of their own.
--
-- Returns the columns of the record, and before them
--   site     its host, as in example.com
--   outcome  the class of the record, or how its redirects ended: 'not in the archive' or
--            'too many redirects'
--   hops     how many redirects were followed
CREATE OR REPLACE MACRO robots_sites(records) AS TABLE
WITH candidates AS (
    SELECT asked, hops, if(ended = 'answered', class, ended) AS outcome, * EXCLUDE (asked, hops, ended)
    FROM robots_followed(records)
    UNION ALL BY NAME
    SELECT origin AS asked, 0 AS hops, class AS outcome, *
    FROM query_table(records)
    WHERE url IS NULL
),
named AS (
    SELECT regexp_replace(asked, '^https?://(www\.)?', '') AS site, * FROM candidates
)
SELECT site, outcome, hops, * EXCLUDE (site, outcome, hops, asked)
FROM named
WHERE asked IS NOT NULL
QUALIFY row_number() OVER (
    PARTITION BY crawl, site
    ORDER BY class NOT IN ('ok', 'wrong type'), asked NOT LIKE 'https:%', hops,
        asked LIKE '%://www.%', asked, fetched DESC NULLS LAST
) = 1
UNION ALL
SELECT site, outcome, hops, * EXCLUDE (site, outcome, hops, asked) FROM named WHERE asked IS NULL;
