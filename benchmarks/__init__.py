"""How fast, how large, and against whom: ``make bench``, or ``python -m benchmarks --help``.

A *part* is a function of a number of rounds: it prints its tables and returns the numbers that have
limits. `__main__` lists the parts, `limits` the limits, and ``make bench`` writes the tables to the
docs and a line of numbers to ``history.jsonl``.

    data: real files, hostile patterns     peers: parsers as data, and how each is called
                        \\                   /
    in_turns: every action once a round, again and again  ──▶  compared: median, ratio in a round
    child, started: the same in a process of its own      ──▶  table

- *Seconds* on a shared machine differ twofold from hour to hour. So what is compared is measured in
  turns, within a second or so of each other, and the ratio is the median of those within a round.
- *Instructions* are exact on any machine: those of koster's hot paths show what a change costs.
- *Hostile files* are data, too: `hostile` grows them and looks at the exponent.

To add a parser, add an entry in `peers`; a case of instructions is a function in `instructions`; a
hostile file is a line in `hostile`. Everything needs the real files of the conformance data.

pytest-benchmark and asv were tried, both well kept. They run a case to its end before the next, and
compare one case over time: PYTEST_BENCHMARK_RESULT
"""
