"""The page on the mock's own limits, from the module that holds them."""

from tests.tools.docs.markdown import code, page, table

from understudy import limits


def page_of_limits() -> str:
    """Returns the page: every limit with its number and the status beyond it."""
    found = [item for item in vars(limits).values() if isinstance(item, limits.Limit)]
    rows = ((code(it.name), f"{it.most:,}", it.of, code(it.status)) for it in found)
    return page(
        "Limits",
        "No small request may keep others waiting, and no client may fill the memory. Each limit is far"
        " above what a client means to send. A response beyond one names it in `X-Mock-Limit`. These are"
        " limits of the mock; those of the service, such as 100 lookups an hour, are"
        " [rules](rules.md).",
        table(("limit", "at most", "of what", "status beyond it"), rows),
        "Beyond `journal-bytes` and `journal-body-bytes` nothing is refused: the journal forgets its"
        " oldest entries, and keeps the beginning of a long body. Beyond `idle-seconds` and"
        " `reading-seconds` a connection ends without a response. `spare-descriptors` is the least that"
        " connections leave to files; one more connection gets 503. Beyond `world-copies` a replica of a fleet"
        " drops copies, and loads them again. `proxied-connections`, `pending-exchanges`,"
        " `pending-bytes`, `judged-bytes` and `recorded-bytes` are those of `understudy record`: beyond the first"
        " three requests wait, beyond the others the judge forgets what came before, and the archive of the recording ends.",
    )
