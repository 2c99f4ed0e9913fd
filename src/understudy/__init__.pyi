from understudy.generate.library import edge_cases as edge_cases
from understudy.generate.library import parametrize as parametrize
