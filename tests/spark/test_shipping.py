"""Workers without a Python of their own get one with the job: ``spark-submit --archives``."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from tests.helpers import archives
from tests.helpers.support import ROOT

JOB = """
import sys
from pyspark.sql import SparkSession
from koster.bulk import spark as robots

session = SparkSession.builder.getOrCreate()
frame = session.createDataFrame([(sys.argv[1],)], "path string")

def places(batches):
    import koster, pyarrow
    for batch in batches:
        yield pyarrow.RecordBatch.from_pydict({"path": [koster.__file__] * len(batch)})

print("koster of workers:", frame.mapInArrow(places, "path string").collect()[0].path)
rows = robots.classify(robots.archives(frame), ["GPTBot"]).where("robots IS NOT NULL").collect()
print("answers:", len(rows))
"""


def run(*command: object, **env: str) -> str:
    done = subprocess.run(
        list(map(str, command)), check=False, capture_output=True, text=True,
        env={**os.environ, **env},
    )  # fmt: skip
    assert done.returncode == 0, (done.stdout + done.stderr)[-3000:]
    return done.stdout


@pytest.mark.usefixtures("_cluster")
def test_a_packed_environment_with_one_wheel(tmp_path: Path) -> None:
    """As docs/guides/data/spark.md writes it; the packages that koster needs are not copied."""
    packed = tmp_path / "packed"
    run(sys.executable, "-m", "venv", "--without-pip", packed)
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
    run(*pip, "wheel", "--no-deps", "--no-build-isolation", "-w", tmp_path, ROOT, KOSTER_PURE="1")
    (wheel,) = tmp_path.glob("koster-*.whl")
    run(*pip, "--python", packed / "bin" / "python", "install", "--no-deps", wheel)
    venv_pack = Path(sys.executable).parent / "venv-pack"
    run(venv_pack, "-q", "-p", packed, "-o", tmp_path / "packed.tar.gz")

    path = archives.write(tmp_path / "a.warc.gz", archives.sites(10))
    (tmp_path / "job.py").write_text(JOB)
    output = run(
        Path(sys.executable).parent / "spark-submit", "--master", "local-cluster[1,1,1024]",
        "--conf", "spark.ui.enabled=false",
        "--conf", f"spark.executorEnv.PYTHONPATH={sysconfig.get_path('purelib')}", "--archives", f"{tmp_path}/packed.tar.gz#packed",
        tmp_path / "job.py", path,
        PYSPARK_PYTHON="./packed/bin/python", PYSPARK_DRIVER_PYTHON=sys.executable,
        SPARK_LOCAL_IP="127.0.0.1",
    )  # fmt: skip
    assert "answers: 7" in output
    (line,) = (each for each in output.splitlines() if each.startswith("koster of workers:"))
    assert "/packed/lib/" in line
