"""How fast, how large, and against whom: ``make bench``, or ``python -m benchmarks --help``.

A *part* is a function of a number of rounds: it prints its tables and returns the numbers that have
limits. `__main__` lists the parts, `limits` the limits. ``make bench`` writes the tables into the
docs, and the numbers as a line of ``history.jsonl``.

    data: real files, hostile patterns     peers: parsers as data, and how each is called
                        │                    │
    in_turns: every action once a round, round after round  ──▶  compared: median, ratio in a round
    child, started: the same in a process of its own        ──▶  table

- *Seconds* on a shared machine differ twofold from hour to hour. So what is compared is measured in
  turns, within a second or so of each other, and a ratio is the median of those within a round.
- *Instructions* are exact: those of koster's hot paths show what a change costs.
- *Hostile files* are data, too: `hostile` grows them and looks at the exponent.

A parser is an entry of `peers`, a case of instructions a function of `instructions`, a hostile file
a line of `hostile`. Everything needs the real files of the conformance data.

Why neither pytest-benchmark nor asv, which are well kept: they compare a function with what it was
in an earlier commit. Here parsers are compared with one another. pytest-benchmark 5.3 runs one to
its end, then the next; with koster and Protego on a busy machine, the ratio of their minima, which
it ranks by, was 43 to 118 in six runs, that of medians 33 to 43, and 27 to 37 in turns. Two thirds
of the parts measure processes, memory or exponents, which neither does; asv would keep such numbers
if this package computed them. What is left for them is what `history.jsonl` does.
"""
