"""The pages of a list are walked in one way, to the last."""

import pytest
from tests.verify.exchanges import exchange_of

from understudy.collections.pages import PagedList
from understudy.exchange.messages import Response

BY_BOTH = PagedList(
    limit="limit",
    most=50,
    least=1,
    offset="offset",
    number=None,
    first=1,
    cursor="page_token",
    is_filtered=False,
)


@pytest.mark.parametrize(
    ("query", "body", "following"),
    [
        ((), b'{"next_page_token": "b"}', (("page_token", "b"),)),
        ((("page_token", "b"),), b"{}", None),
        ((), b"{}", (("offset", "2"),)),
    ],
)
def test_a_list_with_cursors_and_offsets_is_walked_by_one_of_them(query, body, following):
    page = exchange_of("/beds", response=Response(200, (), body))
    assert BY_BOTH.following(page, query, 2, 0) == following
