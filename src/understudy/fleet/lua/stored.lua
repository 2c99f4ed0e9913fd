local schema = call('HGET', FLEET, 'schema')
if not schema then return {'none'} end
if tonumber(schema) ~= request.schema then
  return {'schema', tonumber(schema), call('HGET', FLEET, 'version')}
end
if request.ended ~= '' then
  if not call('ZSCORE', WORLDS, request.ended) then return {'absent'} end
  remove(request.ended)
  call('SET', LIST, request.tag) -- replicas read the list of worlds anew
  return {'ended'}
end
local worlds = {}
for _, name in ipairs(call('ZRANGE', WORLDS, 0, -1)) do
  local k = keys(name)
  local rested = call('OBJECT', 'IDLETIME', k.about) -- before a command reads the key
  if rested then -- its time to live is not over
    local size = 0
    for _, key in pairs(k) do size = size + (call('MEMORY', 'USAGE', key) or 0) end
    local total, idle = unpack(call('HMGET', k.about, 'total', 'idle'))
    table.insert(worlds, {name, size, call('HLEN', k.records), tonumber(total), rested,
      tonumber(idle), call('PTTL', k.about)})
  end
end
return {'worlds', worlds}
