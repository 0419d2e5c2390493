"""A package, so that its tests share one browser and its end closes it."""
