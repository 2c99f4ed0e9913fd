"""Query parameters as the operator has them read where one is empty, or given twice."""

from flask import request
from tests.proofs.reference.refusals import refuse
from tests.proofs.reference.service import chose

REPEATED = "repeated-query-parameter"


def single(name: str) -> str | None:
    """Returns the text of a parameter; None where it counts as left out.

    Raises:
        Refused: It is given twice, and the operator wants such a request refused.
    """
    texts = request.args.getlist(name)
    if len(texts) > 1 and chose(REPEATED, "refuse"):
        refuse(f"{name} is given {len(texts)} times.")
    if not texts or (texts[0] == "" and chose("empty-query-parameter", "ignore")):
        return None
    return texts[-1] if chose(REPEATED, "last") else texts[0]
