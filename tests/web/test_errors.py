"""Errors on the page say in sentences what the reader can do."""

import pytest
from starlette.testclient import TestClient

from trivium.core.advice import ON_PAGE
from trivium.core.errors import DocumentNotFound, EvaluationNotFound, RequestInvalid


@pytest.mark.parametrize(
    ("address", "kind"),
    [
        ("/documents/999", DocumentNotFound),
        ("/evaluate/nothing", EvaluationNotFound),
        ("/documents/x", RequestInvalid),
    ],
)
def test_a_page_says_what_to_do_on_it(
    owner: TestClient, address: str, kind: type[RequestInvalid]
) -> None:
    answer = owner.get(address)
    assert answer.status_code in (404, 422)
    assert ON_PAGE[kind] in answer.text
    assert 'href="/documents"' in answer.text, "the way on that it names is there"
    assert kind.fix not in answer.text


def test_neither_a_program_nor_a_script_is_told_a_command(owner: TestClient) -> None:
    """Who asks over HTTP may sit at another machine. A script shows the problem to a person."""
    gone = "/v1/documents/999"
    assert owner.get(gone).json()["fix"] == ON_PAGE[DocumentNotFound]
    shown = owner.get(gone, headers={"X-Part": "alert"}).json()
    assert shown["fix"] == ON_PAGE[DocumentNotFound]
    assert shown["code"] == "document.not_found"


def test_a_wrong_address_is_told_as_one(owner: TestClient) -> None:
    text = owner.get("/?q=crown&n=many").text
    assert "The address has <code>n=many</code>." in text
    assert "`" not in text.partition('role="alert"')[2].partition("</div>")[0]
