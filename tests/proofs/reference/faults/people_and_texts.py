"""Faults in how profiles are kept, found and shown."""

from threading import Lock

from tests.proofs.reference import bearer, bodies
from tests.proofs.reference.faults.fault import in_state, in_view, pause
from tests.proofs.reference.people import APPLICATIONS
from tests.proofs.reference.profiles import EDITABLE, full, public
from tests.proofs.reference.records import ApiKey, Scope
from tests.proofs.reference.refusals import refuse_missing
from tests.proofs.reference.service import service
from tests.proofs.reference.state import State

PARTIAL = "profile-patch-partial"
SEVEN = "profile-patch-seven-fields"


@in_state(PARTIAL, SEVEN)
class OfTwoUpdatesOneIsLost(State):
    """The whole profile is read, changed and written back, without a lock."""

    def edit(self, user_id, texts, now):
        before = self.shown(user_id).account.texts
        pause()
        return super().edit(user_id, {**before, **texts}, now)


@in_state("me-needs-oauth-token", SEVEN, PARTIAL)
class TheCallerIsKeptInAGlobal(State):
    """Who calls stands in a variable of the process, which the next request overwrites."""

    def edit(self, user_id, texts, now):
        self.__dict__["caller"] = user_id
        pause()
        return super().edit(self.__dict__["caller"], texts, now)


@in_state(PARTIAL, SEVEN)
class AnUpdateReplacesAllTexts(State):
    """The model of the form has a default for each field."""

    def edit(self, user_id, texts, now):
        return super().edit(user_id, {**dict.fromkeys(EDITABLE, ""), **texts}, now)


@in_state("profile-patch-empty-unsets")
class EmptyTextsAreSkipped(State):
    """``if value`` where ``is not None`` was meant."""

    def edit(self, user_id, texts, now):
        return super().edit(user_id, {n: t for n, t in texts.items() if t}, now)


@in_state("me-needs-oauth-token")
class AnUpdateOfOneChangesAll(State):
    """The ``WHERE`` was forgotten."""

    def edit(self, user_id, texts, now):
        for account in list(self._accounts.values()):
            super().edit(account.user_id, texts, now)
        return self.shown(user_id)


@in_view("profiles.edit", SEVEN)
def an_update_that_changes_nothing_fails():
    """No row was affected, and so there was no such profile."""
    token = bearer.required(Scope.MANAGE)
    texts = bodies.strings(EDITABLE)
    before = service().state.shown(token.user_id).account.texts
    if texts and all(before[name] == text for name, text in texts.items()):
        refuse_missing("There is no such profile.")
    return dict(full(service().state.edit(token.user_id, texts, service().clock())))


@in_state(PARTIAL, SEVEN)
class LookupsAreCachedByTheirIdentifier(State):
    """An update drops what was cached by the slug, and forgets the hashes."""

    def __init__(self, accounts, avatars, selected):
        super().__init__(accounts, avatars, selected)
        self._cache = {}

    def named(self, identifier):
        if identifier not in self._cache:
            self._cache[identifier] = super().named(identifier)
        return self._cache[identifier]

    def edit(self, user_id, texts, now):
        self._cache.pop(self.shown(user_id).account.slug, None)
        return super().edit(user_id, texts, now)


@in_state("profile-by-hash-or-slug", "profile-unknown-404")
class ABeginningOfTheSlugIsEnough(State):
    """``LIKE slug%`` where ``=`` was meant."""

    def named(self, identifier):
        for account in self._accounts.values():
            if account.slug.startswith(identifier):
                return self.shown(account.user_id)
        return super().named(identifier)


@in_state("profile-by-hash-or-slug", "profile-unknown-404")
class ABeginningOfTheHashIsEnough(State):
    """The index holds half of the hash."""

    def named(self, identifier):
        for account in self._accounts.values():
            if any(h[:32] == identifier[:32] for h in account.hashes):
                return self.shown(account.user_id)
        return super().named(identifier)


@in_state("associated-email")
class AnEmailIsAssociatedWithEverybody(State):
    """Whether the e-mail is known is asked, not whose it is."""

    def owns_email(self, _user_id, email_hash):
        return any(email_hash in account.hashes for account in self._accounts.values())


@in_view("profiles.lookup", "verified-accounts-at-most-four")
def the_public_sees_all_accounts_by_hash(identifier):
    """The limit stands in the branch for slugs."""
    caller = bearer.optional()
    shown = service().state.named(identifier)
    if shown is None or shown.account.is_private:
        refuse_missing("There is no such profile.")
    if caller:
        return dict(full(shown))
    body = dict(public(shown, service().addresses))
    if identifier != shown.account.slug:
        accounts = shown.account.verified_accounts
        body["verified_accounts"] = [each for each in accounts if not each["is_hidden"]]
    return body


SEEN = Lock()


def _first_seen(key, make):
    """Returns what was made for a key the first time, in this reference."""
    with SEEN:
        cache = service().limits.__dict__.setdefault("seen", {})
        return cache.setdefault(key, make())


@in_view("profiles.own", "own-profile-is-full", "bearer-header", "profile-hash-is-primary", PARTIAL)
def the_own_profile_is_cached_without_its_owner():
    """The cache's key is the path."""
    token = bearer.required(Scope.READ)
    return _first_seen("own", lambda: dict(full(service().state.shown(token.user_id))))


@in_view("profiles.lookup", "authenticated-only-fields", PARTIAL, SEVEN)
def a_lookup_is_cached_without_its_credentials(identifier):
    """The cache's key is the path; the answer of the first who asked is everybody's."""
    caller = bearer.optional()
    shown = service().state.named(identifier)
    if shown is None or shown.account.is_private:
        refuse_missing("There is no such profile.")
    body = dict(full(shown) if caller else public(shown, service().addresses))
    return _first_seen(identifier, lambda: body)


@in_view("profiles.own", "me-needs-oauth-token")
def an_api_key_stands_for_its_owner():
    """An application has an owner, so the key does, too."""
    found = bearer.credential()
    if isinstance(found, ApiKey):
        owner = next(app.owner for app in APPLICATIONS if app.client_id == found.client_id)
        return dict(full(service().state.shown(owner)))
    return dict(full(service().state.shown(bearer.required(Scope.READ).user_id)))
