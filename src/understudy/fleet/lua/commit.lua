if call('HGET', FLEET, 'id') ~= request.fleet then return {'lost'} end

-- First everything is compared, and nothing written. Only the turn at a world may be taken.
local turn, waiting, holder
if request.turn ~= '' then
  turn, waiting = turn_keys(request.turn)
  holder = call('GET', turn)
end
local function windows_used()
  local names = {}
  for _, window in ipairs(request.changes[1].windows) do table.insert(names, window[1]) end
  return names
end
if holder and holder ~= request.replica then
  wait_for_turn(request.known[1], windows_used())
  return {'waiting'}
end
local stale, windows = {}, {}
for _, known in ipairs(request.known) do
  local id, tag, counted, last =
    unpack(call('HMGET', keys(known.name).about, 'id', 'tag', 'counted', 'journal'))
  local is_current
  if known.is_new then
    is_current = not id
  else
    is_current = id and id == known.id and tag == known.tag
      and (known.counted < 0 or counted == tostring(known.counted))
      and (known.journal == '' or last == known.journal)
  end
  if not is_current then table.insert(stale, state(known)) end
end
for _, change in ipairs(request.changes) do
  local k = keys(change.name)
  local others = {}
  for _, window in ipairs(change.windows) do
    local current = call('HGET', k.windows, window[1]) or ''
    if current ~= window[2] then
      table.insert(others, window[1])
      table.insert(others, current)
    end
  end
  if #others > 0 then table.insert(windows, {change.name, others}) end
end
local list = false
if request.list ~= '' and (call('GET', LIST) or '') ~= request.list then
  list = {call('GET', LIST), call('ZRANGE', WORLDS, 0, -1, 'WITHSCORES'),
    call('HGETALL', SNAPSHOT_NUMBERS), call('HGETALL', EXERCISED)}
end
if #stale > 0 or #windows > 0 or list then
  if turn and (not stale[1] or stale[1][2] ~= 'absent') then
    call('SET', turn, request.replica, 'PX', TURN_LASTS)
  end
  return {'stale', stale, windows, list}
end

local function replace_journal(k, change)
  call('DEL', k.journal)
  call('DEL', k.exercised)
  local bytes = 0
  for _, entry in ipairs(change.entries) do
    call('RPUSH', k.journal, entry)
    bytes = bytes + #entry
  end
  call('HSET', k.about, 'total', change.resumed, 'forgotten', change.forgotten, 'bytes', bytes,
    'journal', change.journal_tag)
end

local function forget_oldest(k, change, bytes)
  local length = call('LLEN', k.journal)
  while length > 0 and (length > change.capacity or bytes > change.most_bytes) do
    bytes = bytes - #call('LPOP', k.journal)
    length = length - 1
  end
  return bytes
end

-- Keeps how to undo what a request changed; of changes that cannot be undone nothing before is kept.
local function log_history(k, worked, total)
  call('HINCRBY', k.about, 'changed', 1)
  local numbered = string.format('%016d', total) .. worked.history
  local bytes = call('HINCRBY', k.about, 'history_bytes', #numbered)
  local length = call('RPUSH', k.history, numbered)
  while length > 0 and (worked.history == '' or length > request.most_undone
      or bytes > request.most_undone_bytes) do
    local oldest = call('LPOP', k.history)
    length, bytes = length - 1, bytes - #oldest
    call('HSET', k.about, 'unchanged_to', tonumber(string.sub(oldest, 1, 16)), 'history_bytes', bytes)
  end
end

-- Appends the requests to the journal and their changes to the log; returns the last entry that was
-- in the journal before, and the number of its last entry now.
local function log_requests(k, change)
  if change.forgotten >= 0 then replace_journal(k, change) end
  local before, total, bytes = unpack(call('HMGET', k.about, 'journal', 'total', 'bytes'))
  total, bytes = tonumber(total), tonumber(bytes)
  local has_entries, is_logged = false, false
  for _, worked in ipairs(change.requests) do
    if worked.entry ~= '' then
      has_entries = true
      call('RPUSH', k.journal, change.journal_tag .. worked.entry)
      total = total + 1
      bytes = bytes + TAG + #worked.entry
      if worked.exercised ~= '' then call('HINCRBY', k.exercised, worked.exercised, 1) end
    end
    if worked.is_changed and change.tag ~= '' then
      is_logged = true
      local log = worked.log
      if log ~= '' then log = string.format('%016d', total) .. log end
      call('RPUSH', k.changes, change.tag .. log)
      log_history(k, worked, total)
    end
  end
  if has_entries then
    bytes = forget_oldest(k, change, bytes)
    call('HSET', k.about, 'total', total, 'bytes', bytes, 'journal', change.journal_tag)
  end
  if change.tag ~= '' then
    if not is_logged then call('RPUSH', k.changes, change.tag) end
    call('LTRIM', k.changes, -request.most_changes, -1)
  end
  return before, total
end

local function put_records(k, change)
  for _, row in ipairs(change.rows) do
    local place, kind, record = row[1], row[2], row[3]
    if kind == 'drop' then
      call('HDEL', k.records, place)
    else
      local before = call('HGET', k.records, place)
      local order = before and string.sub(before, 1, 12)
        or string.format('%012d', call('HINCRBY', k.about, 'order', 1))
      call('HSET', k.records, place, order .. kind .. record)
    end
  end
end

-- A full store refuses a write only before the first deletion of a script. So what may make a world
-- larger begins with another write, and a reset, or an end, with a deletion.
local function replace_records(k, change)
  if #change.rows > 0 or #change.entries > 0 then
    call('HSET', k.about, 'baseline', change.baseline)
  end
  call('DEL', k.records)
  call('DEL', k.windows)
  call('DEL', k.changes)
  call('HSET', k.about, 'baseline', change.baseline)
end

local replies = {}
for _, change in ipairs(request.changes) do
  local k = keys(change.name)
  if change.is_removed then
    remove(change.name)
    table.insert(replies, {change.name, 'none', 0, 0, 0})
  else
    local number = 0
    if change.made then number = create(change.name, change.made) end
    if change.is_replaced then replace_records(k, change) end
    local before, total = log_requests(k, change)
    put_records(k, change)
    for _, window in ipairs(change.windows) do
      if window[3] == '' then call('HDEL', k.windows, window[1])
      else call('HSET', k.windows, window[1], window[3]) end
    end
    local counted = tonumber(call('HGET', k.about, 'counted'))
    if #change.windows > 0 then counted = call('HINCRBY', k.about, 'counted', 1) end
    if change.tag ~= '' then
      call('HSET', k.about, 'tag', change.tag, 'settings', change.settings)
    end
    if change.idle > 0 then
      for _, key in pairs(k) do call('PEXPIRE', key, change.idle) end
    end
    table.insert(replies, {change.name, before, total, counted, number})
  end
end
for _, snapshot in ipairs(request.snapshots) do
  if snapshot[2] == '' then
    call('HDEL', SNAPSHOTS, snapshot[1])
    call('HDEL', SNAPSHOT_NUMBERS, snapshot[1])
  else
    call('HSET', SNAPSHOTS, snapshot[1], snapshot[2])
    call('HSET', SNAPSHOT_NUMBERS, snapshot[1], call('INCR', NUMBERS))
  end
end
if request.new_list ~= '' then call('SET', LIST, request.new_list) end
local is_waiting = 0
if holder then
  if call('EXISTS', waiting) == 1 then
    local known = request.known[1]
    if request.changes[1].tag ~= '' then known.tag = request.changes[1].tag end
    wait_for_turn(known, windows_used())
    is_waiting = 1
  end
  pass_turn(request.turn)
end
return {'done', replies, is_waiting}
