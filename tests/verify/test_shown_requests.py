"""The commands of a facts file have no secret, no identifier and no text of a person in them."""

import pytest
from tests.verify.exchanges import BASE_URL, exchange_of

from understudy.exchange.messages import Headers, Request
from understudy.verify.pictures import picture
from understudy.verify.shown_requests import command_of, commands_of
from understudy.verify.target import Credentials, Known, Target

PLANTED = "planted-canary"
FORM = ("content-type", "application/x-www-form-urlencoded")
JSON = ("content-type", "application/json")
TARGET = Target(
    base_url=BASE_URL,
    auth_url="http://127.0.0.1:2",
    credentials=Credentials(access_token="the-token"),
    known=Known(slug="ada", emails=("ada@example.com",)),
)


def command(
    path: str, *, body: bytes = b"", headers: Headers = (), values: tuple[str, ...] = ()
) -> str:
    request = Request("POST", BASE_URL + path, headers, body)
    exchange = exchange_of(path, request=request, values=values, operation="POST /me/avatars/{}")
    return command_of(exchange, TARGET)


@pytest.mark.parametrize(
    "sent",
    [
        command(f"/me/avatars/{PLANTED}", values=(PLANTED,)),
        command(f"/elsewhere/{PLANTED}", values=("another",)),
        command(f"/me/avatars?name={PLANTED}&state={PLANTED}%20"),
        command("/me/avatars", body=f"username={PLANTED}&code={PLANTED}".encode(), headers=(FORM,)),
        command(
            "/me/avatars", body=f'{{"links":[{{"label":"{PLANTED}"}}]}}'.encode(), headers=(JSON,)
        ),
        command("/me/avatars", body=f'{{"broken":"{PLANTED}'.encode(), headers=(JSON,)),
        command("/me/avatars", body=PLANTED.encode()),
        command("/me/avatars", headers=(("authorization", f"Bearer {PLANTED}"),)),
        command("/me/avatars", headers=(("authorization", PLANTED),)),
        command("/me/avatars", headers=(("cookie", f"session={PLANTED}"),)),
        command("/me/avatars", headers=(("content-type", f"text/plain; name={PLANTED}"),)),
    ],
)
def test_what_was_planted_in_a_request_is_not_in_its_command(sent: str) -> None:
    assert sent.startswith("curl -i -X POST ")
    assert PLANTED not in sent


def test_tokens_people_and_hashes_of_the_target_are_variables_with_their_names() -> None:
    (email_hash,) = TARGET.known.own_hashes
    headers = (("authorization", "Bearer the-token"), JSON)
    sent = command(
        "/me/avatars/ada/email",
        body=f'{{"email_hash":"{email_hash}"}}'.encode(),
        headers=headers,
        values=("ada",),
    )
    assert sent == (
        f'curl -i -X POST "{BASE_URL}/me/avatars/$SLUG/email"'
        ' -H "authorization: Bearer $OWNER_TOKEN" -H "content-type: application/json"'
        ' --data-raw "{\\"email_hash\\":\\"$OWN_HASH\\"}" # as anonymous: 200'
    )


def test_what_verify_makes_up_and_sizes_are_kept_as_they_are() -> None:
    sent = command("/me/avatars/understudy-made-up?size=512", values=("understudy-made-up",))
    assert f'"{BASE_URL}/me/avatars/understudy-made-up?size=512"' in sent


def test_an_uploaded_picture_is_a_file_of_its_kind() -> None:
    body = b'--b\r\nContent-Disposition: form-data; name="data"; filename="x"\r\n\r\n'
    headers = (("content-type", "multipart/form-data; boundary=b"),)
    sent = command("/me/avatars", body=body + picture("GIF") + b"\r\n--b--\r\n", headers=headers)
    assert sent.endswith('/me/avatars" -F "data=@picture.gif" # as anonymous: 200')


def test_requests_that_read_the_same_are_one_command_and_three_are_enough() -> None:
    exchanges = [
        exchange_of("/profiles/ada", operation="GET /profiles/{}", values=("ada",), status=status)
        for status in (200, 200, 201, 202, 203)
    ]
    statuses = [each.rpartition(" ")[2] for each in commands_of(exchanges, TARGET)]
    assert statuses == ["200", "201", "202"]
