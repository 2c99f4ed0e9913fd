"""The page on the mock's own limits, from the module that holds them."""

from tests.tools.docs.markdown import code, page, table

from understudy import limits


def page_of_limits() -> str:
    """Returns the page: every limit with its number and the status beyond it."""
    found = [item for item in vars(limits).values() if isinstance(item, limits.Limit)]
    rows = ((code(it.name), f"{it.most:,}", it.of, code(it.status)) for it in found)
    return page(
        "Limits",
        "The mock's limits on requests, files and worlds, so that no small request blocks others and no"
        " client fills the memory. A response beyond a limit names it in `X-Mock-Limit`. The service's own"
        " limits, such as 100 lookups an hour, are [rules](rules.md).",
        table(("limit", "at most", "of what", "status beyond it"), rows),
        "Beyond `journal-bytes` and `journal-body-bytes` nothing is refused: the journal drops its oldest"
        " entries, and keeps the beginning of a long body. Beyond `idle-seconds` and `reading-seconds` a"
        " connection is closed without a response. `spare-descriptors` is the number of file descriptors that"
        " connections must leave free; a further connection gets 503. Beyond `world-copies` a replica of a"
        " fleet drops copies and loads them again. `proxied-connections`, `pending-exchanges`,"
        " `pending-bytes`, `judged-bytes` and `recorded-bytes` are limits of `understudy record`: beyond the"
        " first three, requests wait; beyond the others, the judge drops earlier exchanges, and the archive of"
        " the recording ends.",
    )
