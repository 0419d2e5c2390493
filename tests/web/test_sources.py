"""The screen of sources: added, steered, verified; what failed is shown."""

from pathlib import Path

from starlette.testclient import TestClient
from tests.serving.shelf import client, shelve

from trivium.config import Settings
from trivium.library import Library
from trivium.sources import kinds
from trivium.web.site import furnish


def test_a_source_on_its_page(owner: TestClient, library: Library, tmp_path: Path) -> None:
    assert "No sources yet" in owner.get("/settings/sources").text
    tmp_path /= "vault"
    tmp_path.mkdir()
    (tmp_path / "lamp.md").write_text("A lamp burns.")
    (tmp_path / "broken.pdf").write_bytes(b"%PDF-1.4 <broken>")
    form = {"kind": "notes", "name": "vault", "option.path": str(tmp_path), "option.ignore": ""}
    shown = owner.post("/settings/sources", data=form).text
    assert "vault" in shown
    assert "It hasn&#39;t run yet." in shown or "Not run yet." in shown

    def steer(act: str) -> str:
        data = {"source": "vault", "act": act}
        return owner.post("/settings/sources/steer", data=data).text

    library.sync.run("vault")
    later = owner.get("/settings/sources").text
    assert "1 item, 1 failed" in later
    assert "1 added, 1 failed" in later
    assert "broken.pdf" in later
    assert "1 difference:" in steer("verify")
    assert "Its access works." in steer("check")
    (tmp_path / "broken.pdf").unlink()
    library.sync.run("vault")
    assert "Source and library are in step." in steer("verify")
    assert "Resume" in steer("pause")
    assert "Run now" in steer("resume")
    assert "No sources yet" in steer("remove")
    assert library.sync.all() == []
    wrong = owner.post("/settings/sources", data={"kind": "notes", "option.path": "/nowhere"})
    assert "There is no file or folder /nowhere" in wrong.text


def test_each_option_and_each_secret_has_a_field(owner: TestClient) -> None:
    shown = owner.get("/settings/sources").text
    for name in kinds.entries():
        kind = kinds.kind_of(name)
        form = shown.partition(f'aria-label="Add {name}"')[2].partition("</form>")[0]
        for option in kind.options:
            assert f'name="option.{option}"' in form, (name, option)
        for secret in kind.secrets:
            assert f'type="password" name="secret.{secret}"' in form, (name, secret)
    wrong = owner.post("/settings/sources", data={"kind": "slack", "option.colour": "red"})
    assert "slack has no option" in wrong.text


def test_a_source_is_checked_before_it_is_added(tmp_path: Path) -> None:
    told = {"kind": "imap", "option.host": "127.0.0.1", "option.user": "ada", "option.port": "9",
            "secret.password": "x"}  # fmt: skip
    settings = Settings(sync_addresses="127.0.0.1")
    with (
        shelve(tmp_path / "library", settings) as library,
        client(library, furnish=furnish, origins={"library": "a test"}) as owner,
    ):
        wrong = owner.post("/settings/sources", data=told)
        assert "connect to 127.0.0.1" in wrong.text
        assert library.sync.all() == []
