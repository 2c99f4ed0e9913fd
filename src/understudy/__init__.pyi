from understudy.api.judging import verify as verify
from understudy.cases.model import Case as Case
from understudy.cases.selection import edge_cases as edge_cases
from understudy.testing.parametrizing import parametrize as parametrize
from understudy.testing.world import MockWorld as MockWorld
from understudy.verify.findings import Outcome as Outcome

__all__ = ["Case", "MockWorld", "Outcome", "__version__", "edge_cases", "parametrize", "verify"]

__version__: str
