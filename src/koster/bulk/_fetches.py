"""The fetches of robots.txt in logs: when each client fetched it last before a moment."""

from __future__ import annotations

from array import array
from datetime import timedelta

from ._arrow import Numbers, np

#: How far back fetches are looked up for requests that are logged late, such as long downloads.
_HORIZON = timedelta(hours=1) // timedelta(microseconds=1)

#: The maximum number of clients whose fetches are remembered; the oldest are forgotten, after which
#: any version of the caching period counts for them.
_MAX_CLIENTS = 50_000

#: The moment of what never happened, and the start of the first version.
NEVER = -(2**63)


class FetchMoments:
    """The moments of one kind of fetch, by client, for those within `_HORIZON` of the last one."""

    def __init__(self) -> None:
        self._moments: dict[str, array[int]] = {}

    def last(self, clients: list[str], codes: Numbers, times: Numbers, are: Numbers) -> Lookup:
        """Return the lookup of the last fetch, with those of a batch, where ``are`` is true.

        ``codes`` are indices into ``clients``.
        """
        known = [
            (code, self._moments[client])
            for code, client in enumerate(clients)
            if client in self._moments
        ]
        owners = [np.full(len(some), code) for code, some in known]
        found = Lookup(
            np.concatenate([codes[are], *owners]),
            np.concatenate([times[are], *(np.array(some) for _, some in known)]),
        )
        self._add(clients, codes[are], times[are])
        return found

    def _add(self, clients: list[str], codes: Numbers, times: Numbers) -> None:
        order = np.lexsort((times, codes))
        found, starts = np.unique(codes[order], return_index=True)
        for code, new in zip(found, np.split(times[order], starts[1:]), strict=False):
            moments = self._moments.pop(clients[code], None) or array("q")
            merged = np.unique(np.concatenate([np.array(moments, np.int64), new]))
            start = np.searchsorted(merged, merged[-1] - _HORIZON) - 1
            # Popped and set, so that the table is in order of use.
            self._moments[clients[code]] = array("q", merged[max(start, 0) :].tolist())
        while len(self._moments) > _MAX_CLIENTS:
            del self._moments[next(iter(self._moments))]


class Lookup:
    """Finds the last of some moments of an owner before another moment."""

    def __init__(self, owners: Numbers, moments: Numbers) -> None:
        order = np.lexsort((moments, owners))
        self.owners = owners[order].astype(np.int64)
        self.moments = moments[order].astype(np.int64)

    def before(self, owners: Numbers, moments: Numbers) -> Numbers:
        """Return the last moments, at or before those given; `NEVER` if it is missing."""
        size = len(self.moments)
        if not size:
            return np.full(len(owners), NEVER)
        # Moments by their rank, so that owner and moment fit into one integer.
        ranks = np.unique(np.concatenate([self.moments, moments]), return_inverse=True)[1]
        ranks = ranks.reshape(-1)
        keys = (self.owners << 32) + ranks[:size]
        asked = (owners.astype(np.int64) << 32) + ranks[size:]
        places = np.searchsorted(keys, asked, side="right") - 1
        is_own = (places >= 0) & (self.owners[places] == owners)
        return np.where(is_own, self.moments[places], NEVER)
