"""koster.bulk.spark.judge agrees with koster.logs.judge."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from koster.bulk import spark as robots
from koster.logs import judge
from tests.helpers.requests_of import CLOSED, OPEN, random_case, requests, versions

NAMES = ("verdict", "disallowed", "version", "line", "rule")


def in_spark(session: SparkSession, asked: pa.Table, of: pa.Table, **options: Any) -> list[Any]:
    asked = asked.append_column("row", pa.array(range(len(asked))))
    frame = robots.judge(session.createDataFrame(asked), session.createDataFrame(of), **options)
    rows = frame.orderBy("row").collect()
    return [{name: row[name] for name in NAMES} for row in rows]


@pytest.mark.parametrize("seed", range(6))
def test_spark_agrees(session: SparkSession, seed: int) -> None:
    asked, of = random_case(seed)
    assert in_spark(session, asked, of) == judge(asked, of).to_pylist()


def test_spark_without_optional_columns(session: SparkSession) -> None:
    asked = requests([(-1, "/robots.txt"), (1, "/private/a")]).drop_columns(["client"])
    of = versions((-100, OPEN), (0, CLOSED)).drop_columns(["label"])
    frame = robots.judge(session.createDataFrame(asked), session.createDataFrame(of))
    assert frame.columns == [*asked.schema.names, *NAMES]
    assert in_spark(session, asked, of) == judge(asked, of).to_pylist()
    short = timedelta(minutes=30)
    expected = judge(asked, of, short).to_pylist()
    assert in_spark(session, asked, of, grace=short) == expected


def test_spark_names_missing_columns(session: SparkSession) -> None:
    asked, of = random_case(0)
    frame, versions_frame = session.createDataFrame(asked), session.createDataFrame(of)
    with pytest.raises(TypeError, match="no column 'url'"):
        robots.judge(frame.drop("url"), versions_frame)
    with pytest.raises(ValueError, match="at least one version"):
        robots.judge(frame, versions_frame.filter("false"))
