"""How tests steer the mock: worlds, clock, faults, limits and the journal, as JSON over HTTP."""
