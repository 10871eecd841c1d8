"""Ray Data with Arrow batches: the example in docs/guides/data/spark.md."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

import koster.bulk
from tests.helpers.columns import BODIES

ray = pytest.importorskip("ray", reason="Ray is not installed")
AGENTS = ["GPTBot", "CCBot"]


@pytest.mark.filterwarnings("ignore")
def test_ray_agrees_with_the_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    agents = AGENTS

    def add_answers(batch: Any) -> Any:
        import koster.bulk

        return batch.append_column("robots", koster.bulk.classify(batch["body"], agents))

    table = pa.table({"id": pa.array(range(len(BODIES))), "body": pa.array(BODIES)})
    ray.init(num_cpus=2, include_dashboard=False, _node_ip_address="127.0.0.1", log_to_driver=False)
    try:
        dataset = ray.data.from_arrow(table)
        results = dataset.map_batches(add_answers, batch_format="pyarrow").take_all()
    finally:
        ray.shutdown()
    rows = sorted(results, key=lambda row: row["id"])
    expected = koster.bulk.classify(table["body"], AGENTS).to_pylist()
    assert [None if row["robots"] is None else list(row["robots"]) for row in rows] == expected
