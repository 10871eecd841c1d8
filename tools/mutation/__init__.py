"""Mutation testing: would the tests notice a mistake? ``python -m tools.mutation``.

cosmic-ray changes one operator, number or keyword at a time, in a copy of the project, and runs the
tests. A change that no test notices is a survivor: `survivors.toml` lists each with the reason why
it stays, and the run fails if there is another one.
"""
