-- Passes on a turn that the replica has no use for.
if call('GET', (turn_keys(request.name))) == request.replica then pass_turn(request.name) end
return {'passed'}
