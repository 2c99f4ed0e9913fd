"""Restores an account to its state before a run, and reads it back to verify that."""

from dataclasses import dataclass

from understudy.exchange.messages import Exchange
from understudy.verify import account_state
from understudy.verify.account_state import AccountBefore
from understudy.verify.probe_client import ProbeClient
from understudy.verify.request_budget import TOO_MANY


@dataclass(frozen=True, slots=True)
class UnrestoredField:
    """A profile field that the deployment did not restore.

    Attributes:
        writer: The name of the credential.
        name: The field.
        before: Its value before the run.
        now: Its value now.
        exchange: The exchange that shows the value now.
    """

    writer: str
    name: str
    before: str
    now: object
    exchange: Exchange

    def __str__(self) -> str:
        """Returns one line."""
        now = "missing" if self.now is None else f'"{self.now}"'
        return f'{self.writer}: {self.name} is {now} and was "{self.before}"'


def restore_profile(
    client: ProbeClient, before: AccountBefore, writer: str
) -> list[UnrestoredField | str]:
    """Restores the editable fields of a profile.

    Returns:
        What could not be restored; a line where the profile cannot be read back.

    Raises:
        Refusal: A request was not sent or got no response.
    """
    if before.profile is None:
        return []
    update = client.send("PATCH", "/me/profile", writer, json=before.profile)
    if update.response.is_refusal and update.status != TOO_MANY:
        for name, text in before.profile.items():  # one refused value must not keep the others
            client.send("PATCH", "/me/profile", writer, json={name: text})
    exchange = client.get("/me/profile", writer)
    if not exchange.response.is_success:
        return [f"{writer}: the profile cannot be read back: status {exchange.status}"]
    return [
        UnrestoredField(writer, name, text, exchange.json_object.get(name), exchange)
        for name, text in before.profile.items()
        if exchange.json_object.get(name) != text
    ]


def restore_avatars(
    client: ProbeClient, before: AccountBefore, writer: str, primary: str, uploads: list[str]
) -> list[str]:
    """Deletes uploads, and restores the avatars that existed before and their selection.

    Args:
        client: Sends the requests.
        before: The state before the run.
        writer: The credential.
        primary: The hash of the account's primary e-mail address; empty where it is unknown.
        uploads: Ids of the avatars to delete.

    Returns:
        One line for each thing that could not be restored.

    Raises:
        Refusal: A request was not sent or got no response.
    """
    if before.avatars is None:
        return []
    for image in tuple(uploads):
        client.send("DELETE", f"/me/avatars/{image}", writer)
    now = account_state.avatars(client, writer)
    for image, fields in before.avatars.items():
        if image in now and now[image] != fields:
            client.send("PATCH", f"/me/avatars/{image}", writer, json=fields)
    for hash_, image_or_none in before.selected.items():
        selected = account_state.selected(client, writer, hash_)
        if image_or_none is not None and selected != image_or_none:
            body = {"email_hash": hash_ or primary}
            client.send("POST", f"/me/avatars/{image_or_none}/email", writer, json=body)
    return _differing_avatars(client, before.avatars, before.selected, writer)


def _differing_avatars(
    client: ProbeClient,
    before: dict[str, dict[str, str]],
    selected_before: dict[str, str | None],
    writer: str,
) -> list[str]:
    now = account_state.avatars(client, writer)
    lines = [
        f"{writer}: the avatar {image} was not removed" for image in now if image not in before
    ]
    lines += [
        f"{writer}: the avatar {image} is {_listed(now.get(image))} and was {_listed(fields)}"
        for image, fields in before.items()
        if now.get(image) != fields
    ]
    for hash_, image_or_none in selected_before.items():
        selected = account_state.selected(client, writer, hash_)
        if selected != image_or_none:
            address = hash_ or "the primary address"
            lines.append(
                f"{writer}: {selected or 'no avatar'} is selected for {address}, "
                f"and {image_or_none or 'none'} was"
            )
    return lines


def _listed(fields: dict[str, str] | None) -> str:
    if fields is None:
        return "missing"
    return ", ".join(f'{name} "{text}"' for name, text in fields.items()) or "without values"
