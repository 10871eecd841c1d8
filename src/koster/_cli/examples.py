"""Examples of each command: the help, the guide and the man page show them, and tests run them.

Files are those of the folder ``examples``; ``crawl`` is a folder of archives, ``classified`` one of
answers.
"""

from __future__ import annotations

EXAMPLES = {
    "koster": (
        "koster check --agent GPTBot https://example.com/page",
        "koster lint robots.txt",
        "koster audit https://example.com",
    ),
    "check": (
        "koster check --agent GPTBot https://example.com/page",
        "koster check --robots robots.txt --agent GPTBot /licensing/",
        "koster check --robots robots.txt --sitemap sitemap.xml",
    ),
    "fetch": (
        "koster fetch example.com",
        "koster fetch example.com example.org",
        "koster fetch --format file example.com > robots.txt",
    ),
    "agents": (
        "koster agents",
        "koster agents google",
        "koster agents Googlebot-Image",
    ),
    "lint": (
        "koster lint robots.txt",
        "koster lint --fix draft.txt",
        "koster lint https://example.com",
    ),
    "audit": (
        "koster audit robots.txt",
        "koster audit --all https://example.com",
        "koster audit --format html --site Example robots.txt > audit.html",
    ),
    "signals": (
        "koster signals https://example.com/press/",
        "koster signals --crawler GPTBot --use ai-train https://example.com/press/",
        "koster signals --robots robots.txt --header 'X-Robots-Tag: noai' --url /press/",
    ),
    "test": (
        "koster test",
        "koster test --robots https://example.com",
        "koster test --init new.expect.toml",
    ),
    "diff": (
        "koster diff robots.txt robots2.txt",
        "koster diff https://example.com robots.txt",
        "koster diff --format markdown https://example.com robots.txt",
    ),
    "fmt": (
        "koster fmt robots.txt",
        "koster fmt --minify --write robots.txt",
        "koster fmt --check robots.txt robots2.txt",
    ),
    "compose": (
        "koster compose --preset no-ai-training > robots.txt",
        "koster compose --training disallow --close /cart/ --allow Applebot",
        "koster compose --preset wordpress --keep robots.txt --write robots.txt",
    ),
    "bulk": (
        "koster bulk classify crawl/ --agents known -o classified",
        "koster bulk report classified",
        "koster bulk facts crawl/ -o facts",
    ),
    "bulk classify": (
        "koster bulk classify crawl/ --agents known -o classified",
        "koster bulk classify crawl/ --agent @training -o classified",
        "koster bulk classify crawl/ --agent GPTBot --agent CCBot -o classified",
    ),
    "bulk decide": (
        "koster bulk decide crawl/ --agent GPTBot --url / -o decided",
        "koster bulk decide pages.csv --agent GPTBot -o decided",
        "koster bulk decide pages.csv --url-column page --agent-column bot -o decided",
    ),
    "bulk facts": (
        "koster bulk facts crawl/ -o facts",
        "koster bulk facts crawl/ --jobs 2 -o facts",
        "koster bulk facts crawl/ --dialect google -o facts",
    ),
    "bulk signals": (
        "koster bulk signals crawl/ -o use",
        "koster bulk signals crawl/ --crawler GPTBot -o use",
        "koster bulk signals crawl/ --jobs 2 -o use",
    ),
    "bulk report": (
        "koster bulk report classified",
        "koster bulk report classified -o report.html --csv numbers.csv",
        "koster bulk report classified --title 'Who blocks AI'",
    ),
    "logs": (
        "koster logs access.log --robots robots.txt",
        "koster logs access.log --robots versions/ -o report.html",
        "koster logs access.log --robots versions/ --agent GPTBot -f markdown",
    ),
    "conformance": (
        "koster conformance run -- python3 subject.py",
        "koster conformance show wildcards/end-exact",
        "koster conformance run -- koster conformance subject",
    ),
    "conformance run": (
        "koster conformance run -- python3 subject.py",
        "koster conformance run --level must --tag groups -- python3 subject.py",
        "koster conformance run -f json -- python3 subject.py",
    ),
    "conformance show": (
        "koster conformance show wildcards/end-exact",
        "koster conformance show groups/stacked-first-of-two",
        "koster conformance show statuses/server-error-503",
    ),
    "conformance subject": (
        "koster conformance run -- koster conformance subject",
        "koster conformance run --level google -- koster conformance subject",
        "koster conformance run --tag caching -- koster conformance subject",
    ),
    "serve": (
        "koster serve",
        "koster serve --port 8080",
        "koster serve --socket /run/koster.sock --proxy '*' --cache redis://localhost/0",
    ),
    "completion": (
        "koster completion bash",
        "koster completion zsh",
        "koster completion fish --print > koster.fish",
    ),
    "help": (
        "koster help",
        "koster help check",
        "koster help bulk classify",
    ),
}

#: What most people do first, each with an example.
GUIDE = (
    ("Check a URL", EXAMPLES["check"][0]),
    ("Find mistakes", EXAMPLES["lint"][0]),
    ("See who is blocked", EXAMPLES["audit"][0]),
    ("Compare two versions", EXAMPLES["diff"][1]),
    ("Write a robots.txt", EXAMPLES["compose"][0]),
)
