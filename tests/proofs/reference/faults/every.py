"""Every fault of the reference; importing this registers them."""

from tests.proofs.reference.faults import codes_and_tokens, people_and_texts, pictures
from tests.proofs.reference.faults.fault import FAULTS

MODULES = (pictures, people_and_texts, codes_and_tokens)
EVERY = {fault.name: fault for fault in FAULTS}
