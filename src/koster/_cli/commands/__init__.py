"""The commands of `koster`: one module each, with a function of its name."""
