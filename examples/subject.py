"""The parser of Python's standard library as a subject of the conformance suite.

koster conformance run -- python3 subject.py
"""

import base64
import json
import platform
import sys
from urllib.robotparser import RobotFileParser


def decide(robots, agent, urls):
    parser = RobotFileParser()
    parser.parse(robots.decode("utf-8", "replace").splitlines())
    return [parser.can_fetch(agent, url) for url in urls]


for line in sys.stdin:
    message = json.loads(line)
    if message["cmd"] == "stop":
        break
    if message["cmd"] == "start":
        version = platform.python_version()
        answer = {"name": "urllib.robotparser", "version": version, "dialects": ["rfc9309"]}
    else:
        answer = {"id": message["id"]}
        try:
            robots = base64.b64decode(message["robots"])
            answer["allowed"] = decide(robots, message["agent"], message["urls"])
        except Exception as error:  # noqa: BLE001 - whatever the parser raises
            answer["error"] = repr(error)
    print(json.dumps(answer), flush=True)
