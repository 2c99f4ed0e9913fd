"""Target files are read strictly."""

import pytest

from understudy.errors import StartupError
from understudy.verify.target import expect_sendable, key_of_variable, load_target

GOOD = """
base_url = "https://staging.example/v3"
[credentials]
access_token = "env:STAGING_TOKEN"
[known]
emails = ["Mia@example.com "]
"""


@pytest.fixture
def load(tmp_path):
    def load(text, **environment):
        path = tmp_path / "target.toml"
        path.write_text(text)
        return load_target(path, environment)

    return load


def test_a_value_may_come_from_the_environment(load):
    target = load(GOOD, STAGING_TOKEN="secret")
    assert target.credentials.access_token == "secret"
    assert target.known.own_hashes[0].startswith("99857fe1")
    assert target.secrets()["secret"] == "STAGING_TOKEN"  # the user's own variable


def test_a_variable_of_ours_is_explained_by_the_key_whose_value_it_replaces(load):
    target = load(GOOD + '[application]\nclient_secret = "s"\n', STAGING_TOKEN="secret")
    names = {name: key_of_variable(name) for name in target.secrets().values()}
    assert names["APP_CLIENT_SECRET"] == "[application] client_secret"
    assert names["STAGING_TOKEN"] == ""  # nobody needs to be told of their own
    assert key_of_variable("OWNER_TOKEN") == "[credentials] access_token"
    assert key_of_variable("OTHER_APP_PASSWORD") == "[other_application] password"


def test_the_end_of_the_line_that_a_value_was_read_from_is_no_part_of_it(load):
    assert load(GOOD, STAGING_TOKEN="secret\r\n").credentials.access_token == "secret"


@pytest.mark.parametrize("token", ["a b", "sécret", "a\nb", "\u200bsecret"])
def test_a_token_that_no_header_carries_is_refused_and_not_shown(load, token):
    target = load(GOOD, STAGING_TOKEN=token)
    with pytest.raises(StartupError, match=r"\[credentials\] access_token holds") as refused:
        expect_sendable(target, "target.toml")
    assert token not in str(refused.value)


@pytest.mark.parametrize("key", ["Token abc", "mia:two words"])
def test_a_credential_of_another_service_may_have_several_words(load, key):
    target = load(f'document = "beds.yaml"{GOOD}', STAGING_TOKEN=key)
    expect_sendable(target, "target.toml")


def test_a_byte_order_mark_is_no_part_of_the_file(load):
    assert load('\ufeffbase_url = "https://a.example/v3"').base_url == "https://a.example/v3"


def test_another_machine_is_only_looked_at_unless_the_file_says_more(load):
    assert load('base_url = "https://staging.example/v3"').writes == "observe"
    assert load('base_url = "http://127.0.0.1:8080/v3"').writes == "own"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("base_url", "is not valid TOML"),
        pytest.param("a = " + "[" * 5000, "is not valid TOML", id="5,000 levels"),
        pytest.param("a = " + "9" * 5000, "is not valid TOML", id="5,000 digits"),
        ("base_url = {a = 1}", "base_url = .* must be a text"),
        (r'document = "a\u0000b"', "'document' contains a NUL character; remove it"),
        ('base_url = "http://a:99999/v3"', "is not a URL"),
        ('base_ulr = "http://a"', "did you mean 'base_url'"),
        ('base_url = "http://a"\n[permit]\nupload = true', "did you mean 'uploads'"),
        (
            'base_url = "http://a"\n[permit]\nuploads = "yes"',
            r'\[permit\] uploads = "yes" must be ',
        ),
        (
            'base_url = "http://a"\n[known]\nemails = [true]',
            r"\[known\] emails = \[true\] must be a list of texts",
        ),
        (
            'base_url = "http://a"\nmode = "all"',
            'mode = "all" is not a mode; write observe, own, full',
        ),
        (
            'base_url = "http://a"\n[credentials]\naccess_token = 17',
            r"\] access_token must be a text",
        ),
        ('base_url = "http://a"\n"a\\nb" = 1', r"there is no key 'a\\nb'"),
        pytest.param(f'base_url = ["{"a" * 900}"]', r'base_url = \["a{198} must be a', id="long"),
        ('base_url = "staging"', "is not a URL"),
        ('base_url = "http://[::1/v3"', "is not a URL"),
        ('base_url = "https:///v3"', "is not a URL"),
        ('base_url = "https://ada:secret@a/v3"', "base_url has a user name"),
        ('base_url = "https://a/v3"\nauth_url = "https://a/?b=c"', "auth_url has a user name"),
        (
            'base_url = "http://a"\n[budget]\ntoken = -1',
            r"\[budget\] token = -1 must be a whole number, 0 or more",
        ),
        (
            'base_url = "http://a"\n[permit]\nmax_tokens = -1',
            "max_tokens = -1 must be a whole number, 0 or more",
        ),
        ("", "base_url is missing; `understudy verify --template` shows every key"),
        (GOOD, "the environment variable STAGING_TOKEN is not set"),
    ],
)
def test_what_is_wrong_is_refused_with_its_remedy(load, text, message):
    with pytest.raises(StartupError, match=message):
        load(text)
