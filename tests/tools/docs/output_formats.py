"""The page on what ``generate`` and ``verify`` write."""

from tests.tools.docs.docstrings import summary
from tests.tools.docs.markdown import code, page, prose, table

from understudy.generate.formats.export_formats import FORMATS as CASE_FORMATS
from understudy.reports.formats import FORMATS as REPORT_FORMATS


def page_of_formats() -> str:
    """Returns the page: formats of generated requests, then formats of reports."""
    cases = ((code(name), form.about, code(form.suffix)) for name, form in CASE_FORMATS.items())
    reports = ((code(name), prose(summary(write))) for name, write in REPORT_FORMATS.items())
    return page(
        "Formats",
        "## Generated requests: `understudy generate --format`",
        table(("format", "what it is", "file ends in"), cases),
        "`understudy/generate/formats/case.schema.json` describes a line of `jsonl`. Cases that a tool cannot"
        " express are left out of its file and counted at the end of the run: some tools join two headers of"
        " one name, write multipart bodies themselves, or refuse a broken percent sign.",
        "## Reports: `understudy verify --report FORMAT=FILE`",
        table(("format", "what it is"), reports),
        "`understudy/verify/report.schema.json` describes the JSON report.",
    )
