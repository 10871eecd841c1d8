"""The source of both clients: ``make generate`` makes `koster.fetch._sync` of it."""
