"""The certificate of ``serve --tls``: the one in a directory, or one that is made there."""

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from understudy.errors import StartupError

LOCAL_NAMES = ("localhost", "127.0.0.1", "::1")


class Certificate(NamedTuple):
    """The files of a certificate.

    Attributes:
        chain: The certificate with its chain, as PEM.
        key: Its private key, as PEM.
        authority: The authority that clients have to trust; None if the certificate is a user's own.
    """

    chain: Path
    key: Path
    authority: Path | None


def certificate(directory: Path, names: Iterable[str]) -> Certificate:
    """Returns the certificate in a directory; makes one if there is none.

    Args:
        directory: Holds ``cert.pem`` and ``key.pem``; ``ca.pem`` too if the certificate was made.
        names: Host names and addresses of the mock, beside those of this machine.

    Raises:
        StartupError: One of the two files is missing, or none can be written.
    """
    chain, key, authority = (directory / f"{name}.pem" for name in ("cert", "key", "ca"))
    if chain.exists() != key.exists():
        there, missing = (chain, key) if chain.exists() else (key, chain)
        msg = (
            f"--tls {directory} has {there.name} and no {missing.name}; put both there, or neither."
        )
        raise StartupError(msg)
    if not chain.exists():
        try:
            directory.mkdir(parents=True, exist_ok=True)
            _make(chain, key, authority, dict.fromkeys([*LOCAL_NAMES, *names]))
        except OSError as error:
            msg = f"--tls {directory} cannot be written: {error.strerror}."
            raise StartupError(msg) from error
    return Certificate(chain, key, authority if authority.exists() else None)


def _make(chain: Path, key: Path, authority: Path, names: Iterable[str]) -> None:
    # cryptography takes 0.1 s to import, which a mock without TLS need not wait for.
    import trustme

    made = trustme.CA(organization_name="understudy")
    leaf = made.issue_cert(*names)
    key.touch(mode=0o600)
    leaf.private_key_pem.write_to_path(str(key))
    made.cert_pem.write_to_path(str(authority))
    with chain.open("wb") as file:
        for pem in leaf.cert_chain_pems:
            file.write(pem.bytes())
