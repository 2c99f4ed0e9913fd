"""A replica joins a fleet that it fits into, and says in one line why it cannot join another."""

import shutil
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
import trustme
from tests.mock.admin.conftest import Driver, Time
from tests.store_server import StoreServer, store_server

from understudy.errors import StartupError
from understudy.fleet import connection, shared_store
from understudy.fleet.connection import SCHEMA, StoreRefusal, described
from understudy.mock.app import Mock
from understudy.mock.settings import Settings
from understudy.openapi.bundled import fixtures_directory
from understudy.store_address import AUTHORITY_VARIABLE, PASSWORD_VARIABLE, store_address

PAGE = Path(__file__).parents[2] / "docs/how-to/fleet.md"


def refusal(settings: Settings) -> str:
    with pytest.raises(StartupError) as refused:
        Mock(settings)
    text = str(refused.value)
    assert "\n" not in text
    return text


@pytest.fixture
def secured(tmp_path: Path) -> Iterator[StoreServer]:
    """A server of which every client has to name a user and a password."""
    with store_server(tmp_path, "--requirepass", "every-one") as started:
        yield started


def served(settings: Settings) -> int:
    """Returns the status of a lookup at a mock with these settings."""
    driver = Driver(settings, Time())
    status = driver.get("/v3/profiles/ada").status_code
    driver.end_store()
    driver.close()
    return status


def test_a_store_that_is_not_there_is_named() -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    text = refusal(Settings(state=f"valkey://:secret@127.0.0.1:{port}/0"))
    assert f"valkey://127.0.0.1:{port}/0 does not respond: Connection refused." in text
    assert "secret" not in text


def test_a_wrong_password_is_said_and_not_shown(secured: StoreServer) -> None:
    text = refusal(Settings(state=secured.url()))
    assert (
        "refuses: NOAUTH Authentication required. It requires a password: put it into the URL"
        in text
    )
    text = refusal(Settings(state=secured.url(login=":wrong-one@")))
    assert "refuses: WRONGPASS invalid username-password pair" in text
    assert ". Mend the user or the password in the URL, or UNDERSTUDY_STATE_PASSWORD." in text
    assert "wrong-one" not in text


def test_the_password_may_be_in_the_environment(
    secured: StoreServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(PASSWORD_VARIABLE, "every-one")
    assert served(Settings(state=secured.url())) == 200


def test_a_user_needs_only_the_rights_of_the_example(server: StoreServer) -> None:
    server.send("FLUSHALL")
    (shown,) = (line for line in PAGE.read_text().splitlines() if line.startswith("ACL SETUSER"))
    server.send(*shown.split())
    assert served(Settings(state=server.url(login="understudy:a-password@"))) == 200
    server.send("FLUSHALL")
    server.send("ACL", "SETUSER", "understudy", "-hset")
    text = refusal(Settings(state=server.url(login="understudy:a-password@")))
    server.send("ACL", "DELUSER", "understudy")
    assert "refuses: " in text
    assert ". Give its user the rights that docs/how-to/fleet.md lists." in text


def test_a_user_without_a_right_is_told_which(server: StoreServer) -> None:
    server.send("ACL", "SETUSER", "reader", "on", ">a-password", "~*", "-@all", "+get")
    text = refusal(Settings(state=server.url(login="reader:a-password@")))
    server.send("ACL", "DELUSER", "reader")
    assert "no permissions to run the 'eval' command. Give its user the rights that" in text


def test_a_user_whose_keys_are_others_is_told_to_change_rights(server: StoreServer) -> None:
    server.send("ACL", "SETUSER", "other", "on", ">a-password", "~other:*", "+@all")
    text = refusal(Settings(state=server.url(login="other:a-password@")))
    server.send("ACL", "DELUSER", "other")
    # in the words of Redis, and of Valkey
    assert "access at least one of the keys" in text or "permissions to access a key" in text
    assert ". Give its user the rights that docs/how-to/fleet.md lists." in text


@pytest.mark.parametrize(
    ("message", "words"),
    [
        (
            "ERR ACL failure in script: No permissions to access a key script: on @user_script:1.",
            "ERR ACL failure in script: No permissions to access a key",
        ),
        (
            f"ERR It can't run this command script: {'3f' * 20}, on @user_script:1.",
            "ERR It can't run this command",
        ),
    ],
)
def test_an_error_of_a_script_is_shown_whole_without_the_number_of_the_script(
    message: str, words: str
) -> None:
    assert StoreRefusal(message).words == words


def test_a_password_that_the_store_does_not_have_is_said(server: StoreServer) -> None:
    text = refusal(Settings(state=server.url(login=":needless@")))
    assert "refuses: ERR AUTH <password> called without any password configured" in text
    assert ". Leave the password out of the URL and UNDERSTUDY_STATE_PASSWORD, or set" in text
    assert "needless" not in text


def test_a_database_that_the_store_does_not_have_is_said(server: StoreServer) -> None:
    text = refusal(Settings(state=server.url().replace("/0", "/99")))
    assert text.endswith(
        "refuses: ERR DB index is out of range. "
        "Name a lower database number at the end of the URL, such as 0."
    )


def test_tls_to_a_port_without_it_is_said(
    server: StoreServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "PATIENCE", 0.1)  # such a port says nothing
    text = refusal(Settings(state=server.url("rediss")))
    assert text.endswith(
        "does not respond: it does not begin TLS, as a port without it does not. "
        "Begin the URL with valkey:// or redis:// for none, or correct the port."
    )


def test_no_word_of_a_command_that_the_store_does_not_know_is_shown(server: StoreServer) -> None:
    with pytest.raises(StoreRefusal) as refused:
        server.send("SIGNIN", "a-secret")
    text = described(store_address(server.url()), refused.value)
    assert "refuses: ERR unknown command 'SIGNIN'. It must be Valkey, or Redis 7" in text


@pytest.fixture
def evicting(server: StoreServer) -> Iterator[StoreServer]:
    """The server, while it deletes keys where its memory is used up."""
    server.send("FLUSHALL")
    server.send("CONFIG", "SET", "maxmemory-policy", "allkeys-lru")
    yield server
    server.send("CONFIG", "SET", "maxmemory-policy", "noeviction")


def test_a_store_that_deletes_worlds_by_itself_is_refused(evicting: StoreServer) -> None:
    assert refusal(Settings(state=evicting.url())).endswith(
        "deletes worlds when its memory is used up (maxmemory-policy allkeys-lru); "
        "set its maxmemory-policy to noeviction."
    )


def test_a_full_store_is_said_at_the_start(server: StoreServer) -> None:
    server.send("FLUSHALL")
    server.send("CONFIG", "SET", "maxmemory", "1")
    text = refusal(Settings(state=server.url()))
    server.send("CONFIG", "SET", "maxmemory", "0")
    assert "Its memory is used up: end worlds, or give it a larger maxmemory." in text
    assert server.send("DBSIZE") == 0


def test_a_store_that_does_not_show_its_policy_is_taken(evicting: StoreServer) -> None:
    evicting.send("ACL", "SETUSER", "few", "on", ">a-password", "~*", "&*", "+@all", "-info")
    status = served(Settings(state=evicting.url(login="few:a-password@")))
    evicting.send("ACL", "DELUSER", "few")
    assert status == 200


def test_a_replica_with_another_fixture_is_told_which(server: StoreServer, tmp_path: Path) -> None:
    server.send("FLUSHALL")
    Mock(Settings(state=server.url()))
    fixtures = tmp_path / "fixtures"
    shutil.copytree(fixtures_directory(), fixtures)
    tokens = fixtures / "tokens.yaml"
    tokens.write_text(tokens.read_text() + "# changed\n")
    text = refusal(Settings(state=server.url(), fixtures=fixtures))
    assert "have other contents of fixtures/tokens.yaml; start this one" in text


def test_a_replica_with_another_option_is_told_which(server: StoreServer) -> None:
    server.send("FLUSHALL")
    Mock(Settings(state=server.url()))
    assert "have other contents of --seed;" in refusal(Settings(state=server.url(), seed=3))


@pytest.mark.parametrize(("schema", "order"), [(0, "an older"), (99, "a newer")])
def test_another_version_refuses_politely(server: StoreServer, schema: int, order: str) -> None:
    server.send("FLUSHALL")
    server.send("HSET", "understudy:fleet", "id", "x", "schema", schema, "version", "9.9")
    text = refusal(Settings(state=server.url()))
    assert f"is in use by {order} version of understudy (9.9); run that version here" in text


def test_an_older_version_is_refused_while_the_newer_one_goes_on_serving(
    server: StoreServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.send("FLUSHALL")
    newer = Driver(Settings(state=server.url()), Time())
    with monkeypatch.context() as older:
        for module in (shared_store, connection):
            older.setattr(module, "SCHEMA", SCHEMA - 1)
        text = refusal(Settings(state=server.url()))
    assert "is in use by a newer version of understudy (" in text
    assert newer.get("/v3/profiles/ada").status_code == 200
    newer.end_store()
    newer.close()


def test_what_is_no_store_is_said() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        other.settimeout(0)
        port = other.getsockname()[1]
        text = refusal(Settings(state=f"redis://127.0.0.1:{port}/x"))
    assert "the URL of a store is written as valkey://host:6379/0" in text


def test_a_reload_is_refused_beside_a_store(server: StoreServer) -> None:
    text = refusal(Settings(state=server.url(), reload=True))
    assert text == "--reload cannot be used with a store that replicas share; leave it out."


def test_the_parts_of_a_url_are_read() -> None:
    address = store_address("rediss://mock:a%2Fb@[::1]:7000/2")
    assert (address.user, address.password, address.host) == ("mock", "a/b", "::1")
    assert (address.port, address.database, address.is_tls) == (7000, 2, True)
    assert str(address) == "rediss://mock@[::1]:7000/2"
    assert store_address("valkey://host").port == 6379
    assert store_address("redis://host?db=3").database == 3
    with pytest.raises(StartupError, match="leave out protocol, timeout"):
        store_address("redis://host/3?protocol=3&timeout=5")
    assert not store_address("redis://host").is_tls


def test_a_connection_may_be_encrypted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    authority = trustme.CA()
    certificate = authority.issue_cert("127.0.0.1")
    for name, blob in {
        "ca.pem": authority.cert_pem,
        "cert.pem": certificate.cert_chain_pems[0],
        "key.pem": certificate.private_key_pem,
    }.items():
        blob.write_to_path(tmp_path / name)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    files = (
        "--tls-cert-file",
        "cert.pem",
        "--tls-key-file",
        "key.pem",
        "--tls-ca-cert-file",
        "ca.pem",
    )
    options = ("--tls-port", str(port), "--tls-auth-clients", "no", *files)
    with store_server(tmp_path, *options):
        url = f"valkeys://127.0.0.1:{port}/0"
        text = refusal(Settings(state=url))
        assert "CERTIFICATE_VERIFY_FAILED" in text
        assert text.endswith(
            f"Name the file with the authority of its certificate in {AUTHORITY_VARIABLE}."
        )
        text = refusal(Settings(state=url.replace("valkeys", "redis")))
        assert text.endswith(
            "does not respond: it ends the connection at the first command, as a port for TLS does. "
            "Begin the URL with valkeys:// or rediss:// for TLS, or correct the port."
        )
        monkeypatch.setenv(AUTHORITY_VARIABLE, str(tmp_path / "ca.pem"))
        assert served(Settings(state=url)) == 200
