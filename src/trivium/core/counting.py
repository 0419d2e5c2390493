"""A number with its noun, as people write it: 1 passage, 2,000 passages."""


def counted(number: int, thing: str) -> str:
    plural = "" if number == 1 else "es" if thing.endswith(("ch", "x")) else "s"
    return f"{number:,} {thing}{plural}"
