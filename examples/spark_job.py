"""Count, on a Spark cluster, how many sites block each crawler.

    spark-submit examples/spark_job.py ROBOTS.parquet OUT.parquet GPTBot CCBot

ROBOTS.parquet has a column ``body`` of robots.txt files. Every worker needs a Python with
``pip install 'koster[bulk]'``; name it in PYSPARK_PYTHON.
"""

import sys

from pyspark.sql import SparkSession
from pyspark.sql import functions as sql

from koster.bulk import spark as robots


def main() -> None:
    """Read, classify, count and write."""
    source, out, *agents = sys.argv[1:]
    session = SparkSession.builder.appName("blocked crawlers").getOrCreate()
    classified = robots.classify(session.read.parquet(source), agents)
    answers = classified.select(sql.explode("robots").alias("each")).select("each.*")
    counts = answers.groupBy("agent").agg(
        sql.count("*").alias("sites"),
        sql.count_if(sql.col("effective") == "all").alias("blocked"),
        sql.count_if(sql.col("effective") == "some").alias("partly"),
        sql.count_if("written").alias("named"),
    )
    counts.write.mode("overwrite").parquet(out)
    session.stop()


main()
