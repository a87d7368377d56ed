-- slots.lua: how many tasks run at once.
--
-- What holds a queue back is in one hash: `paused` (<ms> <length of the actor>:<actor><reason>), `depth`, `concurrency`,
-- `s:<task>` (set by hand, '-' for no limit), `d:<task>` (declared), `adopt` (see below). The field `gate` of the queue's
-- hash sums it up for the scripts that are called often: p paused, d<depth>, c<concurrency>, a adopting, t some task has a
-- limit, or is held back.
--
-- slots:<task>   the uuids of the tasks of a limited kind that run. Section l of a running task's record says that it
--                holds a slot ('+<task>'), or counts for its queue only ('-'), so that its end frees what it holds.
-- parked:<task>  those that were passed over, best first: their entries stay in the stream, acknowledged, before all that
--                was never read. <9 - band><ms><number> <uuid>, padded, so that the order of the text is theirs.
-- freed          the kinds of which some are parked and one may start, by the place of the best of them.
local limits_key, freed_key = root .. LIMITS, root .. FREED

-- Set while the holders of a new limit are being gathered: until then no limited task starts.
local adopting = false

local limits = {}
-- How many tasks of a kind may run, or false.
local function limit_of(task)
  local limit = limits[task]
  if limit == nil then
    local found = call('HMGET', limits_key, 's:' .. task, 'd:' .. task)
    limit = tonumber(found[1] or found[2] or '-') or false
    limits[task] = limit
  end
  return limit
end

local function padded(digits, width)
  return string.rep('0', width - #digits) .. digits
end

local function park_name(digit, id, uuid)
  local ms, number = match(id, '^(%d+)-(%d+)$')
  return 9 - digit .. padded(ms, 15) .. padded(number, 20) .. ' ' .. uuid
end

-- band digit, entry id, uuid
local function parked_at(name)
  local ms, number = match(sub(name, 2, 16), '^0*(%d+)$'), match(sub(name, 17, 36), '^0*(%d+)$')
  return tostring(9 - sub(name, 1, 1)), ms .. '-' .. number, sub(name, 38)
end

-- Keeps `freed` right for one kind.
local function refresh(task)
  local best, limit = call('ZRANGE', root .. PARKED .. task, 0, 0)[1], limit_of(task)
  if best and (not limit or not adopting and call('SCARD', root .. SLOTS .. task) < limit) then
    -- 14 digits: `..` writes them exactly.
    call('ZADD', freed_key, sub(best, 1, 1) * 1e13 + sub(best, 4, 16), task)
  else
    call('ZREM', freed_key, task)
  end
end

-- Whether a task may start now; then it holds a slot, if its kind is limited.
local function admit(uuid, task)
  local limit, key = limit_of(task), root .. SLOTS .. task
  if not limit then return true end
  if adopting or call('SCARD', key) >= limit then return call('SISMEMBER', key, uuid) == 1 end
  call('SADD', key, uuid)
  return true
end

-- The record without one section.
local function without(rec, tag)
  local at = find(rec, '\n', 1, true)
  while at and at < #rec do
    local found, len, start = match(rec, '^\n?(%l)(%d+):()', at)
    if not found then return rec end
    local from = byte(rec, at) == 10 and at + 1 or at
    if found == tag then return sub(rec, 1, from - 1) .. sub(rec, start + len) end
    at = start + len
  end
  return rec
end

-- Notes in a running task's record what it holds.
local function mark(uuid, rec, task)
  local l = limit_of(task) and '+' .. task or '-'
  local s = sections(rec)
  if s.l == l then return end
  if s.l then rec = without(rec, 'l') end
  local head = match(rec, '^[^\n]*')
  call('SET', root .. TASK .. uuid, head .. '\n' .. section('l', l) .. sub(rec, #head + 2))
end

local vacated = false
-- Frees what a running task held. l: the section of its record, or nil.
local function vacate(uuid, l)
  if not l then return end
  vacated = true
  if byte(l) ~= 43 then return end
  local task = sub(l, 2)
  if call('SREM', root .. SLOTS .. task, uuid) == 1 then refresh(task) end
end

-- Wakes a worker when something was freed that somebody may wait for.
local function wake_for_freed()
  if not vacated then return end
  if call('EXISTS', freed_key) == 1 or find(call('HGET', queue_key, 'gate') or '', 'c', 1, true) then wake() end
end

-- Forgets that a task was passed over: it ends, or is put off.
local function unpark(digit, id, uuid, task)
  if call('ZREM', root .. PARKED .. task, park_name(digit, id, uuid)) == 1 then refresh(task) end
end

-- Sums up what holds the queue back; nothing when nothing does.
local function regate()
  local gate, kinds = {}, call('EXISTS', freed_key) == 1
  local all = call('HGETALL', limits_key)
  local at = {}
  for i = 1, #all, 2 do at[all[i]] = all[i + 1] end
  for name in pairs(at) do
    local task = match(name, '^[sd]:(.*)$')
    if task and limit_of(task) then kinds = true end
  end
  if at.paused then gate[#gate + 1] = 'p' end
  if at.adopt then gate[#gate + 1] = 'a' end
  if at.depth then gate[#gate + 1] = 'd' .. at.depth end
  if at.concurrency then gate[#gate + 1] = 'c' .. at.concurrency end
  if kinds then gate[#gate + 1] = 't' end
  if #gate > 0 then
    call('HSET', queue_key, 'gate', concat(gate))
  else
    call('HDEL', queue_key, 'gate')
  end
end

-- Every kind that has, or had, a limit.
local function limited_kinds()
  local kinds = {}
  for _, name in ipairs(call('HKEYS', limits_key)) do
    local task = match(name, '^[sd]:(.*)$')
    if task then kinds[task] = true end
  end
  return kinds
end

-- What runs when a limit is new holds slots, too: each step looks at so many of them. True when that is done.
local function adopt()
  local cursor, budget = call('HGET', limits_key, 'adopt'), BATCH
  local first, from = match(cursor or '', '^(%d):(.+)$')
  local all = call('HEXISTS', limits_key, 'concurrency') == 1
  for band = tonumber(first or -1), 0, -1 do
    local digit = tostring(band)
    local stream = root .. STREAM .. digit
    while true do
      local asked = budget
      local page = redis.pcall('XPENDING', stream, GROUP, from, '+', asked)
      if page.err then break end
      for _, it in ipairs(page) do
        local entry = call('XRANGE', stream, it[1], it[1])[1]
        local uuid, task = entry and entry[2][2], entry and entry[2][4]
        local rec = uuid and plain(call('GET', root .. TASK .. uuid))
        local letter, _, _, ref
        if rec then letter, _, _, ref = header(rec) end
        if letter == 'Q' and ref == it[1] then
          local limit = limit_of(task)
          if limit then call('SADD', root .. SLOTS .. task, uuid) end
          if limit or all then mark(uuid, rec, task) end
        end
      end
      budget = budget - #page
      if budget <= 0 then
        call('HSET', limits_key, 'adopt', digit .. ':(' .. page[#page][1])
        return false
      end
      if #page < asked then break end
      from = '(' .. page[#page][1]
    end
    from = '-'
  end
  call('HDEL', limits_key, 'adopt')
  adopting = false
  for task in pairs(limited_kinds()) do refresh(task) end
  regate()
  return true
end
