"""Mail on servers as they are: Gmail's archive, large accounts, odd names, tokens.

Answers as RFC 3501 (LIST, literals), RFC 4731 (ESEARCH), RFC 6154 (\\All) and Google's IMAP
extensions (X-GM-LABELS, XOAUTH2 with its second, empty answer) describe them.
"""

import ssl
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from ipaddress import IPv4Address
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from tests.sources.imap_server import Mail, serving_mail

from trivium.config import secrets
from trivium.core.errors import BadSetting, SourceNonsense, SourceRefused, SourceUnreachable
from trivium.ports import Failed, Put, SourceAsked, SyncSource
from trivium.sources.imap import KIND, Account, ImapSource, _uids_of
from trivium.sources.mbox import MboxSource


@pytest.fixture
def mail() -> Iterator[Mail]:
    made = Mail({"INBOX": {}})
    with serving_mail(made) as (_, port):
        made.port = port  # type: ignore[attr-defined]
        yield made


def source(mail: Mail, **more: str) -> ImapSource:
    told = {"password": "secret", **more}
    return ImapSource(Account("127.0.0.1", "ada", port=mail.port, encrypted=False, **told))  # type: ignore[attr-defined, arg-type]


def puts(opened: SyncSource) -> dict[str, Put]:
    return {one.id: one for one in opened.changes("") if isinstance(one, Put)}


def test_gmails_archive_is_read_once_with_labels(mail: Mail) -> None:
    mail.capabilities = "IMAP4rev1 X-GM-EXT-1"
    mail.folders |= {"[Gmail]/All Mail": {}, "Work": {}}
    mail.flags = {"[Gmail]/All Mail": "\\HasNoChildren \\All"}
    first = mail.deliver("[Gmail]/All Mail", "First")
    draft = mail.deliver("[Gmail]/All Mail", "A draft")
    mail.folders["Work"][first] = mail.folders["INBOX"][first] = b"Subject: x\r\n\r\nFirst"
    mail.labels[first] = r'"\\Inbox" "My \"work\"" Sch&APY-n'
    mail.drafts = {draft}
    found = puts(source(mail))
    assert list(found) == [f"%5BGmail%5D%2FAll Mail/7/{first}"]
    (put,) = found.values()
    assert put.metadata["labels"] == ("Inbox", 'My "work"', "Schön")


@pytest.mark.parametrize("capabilities", ["IMAP4rev1", "IMAP4rev1 ESEARCH"])
def test_the_numbers_of_a_large_account_come_in_parts(
    mail: Mail, monkeypatch: pytest.MonkeyPatch, capabilities: str
) -> None:
    monkeypatch.setattr("trivium.sources.imap._SEARCHED", 3)
    mail.capabilities = capabilities
    for n in range(8):
        mail.deliver("INBOX", f"Letter {n}")
    del mail.folders["INBOX"][4]
    assert sorted(puts(source(mail))) == [f"INBOX/7/{n}" for n in (1, 2, 3, 5, 6, 7, 8)]


def test_a_page_of_large_mails_comes_in_parts(mail: Mail, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("trivium.sources.imap._AT_ONCE", 10_000)
    for n in range(6):
        mail.deliver("INBOX", f"Letter {n}", "x" * 4_000)
    assert len(puts(source(mail))) == 6
    assert 8_000 < mail.largest < 12_000


@pytest.mark.parametrize("name", ['He said "no"', "back\\slash", "Tom & Jerry &- Co"])
def test_folders_may_have_odd_names(mail: Mail, name: str) -> None:
    mail.folders[name] = {}
    uid = mail.deliver(name, "Hello")
    assert any(id_.endswith(f"/7/{uid}") for id_ in puts(source(mail)))


def test_passwords_may_go_beyond_ascii(mail: Mail) -> None:
    mail.deliver("INBOX", "Hello")
    assert len(puts(source(mail, password="geheim ö"))) == 1
    with pytest.raises(SourceRefused):
        puts(source(mail, password="falsch ö"))


def test_a_token_takes_the_place_of_a_password(mail: Mail) -> None:
    mail.deliver("INBOX", "Hello")
    assert len(puts(source(mail, token="good"))) == 1
    with pytest.raises(SourceRefused, match="refuses ada") as refused:
        puts(source(mail, token="expired"))
    assert refused.value.fix == "Check the token."


def test_a_folder_and_a_mail_that_cannot_be_read_fail_alone(mail: Mail) -> None:
    mail.folders["Closed"] = {}
    mail.closed = {"Closed"}
    for n in range(3):
        mail.deliver("INBOX", f"Letter {n}")
    mail.broken = {2}
    changes = list(source(mail).changes(""))
    assert [one.id for one in changes if isinstance(one, Put)] == ["INBOX/7/1", "INBOX/7/3"]
    failed = {one.id: one.hides for one in changes if isinstance(one, Failed)}
    assert failed == {"Closed": "Closed/", "INBOX/7/2": ""}
    again = list(source(mail).again(["Closed", "INBOX/7/2"]))
    assert {one.id for one in again if isinstance(one, Failed)} == {"Closed", "INBOX/7/2"}
    listed = list(source(mail).ids())
    assert [one.hides for one in listed if isinstance(one, Failed)] == ["Closed/"]


def test_servers_may_say_the_number_after_the_mail(mail: Mail) -> None:
    mail.uid_last = True
    mail.deliver("INBOX", "Hello")
    assert list(puts(source(mail))) == ["INBOX/7/1"]


def test_a_server_cannot_list_more_than_it_has() -> None:
    assert _uids_of("1-3,9", 4) == {1, 2, 3, 9}
    with pytest.raises(SourceNonsense, match="more mails than there are"):
        _uids_of("1-4294967295", 4)


def test_options_of_an_account() -> None:
    asked = {"host": "h", "user": "u", "tls": "starttls"}
    made = KIND.make(SourceAsked(asked, {"token": "t"}))
    assert isinstance(made, ImapSource)
    account = made._account
    assert (account.port, account.encrypted, account.starttls, account.token) == (
        143, False, True, "t",
    )  # fmt: skip
    for port in ("0", "70000", "9" * 400, "-1", "x"):
        with pytest.raises(BadSetting, match="port"):
            KIND.make(SourceAsked({**asked, "port": port}, {"token": "t"}))


def test_a_command_prints_a_secret() -> None:
    say = f"command:{sys.executable} -c"
    assert secrets.secret("token", f"{say} \"print(' good ')\"") == "good"
    for what in ("exit(3)", "pass"):
        with pytest.raises(BadSetting, match="The command that should print the token failed"):
            secrets.secret("token", f'{say} "{what}"')
    with pytest.raises(BadSetting, match="failed"):
        secrets.secret("token", "command:/no/such/program")


def test_words_that_begin_with_from_do_not_split_a_mail(tmp_path: Path) -> None:
    box = tmp_path / "a.mbox"
    box.write_bytes(
        b"From ada@x.org Mon Jan  5 10:00:00 2026\n"
        b"From: ada@x.org\nSubject: One\n\nHello,\n\n"
        b"From now on we meet at noon.\nNote: bring tea.\n\n"
        b"From Bob, at 10:30\nthis came, too.\n\n"
        b"From - Tue Jan  6 10:00:00 2026\nFrom: bob@x.org\nSubject: Two\n\nYes.\n\n"
        b"From \nFrom: cy@x.org\nSubject: Three\n\nNo.\n"
    )
    found = [one.content() for one in puts(MboxSource(box)).values()]  # type: ignore[operator]
    subjects = [data.partition(b"Subject: ")[2].partition(b"\n")[0] for data in found]
    assert subjects == [b"One", b"Two", b"Three"]
    assert b"this came, too." in found[0]


@pytest.fixture
def certificate(tmp_path: Path) -> Path:
    """Of 127.0.0.1, signed by itself, with its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "127.0.0.1")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(
            x509.SubjectAlternativeName([x509.IPAddress(IPv4Address("127.0.0.1"))]), critical=False
        )
        .sign(key, hashes.SHA256())
    )
    plain = serialization.NoEncryption()
    form = serialization.PrivateFormat.PKCS8
    place = tmp_path / "certificate.pem"
    place.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, form, plain)
        + made.public_bytes(serialization.Encoding.PEM)
    )
    return place


def test_starttls(mail: Mail, certificate: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A password goes out only once the connection is encrypted, to a server that is trusted."""
    mail.deliver("INBOX", "Letter")
    account = Account("127.0.0.1", "ada", "secret", mail.port, False, starttls=True)  # type: ignore[attr-defined]
    with pytest.raises(SourceNonsense, match="as a mail server"):  # it offers no STARTTLS
        puts(ImapSource(account))
    mail.tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    mail.tls.load_cert_chain(certificate)
    with pytest.raises(SourceUnreachable, match="certificate"):
        puts(ImapSource(account))
    assert "LOGIN" not in dict(mail.heard)
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    assert puts(ImapSource(account)).keys() == {"INBOX/7/1"}
    assert dict(mail.heard)["LOGIN"], "in the clear"
