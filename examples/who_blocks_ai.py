"""Who blocks AI crawlers, and since when: a chart from archives that this script makes.

Run it as a script, or cell by cell in an editor that supports ``# %%``:

    pip install 'koster[bulk,cli]'
    python examples/who_blocks_ai.py [FOLDER]

Real archives come from Common Crawl: use the robotstxt files of a crawl in place of these.
"""

# %% The folder for all files.
import io
import random
import subprocess
import sys
import tempfile
from pathlib import Path

import duckdb
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

import koster.bulk.duckdb

folder = Path(sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp(prefix="koster-"))
folder.mkdir(parents=True, exist_ok=True)

# %% Four crawls of 400 made-up sites. More of them block AI crawlers in each crawl.
CRAWLS = {"CC-MAIN-2023-06": 0.02, "CC-MAIN-2024-10": 0.18, "CC-MAIN-2025-13": 0.27,
          "CC-MAIN-2026-43": 0.34}  # fmt: skip
#: The share of blocking sites that block each crawler.
BLOCKED = {"GPTBot": 0.95, "CCBot": 0.8, "ClaudeBot": 0.6, "Google-Extended": 0.55,
           "Bytespider": 0.5, "PerplexityBot": 0.35, "Applebot-Extended": 0.3}  # fmt: skip


def robots_txt(site: int, share: float) -> bytes:
    """Return the robots.txt of a site in a crawl; a site that blocks crawlers keeps doing so."""
    lines = ["User-agent: *", "Disallow: /admin/", "Disallow: /search", ""]
    if random.Random(site).random() < share:
        chance = random.Random(f"{site} {share}")
        names = [name for name, part in BLOCKED.items() if chance.random() < part]
        lines += [*(f"User-agent: {name}" for name in names), "Disallow: /", ""]
    return "\n".join(lines).encode()


def write_crawl(path: Path, crawl: str, share: float) -> None:
    """Write a crawl's robotstxt archive."""
    with path.open("wb") as file:
        writer = WARCWriter(file, gzip=True)
        writer.write_record(writer.create_warcinfo_record(path.name, {"isPartOf": crawl}))
        for site in range(400):
            status, body = "200 OK", robots_txt(site, share)
            headers = [("Content-Type", "text/plain")]
            if site % 11 == 3:
                status, body = "404 Not Found", b""
            if site % 13 == 5:
                status, body = "301 Moved Permanently", b""
                headers = [("Location", f"https://www.site-{site}.example/robots.txt")]
                write_answer(writer, f"www.site-{site}", "200 OK", [], robots_txt(site, share))
            write_answer(writer, f"site-{site}", status, headers, body)


def write_answer(
    writer: WARCWriter, host: str, status: str, headers: list[tuple[str, str]], body: bytes
) -> None:
    """Write the response of a host."""
    head = StatusAndHeaders(status, headers, protocol="HTTP/1.1")
    url = f"https://{host}.example/robots.txt"
    record = writer.create_warc_record(url, "response", io.BytesIO(body), http_headers=head)
    writer.write_record(record)


archives = folder / "crawls"
archives.mkdir(exist_ok=True)
for crawl, share in CRAWLS.items():
    write_crawl(archives / f"{crawl}.warc.gz", crawl, share)

# %% One command classifies for every known crawler. Finished archives are skipped next time.
classified = folder / "classified"
koster_bulk = [sys.executable, "-m", "koster", "bulk"]
subprocess.run(
    [*koster_bulk, "classify", archives, "--agents", "known", "-o", classified], check=True
)

# %% The chart, as a page; its numbers are in numbers.csv.
subprocess.run(
    [*koster_bulk, "report", classified, "-o", folder / "report.html",
     "--csv", folder / "numbers.csv", "--title", "Who blocks AI crawlers"],
    check=True,
)  # fmt: skip

# %% The same from SQL, for other questions.
con = duckdb.connect()
koster.bulk.duckdb.register(con)
con.execute(f"CREATE VIEW answers AS SELECT * FROM '{classified}/*.parquet'")
print(
    con.sql("""
    SELECT crawl, count(*) AS sites, count_if(effective = 'all') AS blocking_gptbot
    FROM (
        SELECT crawl, unnest(robots, recursive := true)
        FROM robots_followed('answers')
        WHERE ended = 'answered'
    )
    WHERE agent = 'GPTBot'
    GROUP BY crawl ORDER BY crawl
""")
)
con.close()
print(f"see {folder / 'report.html'}")
