"""The source of both clients; ``make sync`` writes `koster.fetch._sync` from it, with unasync."""
