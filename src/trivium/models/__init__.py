"""Adapters to models: what turns text into vectors. Nothing here knows of stores or documents."""
