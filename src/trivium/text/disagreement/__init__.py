"""Whether two sentences may disagree, by rules. Pure; knows nothing of stores."""
