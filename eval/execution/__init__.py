"""Execution of a run: plan, cells, worker processes, Dask, the store and the record of a run."""
