"""The files in deploy/ match the program. The tests don't run them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from trivium.cli.main import COMMANDS
from trivium.cli.token import create_command
from trivium.config import names, variable
from trivium.http.routes.about import health
from trivium.http.serve import GRACE_SECONDS

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
    said += [re.findall(r"bin/trivium (\w+)", (DEPLOY / "trivium.service").read_text())]
    assert all(command[0] in COMMANDS for command in said)


def test_probes_ask_routes_that_are_there() -> None:
    there = {route.path for route in health.routes if hasattr(route, "path")}
    text = "".join(path.read_text() for path in DEPLOY.iterdir())
    asked = set(re.findall(r"path: (/\w+)", text)) | set(re.findall(r"8420(/\w+)'", text))
    assert {"/readyz", "/healthz"} == asked
    assert asked <= there


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


def test_compose_names_its_secrets_and_pins_its_images() -> None:
    text = (DEPLOY / "compose.yaml").read_text()
    asked = set(re.findall(r"\$\{(\w+)\}", text))
    given = set(re.findall(r"^(\w+)=", (DEPLOY / "example.env").read_text(), re.MULTILINE))
    assert asked == given
    services = yaml.safe_load(text)["services"]
    images = [one["image"] for one in services.values() if one["image"] != "trivium"]
    assert all(":" in image and not image.endswith(":latest") for image in images)
    assert services["api"]["ports"][0].startswith("127.0.0.1:")
    for name, how in services["api"]["depends_on"].items():  # what it needs when it starts
        assert how == {"condition": "service_healthy"}
        assert services[name]["healthcheck"]["test"]
