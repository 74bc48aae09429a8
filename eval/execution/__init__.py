"""Execution of a run: plan, cells, worker processes, Dask, store and run record."""
