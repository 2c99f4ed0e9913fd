"""Reads from a target file the people, avatars and applications that cases of a deployment use."""

from understudy.cases.test_data import TestData, basic_credential
from understudy.verify.target import Target


def data_for_target(target: Target) -> TestData:
    """Returns the test data of a deployment, as far as its target file names it."""
    credentials, app, known = target.credentials, target.application, target.known
    secrets = {
        "TOKEN": credentials.access_token,
        "READ_TOKEN": credentials.read_only_token,
        "AUTH_TOKEN": credentials.auth_only_token,
        "EXPIRED_TOKEN": credentials.expired_token,
        "API_KEY": credentials.api_key,
        "OTHER_TOKEN": credentials.other_access_token,
        "PRIVATE_TOKEN": credentials.private_access_token,
        "DISABLED_TOKEN": credentials.disabled_access_token,
        "CLIENT_SECRET": app.client_secret,
        "PASSWORD": app.password,
        "CREDENTIAL": credentials.api_key,
        "BASIC_CREDENTIAL": basic_credential(app.username, app.password),
    }
    mock = TestData()
    return TestData(
        slug=known.slug or mock.slug,
        email=known.emails[0] if known.emails else mock.email,
        email_hash=known.own_hashes[0] if known.own_hashes else "",
        client_id=app.client_id or mock.client_id,
        denial=app.deny or "",
        approval=(app.approve or "") if target.permit.tokens else "",
        redirect_uri=app.redirect_uri or mock.redirect_uri,
        username=app.username or mock.username,
        second_hash=next(iter(known.own_hashes[1:]), ""),
        other_hash=next(iter(known.others_hashes), ""),
        private_slug=known.private_slug or "",
        disabled_slug=known.disabled_slug or "",
        secrets={name: text for name, text in secrets.items() if text is not None},
    )
