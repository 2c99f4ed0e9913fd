local known = call('HMGET', FLEET, 'id', 'schema', 'version', 'started')
if not known[1] then
  local now = call('TIME')
  known = {request.id, request.schema, request.version, now[1] .. string.format('%06d', now[2])}
  call('HSET', FLEET, 'id', known[1], 'schema', known[2], 'version', known[3], 'started', known[4])
  call('DEL', FILES) -- after a write that a full store refuses: it refuses none behind a deletion
  for name, digest in pairs(request.files) do call('HSET', FILES, name, digest) end
elseif tonumber(known[2]) ~= request.schema then
  return {'schema', tonumber(known[2]), known[3]}
else
  local others = {}
  local pinned = call('HGETALL', FILES)
  local count = 0
  for place = 1, #pinned, 2 do
    count = count + 1
    if request.files[pinned[place]] ~= pinned[place + 1] then table.insert(others, pinned[place]) end
  end
  for name, _ in pairs(request.files) do
    if call('HEXISTS', FILES, name) == 0 then table.insert(others, name) end
  end
  if #others > 0 then
    table.sort(others)
    return {'files', others}
  end
end
if call('EXISTS', keys('default').about) == 0 then
  local default = request.default
  create('default', default)
  local k = keys('default')
  call('HSET', k.about, 'settings', default.settings, 'number', 0)
  call('ZADD', WORLDS, 0, 'default')
  call('RPUSH', k.changes, default.tag)
  call('SET', LIST, default.tag)
end
call('PUBLISH', CHANNEL, '') -- so that a missing right is said at the start
return {'joined', known[1], tonumber(known[4])}
