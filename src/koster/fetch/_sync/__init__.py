"""Made from `koster.fetch._async` by ``make generate``: change that, not this."""
