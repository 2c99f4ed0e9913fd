-- What every script shares: the names of keys, and the state of a world as a replica is told it.
-- A script gets one argument, a map in MessagePack, and no declared keys: a fleet needs one server.
local request = cmsgpack.unpack(ARGV[1])
local call = redis.call
local FLEET = 'understudy:fleet'
local FILES = 'understudy:files'
local WORLDS = 'understudy:worlds'
local LIST = 'understudy:list'
local NUMBERS = 'understudy:numbers'
local SNAPSHOTS = 'understudy:snapshots'
local SNAPSHOT_NUMBERS = 'understudy:snapshot-numbers'
local EXERCISED = 'understudy:exercised'
local CHANNEL = 'understudy:replica:'
local TAG = 16 -- bytes of a tag: who committed, and which of its commits

local function keys(name)
  local base = 'understudy:world:' .. name .. ':'
  return {
    about = base .. 'about', records = base .. 'records', windows = base .. 'windows',
    changes = base .. 'changes', history = base .. 'history', journal = base .. 'journal', exercised = base .. 'exercised',
  }
end

-- Returns the changes since a tag, the oldest first; nil where they are not known any more.
local function changes_since(k, tag)
  local newer = {}
  local place = -1
  while true do
    local entry = call('LINDEX', k.changes, place)
    if not entry then return nil end
    if string.sub(entry, 1, TAG) == tag then break end
    if #entry == TAG then return nil end -- the whole world was replaced
    table.insert(newer, 1, string.sub(entry, TAG + 1))
    place = place - 1
  end
  return newer
end

-- Returns what the journal has beyond the entry that a replica knows as its last one.
local function journal_since(k, known, total, forgotten, last)
  if known.journal == last then return false end
  local length = call('LLEN', k.journal)
  local place = known.total - (total - length) -- of the first entry that is not known
  local is_first = known.journal == 'none' and known.total == 0 and total == length
  local is_continued = is_first or place > 0 and place <= length and known.total > known.forgotten
    and string.sub(call('LINDEX', k.journal, place - 1), 1, TAG) == known.journal
  local entries = call('LRANGE', k.journal, is_continued and place or 0, -1)
  return {is_continued and 1 or 0, total, forgotten, last, entries, call('HGETALL', k.exercised)}
end

-- Returns the state of a world, as far as a replica does not know it.
local function state(known)
  local k = keys(known.name)
  local id, tag, number, idle, beginning, baseline, settings, counted, total, forgotten, last =
    unpack(call('HMGET', k.about, 'id', 'tag', 'number', 'idle', 'beginning', 'baseline',
      'settings', 'counted', 'total', 'forgotten', 'journal'))
  if not id then return {known.name, 'absent'} end
  local newer = id == known.id and changes_since(k, known.tag) or nil
  local windows = false
  if not newer or (known.counted >= 0 and counted ~= tostring(known.counted)) then
    windows = call('HGETALL', k.windows)
  end
  local journal = false
  if known.journal ~= '' then
    if id ~= known.id then known.journal = 'none' end
    journal = journal_since(k, known, tonumber(total), tonumber(forgotten), last)
  end
  if newer then
    return {known.name, 'changed', id, tag, newer, false, windows, tonumber(counted), journal}
  end
  local changed = tonumber(call('HGET', k.about, 'changed'))
  local whole = {tonumber(number), idle, beginning, baseline, settings, tonumber(total), changed}
  local records = call('HGETALL', k.records)
  return {known.name, 'whole', id, tag, records, whole, windows, tonumber(counted), journal}
end

-- The turns at a world that several replicas change at once: whose turn it is, and who waits for one.
-- They are advice, and end by themselves: what decides about a commit is the comparison of tags.
local TURN_LASTS, WAITING_LASTS = 50, 1000 -- milliseconds

local function turn_keys(name)
  return 'understudy:turn:' .. name, 'understudy:turns:' .. name
end

-- Deletes a world; what was exercised there still counts.
local function remove(name)
  local k = keys(name)
  local exercised = call('HGETALL', k.exercised)
  for place = 1, #exercised, 2 do call('HINCRBY', EXERCISED, exercised[place], exercised[place + 1]) end
  for _, key in pairs(k) do call('DEL', key) end
  call('DEL', turn_keys(name))
  call('ZREM', WORLDS, name)
end

-- Makes a world.
local function create(name, made)
  local k = keys(name)
  local number = call('INCR', NUMBERS)
  call('HSET', k.about, 'id', made.id, 'tag', made.tag, 'number', number, 'idle', made.idle,
    'beginning', made.beginning, 'baseline', '', 'settings', '', 'counted', 0, 'total', 0,
    'forgotten', 0, 'bytes', 0, 'order', 0, 'journal', 'none', 'changed', 0, 'unchanged_to', 0,
    'history_bytes', 0)
  call('ZADD', WORLDS, number, name)
  return number
end

-- Writes a value as the store replies, for a message that a replica reads like a reply.
local function written(value)
  local kind = type(value)
  if kind == 'string' then return '$' .. #value .. '\r\n' .. value .. '\r\n' end
  if kind == 'number' then return string.format(':%d\r\n', value) end
  if kind ~= 'table' then return '$-1\r\n' end
  local parts = {'*' .. #value .. '\r\n'}
  for _, item in ipairs(value) do table.insert(parts, written(item)) end
  return table.concat(parts)
end

-- Lets a replica wait for its turn.
--   known: what it knows of the world
--   windows: the principals whose windows it uses
local function wait_for_turn(known, windows)
  local _, waiting = turn_keys(known.name)
  call('RPUSH', waiting, cmsgpack.pack({request.replica, known, windows}))
  call('PEXPIRE', waiting, WAITING_LASTS)
end

-- Gives the turn to the replica that has waited longest, and tells it what it does not know.
local function pass_turn(name)
  local turn, waiting = turn_keys(name)
  while true do
    local first = call('LPOP', waiting)
    if not first then
      call('DEL', turn)
      return
    end
    local replica, known, windows = unpack(cmsgpack.unpack(first))
    local k = keys(name)
    local id, tag = unpack(call('HMGET', k.about, 'id', 'tag'))
    local states, others = {}, {}
    if id == known.id and tag ~= known.tag then
      local newer = state(known)
      if newer[2] == 'changed' then table.insert(states, newer) end -- a whole world is too large
    end
    for _, who in ipairs(windows) do
      table.insert(others, who)
      table.insert(others, call('HGET', k.windows, who) or '')
    end
    call('SET', turn, replica, 'PX', TURN_LASTS)
    local news = {name, known.tag, {'stale', states, {{name, others}}, false}}
    if call('PUBLISH', CHANNEL .. replica, written(news)) > 0 then return end
  end
end
