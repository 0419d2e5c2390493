"""From a query to explained results. `run.py` is the recipe; knows nothing of any one store."""
