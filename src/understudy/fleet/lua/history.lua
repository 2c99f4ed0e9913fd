local k = keys(request.name)
local id, changed, forgotten = unpack(call('HMGET', k.about, 'id', 'changed', 'unchanged_to'))
if id ~= request.id then return {'other'} end
return {'history', tonumber(changed), tonumber(forgotten), call('LRANGE', k.history, 0, -1)}
