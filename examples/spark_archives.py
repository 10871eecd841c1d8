"""Classify, on a Spark cluster, the robots.txt files in many WARC archives.

    spark-submit examples/spark_archives.py PATHS OUT GPTBot CCBot

PATHS is a text file with the path or URL of an archive on each line. OUT is a folder for the
answers, which ``koster bulk report`` reads. Every worker needs a Python with
``pip install 'koster[bulk]'``, and s3fs for ``s3://`` or aiohttp for ``https://``.

Exit codes: 0 all archives were read, 1 some were not: they are listed, and have rows in OUT.
"""

import sys

from pyspark.sql import SparkSession
from pyspark.sql import functions as sql

from koster.bulk import spark as robots


def main() -> int:
    """Read, classify, write, and count what was not read."""
    source, out, *agents = sys.argv[1:]
    session = SparkSession.builder.appName("classify archives").getOrCreate()
    paths = session.read.text(source).withColumnRenamed("value", "path").where("path <> ''")
    count = paths.count()
    # Some archives a task: a task that is tried again reads all of its archives again.
    fetches = robots.archives(paths.repartition(max(count // 10, 1)))
    robots.classify(fetches, agents).drop("body").write.mode("overwrite").parquet(out)
    errors = session.read.parquet(out).where("error IS NOT NULL")
    unread = errors.where("error_kind <> 'record'").select("archive", "error_kind", "error")
    rows = unread.orderBy("archive").collect()
    for row in rows:
        print(f"{row.archive}: {row.error_kind}: {row.error}", file=sys.stderr)
    records = errors.where(sql.col("error_kind") == "record").count()
    print(f"{count - len(rows)} of {count} archives read, {records} parts of them broken")
    session.stop()
    return 1 if rows else 0


sys.exit(main())
