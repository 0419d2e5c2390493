"""People sign in through a real OpenID Connect provider: `oidc-provider-mock`, which is Authlib's
server with a form instead of passwords.

Around it `_Between` demands PKCE (RFC 7636, 4.6), as providers do, and sends what an attacker or a
broken provider would: the checks of OpenID Connect Core 1.0, 3.1.3.7, one by one.
"""

from __future__ import annotations

import hmac
import json
import threading
import warnings
from base64 import urlsafe_b64encode
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from hashlib import sha256
from html import unescape
from io import BytesIO
from pathlib import Path
from time import time
from typing import Any
from urllib.parse import parse_qs, parse_qsl, urlsplit

import httpx2
import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey, generate_private_key
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from starlette.testclient import TestClient
from tests.serving.shelf import SECRET, client, shelve
from werkzeug.serving import make_server

from trivium.config import Settings
from trivium.core.access import Right
from trivium.core.errors import BadSetting, SignInAway, SignInRefused, UnsafeServing
from trivium.http.asked import COOKIE
from trivium.http.serve import plan
from trivium.http.signin import Attempt, Grant, Provider, read_groups
from trivium.library import Library
from trivium.web.site import furnish

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")  # in the provider
HERE = "http://localhost:8420"
GROUPS = "masters = search, add : dm-only\nplayers = search"


def _key() -> RSAPrivateKey:
    return generate_private_key(65537, 2048)


def _encoded(data: bytes) -> bytes:
    return urlsafe_b64encode(data).rstrip(b"=")


def _shown(key: RSAPrivateKey, id_: str) -> dict[str, Any]:
    told: dict[str, Any] = json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(key.public_key()))
    return {**told, "kid": id_, "use": "sig"}


@dataclass
class _Between:
    """WSGI in front of the provider."""

    app: Any
    key: RSAPrivateKey
    kid: str = "first"
    shown: list[dict[str, Any]] = field(default_factory=list)
    claims: dict[str, Any] = field(default_factory=dict)  # of ID tokens, to replace; None: without
    sign: Callable[[dict[str, Any]], str] | None = None
    about: dict[str, Any] = field(default_factory=dict)  # of the provider's description
    person: dict[str, Any] = field(default_factory=dict)  # of what it says of a person
    challenges: dict[str, str] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)

    def __call__(self, environ: dict[str, Any], start: Any) -> Any:
        path = environ["PATH_INFO"]
        self.asked.append(path)
        if path == "/oauth2/token":
            body = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
            environ["wsgi.input"] = BytesIO(body)
            form = dict(parse_qsl(body.decode()))
            digest = sha256(form.get("code_verifier", "").encode()).digest()
            if _encoded(digest).decode() != self.challenges.get(form["code"]):
                start("400 BAD REQUEST", [("Content-Type", "application/json")])
                return [b'{"error": "invalid_grant", "error_description": "wrong verifier"}']
        said: list[Any] = []
        data = b"".join(self.app(environ, lambda *given: said.extend(given[:2])))
        headers = [(name, value) for name, value in said[1] if name.lower() != "content-length"]
        if path == "/oauth2/authorize":
            query = dict(parse_qsl(environ["QUERY_STRING"]))
            place = dict(headers).get("Location", "")
            for code in parse_qs(urlsplit(place).query).get("code", []):
                assert query["code_challenge_method"] == "S256"
                self.challenges[code] = query["code_challenge"]
        if path == "/jwks":
            data = json.dumps({"keys": self.shown}).encode()
        if path.endswith("openid-configuration"):
            data = json.dumps({**json.loads(data), **self.about}).encode()
        if path == "/userinfo":
            data = json.dumps({**json.loads(data), **self.person}).encode()
        if path == "/oauth2/token" and said[0].startswith("200"):
            data = json.dumps(self._forged(json.loads(data))).encode()
        start(said[0], headers)
        return [data]

    def _forged(self, told: dict[str, Any]) -> dict[str, Any]:
        """The provider's ID token with other claims, signed by us."""
        claims = jwt.decode(told["id_token"], options={"verify_signature": False})
        claims = {k: v for k, v in {**claims, **self.claims}.items() if v is not None}
        signed = jwt.encode(claims, self.key, "RS256", headers={"kid": self.kid})
        return {**told, "id_token": self.sign(claims) if self.sign else signed}


@contextmanager
def provided() -> Iterator[tuple[_Between, str]]:
    """A running provider and its address."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Authlib's about its own future
        from oidc_provider_mock import User, app
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AUTHLIB_INSECURE_TRANSPORT", "1")
        patch.setenv("TRIVIUM_SIGNIN_KEY", "a secret")
        users = [
            User(sub="anna", claims={"email": "anna@example.org", "groups": ["masters", "x"]}),
            User(sub="ben", claims={"email": "ben@example.org", "groups": ["players"]}),
            User(sub="eve", claims={"email": "eve@example.org", "groups": ["strangers"]}),
        ]
        made = app(user_claims=users)
        made.debug = False
        key = _key()
        between = _Between(made, key, shown=[_shown(key, "first")])
        web = make_server("localhost", 0, between, threaded=True)
        running = threading.Thread(target=web.serve_forever)
        running.start()
        yield between, f"http://localhost:{web.server_port}"
        web.shutdown()
        running.join()
        web.server_close()


@pytest.fixture(scope="module")
def server() -> Iterator[tuple[_Between, str]]:
    with provided() as server:
        yield server


@pytest.fixture
def between(server: tuple[_Between, str]) -> Iterator[_Between]:
    """As it was at the start of each test."""
    as_made = replace(server[0], shown=list(server[0].shown))
    yield server[0]
    for name in ("key", "kid", "shown", "sign"):
        setattr(server[0], name, getattr(as_made, name))
    for name in ("claims", "about", "person"):
        setattr(server[0], name, {})


@pytest.fixture
def settings(server: tuple[_Between, str]) -> Settings:
    return Settings(
        serve_seconds=240.0,
        signin_issuer=server[1],
        signin_client="trivium",
        signin_address=HERE,
        signin_groups=GROUPS,
    )


def _approved(address: str, person: str) -> dict[str, str]:
    """What the provider sends back with a person who chose to sign in."""
    answer = httpx2.post(address, data={"sub": person})
    assert answer.status_code == 302, answer.text
    return dict(parse_qsl(urlsplit(answer.headers["location"]).query))


def _person(provider: Provider, name: str = "anna") -> Any:
    attempt = Attempt()
    return provider.person(_approved(provider.address(attempt), name), attempt)


# --- at the page


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    with shelve(tmp_path / "library") as library:
        yield library


@pytest.fixture
def browser(library: Library, settings: Settings) -> Iterator[TestClient]:
    with client(library, "unused", settings=settings, furnish=furnish) as opened:
        del opened.headers["authorization"]
        opened.follow_redirects = False
        yield opened


def _sign_in(browser: TestClient, person: str, following: str = "/?q=crown") -> httpx2.Response:
    begun = browser.get("/login/start", params={"next": following})
    assert begun.status_code == 303
    answer: Any = browser.get("/login/done", params=_approved(begun.headers["location"], person))
    return answer


def test_signing_in_searching_and_out(
    browser: TestClient, library: Library, between: _Between
) -> None:
    assert browser.get("/").headers["location"] == "/login?next=%2F"
    assert "Sign in with localhost" in browser.get("/login").text
    done = _sign_in(browser, "anna")
    assert done.status_code == 200
    assert 'url=/?q=crown"' in done.text
    kept = [told for told in done.headers.get_list("set-cookie") if told.startswith(COOKIE)]
    assert "httponly" in kept[0].lower()
    assert "samesite=strict" in kept[0].lower()
    assert SECRET in browser.get(f"/?q={SECRET}").text
    (session,) = library.tokens.all()
    assert session.name == "anna@example.org"
    assert session.rights == {Right.SEARCH, Right.ADD}
    assert session.audiences == {"dm-only"}
    assert session.expires_at
    out = browser.post("/logout", headers={"Origin": HERE})
    assert library.tokens.all() == []
    place = unescape(out.text.partition("0;url=")[2].partition('"')[0])
    assert urlsplit(place).path == "/oauth2/end_session"
    asked = dict(parse_qsl(urlsplit(place).query))
    hint = jwt.decode(asked.pop("id_token_hint"), options={"verify_signature": False})
    assert hint["sub"] == "anna"
    assert asked == {"client_id": "trivium", "post_logout_redirect_uri": f"{HERE}/login"}
    assert httpx2.get(place, trust_env=False).status_code == 200, "the provider asks whether"
    browser.cookies.set(COOKIE, kept[0].partition("=")[2].partition(";")[0])
    assert browser.get("/").headers["location"].startswith("/login")


def test_groups_decide_what_people_see(browser: TestClient, library: Library) -> None:
    _sign_in(browser, "ben")
    assert SECRET not in browser.get("/?q=crown").text
    refused = _sign_in(browser, "eve")
    assert refused.status_code == 403
    assert "eve@example.org isn’t in a group" in refused.text.replace("&#39;", "’")
    assert [session.name for session in library.tokens.all()] == ["ben@example.org"]


def test_a_person_stays_the_same_and_the_owner_ends_sessions(
    browser: TestClient, library: Library
) -> None:
    _sign_in(browser, "ben")
    first = browser.cookies[COOKIE]
    browser.cookies.delete(COOKIE)
    _sign_in(browser, "ben")
    one, two = library.tokens.all()
    assert one.person == two.person != ""
    assert library.tokens.caller(first).id == library.tokens.caller(browser.cookies[COOKIE]).id
    for session in (one, two):
        library.tokens.revoke(session.id)
    assert browser.get("/").headers["location"].startswith("/login")


def test_an_expired_session_is_renewed_with_the_groups_of_now(
    browser: TestClient, library: Library, between: _Between
) -> None:
    """Without a question (`prompt=none`), if the provider still knows the person. A revoked session
    is not."""
    _sign_in(browser, "ben")
    (session,) = library.tokens.all()
    over = replace(session, expires_at="2026-01-01T00:00:00Z")
    library.backend.tokens.keep(over)
    again = browser.get("/?q=crown")
    assert again.headers["location"] == "/login/start?next=%2F%3Fq%3Dcrown&renew=1"
    sent = browser.get(again.headers["location"]).headers["location"]
    assert parse_qs(urlsplit(sent).query)["prompt"] == ["none"]
    refused = _approved(sent, "ben")
    assert refused["error"] == "login_required", "this provider keeps no sessions of its own"
    asked = browser.get("/login/done", params=refused)
    assert asked.headers["location"] == "/login?next=%2F%3Fq%3Dcrown"
    between.claims = {"groups": ["masters"]}
    knows = sent.replace("&prompt=none", "")  # as if it did
    done = browser.get("/login/done", params=_approved(knows, "ben"))
    assert 'url=/?q=crown"' in done.text
    now = [one for one in library.tokens.all() if not one.is_over()]
    assert [one.audiences for one in now] == [{"dm-only"}]
    library.tokens.revoke(now[0].id)
    assert browser.get("/").headers["location"].startswith("/login?")


# --- back-channel logout (OpenID Connect Back-Channel Logout 1.0)

_LOGOUT = {"http://schemas.openid.net/event/backchannel-logout": {}}


def _logout_token(between: _Between, issuer: str, **changed: Any) -> str:
    now = int(time())
    claims = {"iss": issuer, "aud": "trivium", "iat": now, "exp": now + 120, "jti": "1"}
    claims |= {"events": _LOGOUT, "sub": "ben", **changed}
    claims = {name: value for name, value in claims.items() if value is not None}
    return jwt.encode(claims, between.key, "RS256", headers={"kid": between.kid})


def test_the_provider_ends_sessions(
    browser: TestClient, library: Library, between: _Between, settings: Settings
) -> None:
    """By its own id of one (`sid`), or all of a person (`sub`)."""
    for person, sid in (("ben", "one"), ("ben", "two"), ("ben", None), ("anna", "three")):
        between.claims = {"sid": sid}
        _sign_in(browser, person)
        browser.cookies.clear()
    _, token = library.tokens.create(audiences=[], name="program")

    def end(**changed: Any) -> list[str]:
        sent = _logout_token(between, settings.signin_issuer, **changed)
        answer = browser.post("/login/ended", data={"logout_token": sent})
        assert (answer.status_code, answer.headers["cache-control"]) == (200, "no-store")
        return sorted(kept.name.partition("@")[0] for kept in library.tokens.all())

    assert end(sub=None, sid="unknown") == ["anna", "ben", "ben", "ben", "program"]
    assert end(sub=None, sid="one") == ["anna", "ben", "ben", "program"]
    assert end(sub="ben", sid="three") == ["anna", "ben", "program"], "of the one without an id"
    assert end() == ["anna", "program"]
    assert library.tokens.caller(token).name == "program"


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"iss": "https://evil.example"}, "issuer"),
        ({"aud": "another"}, "Audience"),
        ({"iat": None}, "iat"),
        ({"iat": 10**11}, "iat"),
        ({"exp": 1_000_000_000}, "expired"),
        ({"exp": None, "iat": 1_000_000_000}, "too old"),
        ({"jti": None}, "jti"),
        ({"events": None}, "no logout"),
        ({"events": {"other": {}}}, "no logout"),
        ({"events": {next(iter(_LOGOUT)): 1}}, "no logout"),
        ({"sub": None}, "neither"),
        ({"nonce": "1"}, "nonce"),
    ],
)
def test_logout_tokens_that_end_nothing(
    settings: Settings, between: _Between, changed: dict[str, Any], said: str
) -> None:
    with pytest.raises(SignInRefused, match=said):
        Provider(settings).ended(_logout_token(between, settings.signin_issuer, **changed))


def test_whoever_has_no_key_of_the_provider_ends_nothing(
    browser: TestClient, library: Library, between: _Between, settings: Settings
) -> None:
    _sign_in(browser, "ben")
    sent = _logout_token(replace(between, key=_key()), settings.signin_issuer)
    for forged in (sent, "nonsense", ""):
        answer = browser.post("/login/ended", data={"logout_token": forged})
        assert (answer.status_code, answer.json()["error"]) == (400, "invalid_request")
    assert len(library.tokens.all()) == 1


def test_a_token_that_someone_pasted_outlives_signing_out(
    browser: TestClient, library: Library
) -> None:
    _, token = library.tokens.create(audiences=[])
    browser.post("/login", data={"token": token}, headers={"Origin": HERE})
    browser.post("/logout", headers={"Origin": HERE})
    assert library.tokens.caller(token).name == ""


def test_an_answer_without_an_attempt_or_of_another_one(
    browser: TestClient, library: Library
) -> None:
    """An attacker's answer, which a victim's browser is led to: it would sign them in as the
    attacker."""
    theirs = _approved(browser.get("/login/start").headers["location"], "ben")
    browser.cookies.clear()
    assert browser.get("/login/done", params=theirs).status_code == 403
    browser.get("/login/start")
    assert browser.get("/login/done", params=theirs).status_code == 403
    assert library.tokens.all() == []


def test_nothing_leads_to_another_site(browser: TestClient) -> None:
    for following in ("//evil.example", "https://evil.example", "/\\evil.example"):
        assert 'url=/"' in _sign_in(browser, "ben", following).text
    begun = browser.get("/login/start", headers={"Host": "evil.example:8420"})
    assert begun.status_code == 403
    sent = parse_qs(urlsplit(browser.get("/login/start").headers["location"]).query)
    assert sent["redirect_uri"] == [f"{HERE}/login/done"]


def test_a_page_of_another_site_begins_nothing(browser: TestClient) -> None:
    foreign = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}
    begun = browser.get("/login/start", headers={**foreign, "Sec-Fetch-Dest": "document"})
    assert begun.headers["location"] == "/login"
    assert not browser.cookies


# --- the provider


def test_who_someone_is(settings: Settings, between: _Between) -> None:
    found = _person(Provider(settings))
    assert (found.name, found.grant) == (
        "anna@example.org",
        Grant(frozenset({Right.SEARCH, Right.ADD}), frozenset({"dm-only"})),
    )
    other = replace(settings, signin_client="another")
    assert _person(Provider(other)).id == found.id != _person(Provider(settings), "ben").id


def test_groups_that_only_userinfo_tells(settings: Settings, between: _Between) -> None:
    between.claims = {"groups": None}
    assert _person(Provider(settings)).grant.audiences == {"dm-only"}
    between.person = {"sub": "ben"}
    with pytest.raises(SignInRefused, match="someone else"):
        _person(Provider(settings))


def test_groups_in_a_nested_claim(settings: Settings, between: _Between) -> None:
    """As Keycloak sends roles: `realm_access.roles`."""
    between.claims = {"groups": None, "realm_access": {"roles": ["players"]}}
    nested = replace(settings, signin_claim="realm_access.roles")
    assert _person(Provider(nested)).grant == Grant(frozenset({Right.SEARCH}))


@pytest.mark.parametrize(
    ("claims", "said"),
    [
        ({"nonce": "another"}, "another attempt"),
        ({"nonce": None}, "another attempt"),
        ({"iss": "https://evil.example"}, "issuer"),
        ({"aud": "another"}, "Audience"),
        ({"aud": ["trivium", "another"]}, "another program"),
        ({"azp": "another"}, "another program"),
        ({"exp": 1_000_000_000}, "expired"),
        ({"exp": None}, "exp"),
        ({"iat": 10**11}, "iat"),
        ({"sub": None}, "sub"),
    ],
)
def test_claims_that_are_not_for_this_sign_in(
    settings: Settings, between: _Between, claims: dict[str, Any], said: str
) -> None:
    between.claims = claims
    with pytest.raises(SignInRefused, match=said):
        _person(Provider(settings))


def test_signatures_that_prove_nothing(settings: Settings, between: _Between) -> None:
    """None at all, and one made with the public key as a shared secret."""
    public = between.key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)

    def shared(claims: dict[str, Any]) -> str:  # by hand: PyJWT won't make one
        head = {"alg": "HS256", "kid": "first"}
        said = b".".join(_encoded(json.dumps(part).encode()) for part in (head, claims))
        return (said + b"." + _encoded(hmac.digest(public, said, "sha256"))).decode()

    for sign in (lambda claims: jwt.encode(claims, "", "none", headers={"kid": "first"}), shared):
        between.sign = sign
        with pytest.raises(SignInRefused, match="trusted"):
            _person(Provider(settings))


def test_keys_change_and_old_ones_end(settings: Settings, between: _Between) -> None:
    now = [0.0]
    provider = Provider(settings, now=lambda: now[0])
    _person(provider)
    old, new = between.key, _key()
    between.key, between.kid, between.shown = new, "second", [_shown(new, "second")]
    with pytest.raises(SignInRefused, match="doesn't have"):
        _person(provider)  # asked for the keys a moment ago
    now[0] = 60.0
    _person(provider)
    between.key, between.kid = old, "first"
    now[0] = 120.0
    with pytest.raises(SignInRefused, match="doesn't have"):
        _person(provider)


def test_unknown_keys_are_not_looked_for_all_the_time(
    settings: Settings, between: _Between
) -> None:
    provider = Provider(settings, now=lambda: 0.0)
    _person(provider)
    between.kid = "made up"
    between.asked.clear()
    for _ in range(3):
        with pytest.raises(SignInRefused):
            _person(provider)
    assert "/jwks" not in between.asked


def test_codes_of_other_attempts_and_refusals(settings: Settings, between: _Between) -> None:
    provider = Provider(settings)
    attempt = Attempt()
    answer = _approved(provider.address(attempt), "anna")
    stolen = Attempt()
    with pytest.raises(SignInRefused, match="wrong verifier"):  # PKCE
        provider.person({**answer, "state": stolen.part("state")}, stolen)
    for changed, said in (
        ({"state": ""}, "another attempt"),
        ({"iss": "https://evil.example"}, "another provider"),  # RFC 9207
        ({"error": "access_denied"}, "access_denied"),
        ({"code": ""}, "no code"),
    ):
        with pytest.raises(SignInRefused, match=said):
            provider.person({**answer, **changed}, attempt)


def test_a_provider_that_is_another_or_away(settings: Settings, between: _Between) -> None:
    between.about = {"issuer": "https://evil.example"}
    with pytest.raises(SignInAway, match=r"evil\.example"):
        Provider(settings).address(Attempt())
    with pytest.raises(SignInAway):
        Provider(replace(settings, signin_issuer="http://localhost:9")).address(Attempt())


def test_the_table_of_groups() -> None:
    found = read_groups("cn=staff,ou=x = search : hr, board; * = search\nroot = manage : *")
    assert found == {
        "cn=staff,ou=x": Grant(frozenset({Right.SEARCH}), frozenset({"hr", "board"})),
        "*": Grant(frozenset({Right.SEARCH})),
        "root": Grant(frozenset({Right.MANAGE}), None),
    }
    for wrong in ("staff", "staff = read", "= search", "staff = "):
        with pytest.raises(BadSetting, match=r"signin\.groups"):
            read_groups(wrong)


@pytest.mark.parametrize(
    "wrong",
    [
        {"signin_issuer": "http://login.example.org"},
        {"signin_address": "http://search.example.org"},
        {"signin_address": ""},
        {"signin_client": ""},
        {"signin_groups": ""},
    ],
)
def test_settings_that_cannot_work(settings: Settings, wrong: dict[str, str]) -> None:
    with pytest.raises(BadSetting):
        Provider(replace(settings, **wrong))  # type: ignore[arg-type]


def test_nobody_is_let_in_for_want_of_tokens(settings: Settings, tmp_path: Path) -> None:
    at = replace(settings, library=tmp_path / "library")
    assert not plan(at).open_to_all
    assert not plan(replace(at, serve_host="0.0.0.0")).open_to_all
    with pytest.raises(UnsafeServing):
        plan(replace(at, serve_host="0.0.0.0", signin_issuer=""))
