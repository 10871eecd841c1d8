"""A local session of Spark with two workers."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyspark
import pytest
from pyspark.sql import SparkSession

# For each Java that starts: its best compiler takes longer than what it makes faster here saves.
os.environ["JDK_JAVA_OPTIONS"] = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"


@pytest.fixture(scope="session")
def session() -> Iterator[Any]:
    os.environ["PYSPARK_PYTHON"] = sys.executable
    spark_session = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.sql.shuffle.partitions", "2")
        .getOrCreate()
    )
    yield spark_session
    spark_session.stop()


@pytest.fixture
def _cluster() -> Iterator[None]:
    """Remove the folders of executors, which a cluster of processes leaves beside Spark."""
    yield
    shutil.rmtree(Path(pyspark.__file__).parent / "work", ignore_errors=True)
