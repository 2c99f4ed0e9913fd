from understudy.contract.edge_cases.library import edge_cases as edge_cases
from understudy.contract.edge_cases.library import parametrize as parametrize
