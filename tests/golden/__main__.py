"""Renews the snapshots: python -m tests.golden --update; without it, says which ones differ.

Read the difference before committing it: a snapshot says what a person should get.
"""

import sys

from tests.golden.make import files
from tests.golden.snapshot import FOLDER, snapshot


def main() -> int:
    update = "--update" in sys.argv[1:]
    made = {f"{name}.txt": snapshot(name, data) for name, data in files().items()}
    stale = {path.name for path in FOLDER.glob("*.txt")} - set(made)
    changed = [
        name
        for name, text in made.items()
        if not (FOLDER / name).exists() or (FOLDER / name).read_text(encoding="utf-8") != text
    ]
    for name in sorted([*changed, *stale]):
        print(name)
        if update and name in stale:
            (FOLDER / name).unlink()
        elif update:
            (FOLDER / name).write_text(made[name], encoding="utf-8")
    return 0 if update else bool(changed or stale)


if __name__ == "__main__":
    sys.exit(main())
