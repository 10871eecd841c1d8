"""Made from `koster.fetch._async` by ``make sync``: change that, not this."""
