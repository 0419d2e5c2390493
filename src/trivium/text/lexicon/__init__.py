"""What words mean in each language: numbers and units (`quantities`), dates (`dates`)."""
