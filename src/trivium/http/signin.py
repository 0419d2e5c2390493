"""Signing in through an OpenID Connect provider: authorization code with PKCE.

Finds the provider's addresses and keys, makes the address to send a browser to, and turns what
comes back into a person and their groups. Knows nothing of cookies, pages or the library.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
from base64 import urlsafe_b64encode
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from threading import Lock
from time import monotonic, time
from typing import TYPE_CHECKING, Any
from urllib.parse import quote_plus, urlencode, urlsplit

from trivium.config import Settings
from trivium.config.secrets import key
from trivium.core.access import Right
from trivium.core.errors import BadSetting, SignInAway, SignInRefused
from trivium.core.plugins import needs

if TYPE_CHECKING:
    import httpx2
    from jwt import PyJWKSet

DONE = "/login/done"  # where the provider sends people back to
ENDED = "/login/ended"  # where it says that it has ended a session
_LOGOUT = "http://schemas.openid.net/event/backchannel-logout"
_LOGOUT_SECONDS = 120  # the longest that a logout token should live, by its specification
# What a provider answers if a person would have to do something, which we asked it not to.
_NOT_SILENTLY = frozenset(
    f"{need}_required" for need in ("login", "interaction", "consent", "account_selection")
)
_ALL = "*"  # in `signin.groups`: whoever signs in; or every label
# Signed with a key that only the provider has. Never `none`, nor a secret that two sides share.
_ALGORITHMS = frozenset(
    f"{kind}{bits}" for kind in ("RS", "PS", "ES") for bits in (256, 384, 512)
) | {"EdDSA"}
_SECONDS = 10.0  # for a request to the provider
_LONGEST = 1 << 20  # bytes of an answer
_LEEWAY = 60  # seconds that two clocks may differ
_KEPT_SECONDS = 3600.0  # then the provider's addresses and keys are read again
_PAUSE = 10.0  # seconds between two looks for a key that we don't know: anyone may make one up
_AGAIN = "Sign in again."


@dataclass(frozen=True, slots=True)
class Grant:
    """What a group may see and do."""

    rights: frozenset[Right] = frozenset()
    audiences: frozenset[str] | None = frozenset()  # None: all labels

    def and_(self, other: Grant) -> Grant:
        both = None
        if self.audiences is not None and other.audiences is not None:
            both = self.audiences | other.audiences
        return Grant(self.rights | other.rights, both)


@dataclass(frozen=True, slots=True)
class Person:
    id: str  # the same at every sign-in, and of no other provider's person
    name: str
    grant: Grant
    session: str  # the provider's id for it, hashed; empty: it gave none
    id_token: str  # tells the provider who signs out


@dataclass(frozen=True, slots=True)
class Attempt:
    """One sign-in. The browser keeps its secret in a cookie; the provider sees only what is made of
    it, so that an answer to someone else's attempt is of no use here."""

    secret: str = field(default_factory=lambda: secrets.token_urlsafe(32))

    def part(self, name: str) -> str:
        """Its `state`, `nonce` or `verifier`; one doesn't tell the others."""
        return _encoded(hmac.digest(self.secret.encode(), name.encode(), "sha256"))

    @property
    def challenge(self) -> str:
        return _encoded(hashlib.sha256(self.part("verifier").encode()).digest())


def read_groups(text: str) -> dict[str, Grant]:
    """`signin.groups`: one line for each group, `GROUP = rights : labels`. Raises BadSetting."""
    grants: dict[str, Grant] = {}
    for line in filter(None, map(str.strip, text.replace(";", "\n").splitlines())):
        group, _, terms = line.rpartition(" = ")  # names in a directory contain `=` themselves
        rights, _, labels = terms.partition(":")
        try:
            allowed = frozenset(Right(right) for right in _listed(rights))
        except ValueError:
            allowed = frozenset()
        if not group.strip() or not allowed:
            raise BadSetting(
                f"`signin.groups` can't be read at {line[:80]!r}.",
                fix="Write `GROUP = search, add : label, label`, one line for each group."
                f" The rights are {', '.join(Right)}.",
            )
        named = frozenset(_listed(labels))
        grant = Grant(allowed, None if _ALL in named else named)
        grants[group.strip()] = grants.get(group.strip(), Grant()).and_(grant)
    return grants


class Provider:
    """The provider that the settings name. Threads may share it."""

    def __init__(self, settings: Settings, now: Callable[[], float] = monotonic) -> None:
        """Raises BadSetting for settings that can't work, ExtraMissing."""
        with needs("signin", "Signing in through a provider needs the package PyJWT."):
            import jwt  # noqa: F401
        s = settings
        for name, value in (("issuer", s.signin_issuer), ("address", s.signin_address)):
            parts = urlsplit(value)
            local = parts.hostname in ("localhost", "127.0.0.1", "::1")
            if parts.scheme != "https" and not (local and parts.scheme == "http"):
                raise BadSetting(
                    f"`signin.{name}` can't be {value!r}.",
                    fix="Give an address that begins with https://.",
                )
        if not s.signin_client:
            raise BadSetting(
                "`signin.client` is missing.", fix="Give the client id that the provider gave you."
            )
        self._groups = read_groups(s.signin_groups)
        if not self._groups:
            raise BadSetting(
                "`signin.groups` is empty, so nobody could sign in.",
                fix="Write `GROUP = search : label`, one line for each group.",
            )
        self.name = s.signin_name or urlsplit(s.signin_issuer).hostname or ""
        self._issuer, self._client, self._scope = s.signin_issuer, s.signin_client, s.signin_scope
        self._claim = s.signin_claim.split(".")
        self._redirect = s.signin_address.rstrip("/") + DONE
        self._secret = key("signin", s.signin_key_file)
        self._now = now
        self._reading = Lock()
        self._found: tuple[float, dict[str, Any]] | None = None
        self._keys: tuple[float, PyJWKSet] | None = None

    def address(self, attempt: Attempt, *, silently: bool = False) -> str:
        """Where to send the browser. `silently`: to come back at once, signed in or not. Raises
        SignInAway."""
        params = {
            "response_type": "code",
            "client_id": self._client,
            "redirect_uri": self._redirect,
            "scope": self._scope,
            "state": attempt.part("state"),
            "nonce": attempt.part("nonce"),
            "code_challenge": attempt.challenge,
            "code_challenge_method": "S256",
        } | ({"prompt": "none"} if silently else {})
        base = self._endpoint("authorization_endpoint")
        return f"{base}{'&' if '?' in base else '?'}{urlencode(params)}"

    def farewell(self, id_token: str = "") -> str:
        """Where to send a browser so that the provider ends its own session (RP-Initiated Logout);
        empty: it doesn't offer that, or is away."""
        with suppress(SignInAway):
            if isinstance(place := self._configuration().get("end_session_endpoint"), str):
                back = self._redirect.removesuffix(DONE) + "/login"
                params = {"client_id": self._client, "post_logout_redirect_uri": back}
                if id_token:
                    params["id_token_hint"] = id_token
                return f"{place}{'&' if '?' in place else '?'}{urlencode(params)}"
        return ""

    def person(self, answer: Mapping[str, str], attempt: Attempt) -> Person:
        """Who came back from the provider. Raises SignInRefused, SignInAway."""
        if not hmac.compare_digest(
            answer.get("state", "").encode(), attempt.part("state").encode()
        ):
            raise SignInRefused("This answer belongs to another attempt to sign in.", fix=_AGAIN)
        if answer.get("iss", self._issuer) != self._issuer:
            raise SignInRefused("The answer comes from another provider.", fix=_AGAIN)
        if "error" in answer:
            message = answer.get("error_description") or answer["error"]
            raise SignInRefused(f"The provider refused: {message[:200]}", fix=_AGAIN)
        if not answer.get("code"):
            raise SignInRefused("The provider sent no code.", fix=_AGAIN)
        tokens = self._exchanged(answer["code"], attempt)
        claims = self._checked(tokens.get("id_token"), attempt)
        return self._person(claims, tokens.get("access_token"), tokens["id_token"])

    @staticmethod
    def needs_person(answer: Mapping[str, str]) -> bool:
        """Whether the provider couldn't sign someone in silently."""
        return answer.get("error") in _NOT_SILENTLY

    def ended(self, logout_token: str) -> tuple[str, str]:
        """The person and session that the provider has ended, one of them may be empty (OpenID
        Connect Back-Channel Logout 1.0, 2.6). Raises SignInRefused, SignInAway."""
        claims = self._claims(logout_token, "logout token", ("iat", "jti"))
        events, about = claims.get("events"), [claims.get(claim) for claim in ("sub", "sid")]
        if not isinstance(events, dict) or not isinstance(events.get(_LOGOUT), dict):
            raise SignInRefused("The logout token reports no logout.")
        if "nonce" in claims:  # then it is an ID token
            raise SignInRefused("The logout token has a nonce.")
        if "exp" not in claims and time() - claims["iat"] > _LOGOUT_SECONDS + _LEEWAY:
            raise SignInRefused("The logout token is too old.")
        if not any(isinstance(id_, str) and id_ for id_ in about):
            raise SignInRefused("The logout token names neither a person nor a session.")
        return self._id(about[0]), self._id(about[1], "sid\n")

    def _id(self, value: object, kind: str = "") -> str:
        """The same at every sign-in, and of no other provider."""
        unique = f"{self._issuer}\n{kind}{value}"
        return hashlib.sha256(unique.encode()).hexdigest()[:24] if value else ""

    def _exchanged(self, code: str, attempt: Attempt) -> dict[str, Any]:
        """Tokens for a code."""
        body = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": self._redirect,
            "code_verifier": attempt.part("verifier"),
        }
        login = None
        ways = self._configuration().get("token_endpoint_auth_methods_supported")
        if self._secret and "client_secret_basic" in (ways or ["client_secret_basic"]):
            login = (quote_plus(self._client), quote_plus(self._secret))
        else:
            body["client_id"] = self._client
            if self._secret:
                body["client_secret"] = self._secret
        status, answer = self._asked(
            "POST", self._endpoint("token_endpoint"), data=body, auth=login
        )
        if 400 <= status < 500:
            message = str(answer.get("error_description") or answer.get("error") or status)
            raise SignInRefused(f"The provider refused the code: {message[:200]}", fix=_AGAIN)
        return self._fine(status, answer)

    def _checked(self, token: object, attempt: Attempt) -> dict[str, Any]:
        """The claims of an ID token that is for us, now, and for this attempt."""
        if not isinstance(token, str):
            raise SignInRefused("The provider sent no ID token.", fix=_AGAIN)
        claims = self._claims(token, "ID token", ("exp", "iat", "sub"))
        if not hmac.compare_digest(str(claims.get("nonce", "")), attempt.part("nonce")):
            raise SignInRefused("The ID token belongs to another attempt to sign in.", fix=_AGAIN)
        audience = claims["aud"]
        several = isinstance(audience, list) and len(audience) > 1
        if claims.get("azp", None if several else self._client) != self._client:
            raise SignInRefused("The ID token was made for another program.", fix=_AGAIN)
        return claims

    def _claims(self, token: str, token_name: str, required: tuple[str, ...]) -> dict[str, Any]:
        """Of a token that the provider has made for us and that hasn't expired."""
        import jwt

        try:
            header = jwt.get_unverified_header(token)
            claims: dict[str, Any] = jwt.decode(
                token,
                self._key(header.get("kid")),
                algorithms=sorted(_ALGORITHMS),
                audience=self._client,
                issuer=self._issuer,
                leeway=_LEEWAY,
                options={"require": [*required, "aud", "iss"]},
            )
        except jwt.PyJWTError as reason:
            message = f"The {token_name} can't be trusted: {reason}."
            raise SignInRefused(message, fix=_AGAIN) from reason
        return claims

    def _person(self, claims: Mapping[str, Any], access_token: object, id_token: str) -> Person:
        about, groups = dict(claims), self._groups_in(claims)
        place = self._configuration().get("userinfo_endpoint")
        if groups is None and place and isinstance(access_token, str):
            bearer = {"Authorization": f"Bearer {access_token}"}
            fields = self._fine(*self._asked("GET", place, headers=bearer))
            if fields.get("sub") != claims["sub"]:
                raise SignInRefused("The provider described someone else.", fix=_AGAIN)
            about, groups = {**fields, **claims}, self._groups_in(fields)
        names = (about.get(claim) for claim in ("email", "preferred_username", "name", "sub"))
        name = next(str(text) for text in names if text)[:200]
        grant = self._groups.get(_ALL, Grant())
        for group in groups or ():
            grant = grant.and_(self._groups.get(group, Grant()))
        if not grant.rights:
            raise SignInRefused(
                f"{name} isn't in a group that may use this library.",
                fix="Ask the person who runs this server to add one of your groups to"
                " `signin.groups`.",
                on_page="Ask the person who runs this server to let your group in.",
            )
        session = self._id(claims.get("sid"), "sid\n")
        return Person(self._id(claims["sub"]), name, grant, session, id_token)

    def _groups_in(self, claims: Mapping[str, Any]) -> list[str] | None:
        """None: the claims don't say."""
        value: Any = claims
        for part in self._claim:
            value = value.get(part) if isinstance(value, Mapping) else None
        if isinstance(value, str):
            return [value]
        return (
            [group for group in value if isinstance(group, str)]
            if isinstance(value, list)
            else None
        )

    # --- what the provider says of itself

    def _configuration(self) -> dict[str, Any]:
        with self._reading:
            if self._found is None or self._now() - self._found[0] > _KEPT_SECONDS:
                place = self._issuer.rstrip("/") + "/.well-known/openid-configuration"
                fields = self._fine(*self._asked("GET", place))
                if fields.get("issuer") != self._issuer:
                    raise SignInAway(
                        f"The provider calls itself {str(fields.get('issuer'))[:200]!r}, but"
                        f" `signin.issuer` is {self._issuer!r}.",
                        fix="Correct `signin.issuer`.",
                    )
                self._found = (self._now(), fields)
            return self._found[1]

    def _endpoint(self, name: str) -> str:
        address = self._configuration().get(name)
        if not isinstance(address, str):
            raise SignInAway(f"The provider names no {name}.", fix="Correct `signin.issuer`.")
        return address

    def _key(self, id_: object) -> Any:
        """The provider's key with this id. Looks again for one that we don't know: providers
        change their keys, and those they no longer show are no longer trusted."""
        import jwt

        place = self._endpoint("jwks_uri")
        with self._reading:
            age = self._now() - self._keys[0] if self._keys else _KEPT_SECONDS + 1
            has_key = self._keys is not None and any(k.key_id == id_ for k in self._keys[1].keys)
            if self._keys is None or age > _KEPT_SECONDS or (not has_key and age > _PAUSE):
                fields = self._fine(*self._asked("GET", place))
                self._keys = (self._now(), jwt.PyJWKSet.from_dict(fields))
            keys = [k for k in self._keys[1].keys if k.public_key_use in (None, "sig")]
        if id_ is None and len(keys) == 1:
            return keys[0]
        match = next((k for k in keys if id_ is not None and k.key_id == id_), None)
        if match is None:
            raise jwt.InvalidKeyError("it was signed with a key that the provider doesn't have")
        return match

    def _asked(self, method: str, place: str, **request: Any) -> tuple[int, dict[str, Any]]:
        """A status and JSON. Follows no redirect: secrets go to the provider alone."""
        import httpx2

        try:
            with _client() as client, client.stream(method, place, **request) as response:
                data = b""
                for part in response.iter_bytes():
                    data += part
                    if len(data) > _LONGEST:
                        raise SignInAway("The provider's answer is too long.")
            answer = json.loads(data)
        except (httpx2.HTTPError, httpx2.InvalidURL) as reason:
            raise SignInAway(f"Couldn't reach the sign-in provider: {reason}.") from reason
        except (ValueError, RecursionError):
            answer = {}
        return response.status_code, answer if isinstance(answer, dict) else {}

    @staticmethod
    def _fine(status: int, answer: dict[str, Any]) -> dict[str, Any]:
        if status != 200:
            raise SignInAway(f"The sign-in provider answered with status {status}.")
        return answer


def _client() -> httpx2.Client:
    import httpx2

    return httpx2.Client(timeout=_SECONDS, follow_redirects=False)


def _listed(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def _encoded(data: bytes) -> str:
    return urlsafe_b64encode(data).rstrip(b"=").decode()
