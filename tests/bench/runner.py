"""Runs commands of `bench`, each in a fork of one process that has loaded what all of them load:
to load it takes 1.3 s of processor time, and there are sixty commands.

Reads a line of JSON for each command, its module, options and the file for what it prints, and
answers with the exit status. A command that starts processes of its own starts them as always.
"""

import json
import os
import runpy
import sys
import traceback
from importlib import import_module

LOADED = ("faiss", "onnxruntime", "tokenizers", "bench.ours", "trivium.library.jobs")


def main() -> None:
    for name in LOADED:
        import_module(name)
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            os._exit(_run(**json.loads(line)))
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)


def _run(module: str, options: list[str], printed: str, complaints: str) -> int:
    for path, stream in ((printed, sys.stdout), (complaints, sys.stderr)):
        with open(path, "wb") as file:
            os.dup2(file.fileno(), stream.fileno())
    sys.argv = [module, *options]
    status = 0
    try:
        runpy.run_module(module, run_name="__main__", alter_sys=True)
    except SystemExit as ended:
        status = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
        if isinstance(ended.code, str):
            print(ended.code, file=sys.stderr)
    except BaseException:
        traceback.print_exc()
        status = 1
    sys.stdout.flush()
    sys.stderr.flush()
    return status


if __name__ == "__main__":
    main()
