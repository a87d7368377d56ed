-- gate.lua: who may start, and what holds a queue back. What the words mean: slots.lua.

-- band digit, entry id, uuid
local function parked_at(name)
  local ms, number = match(sub(name, 2, 16), '^0*(%d+)$'), match(sub(name, 17, 36), '^0*(%d+)$')
  return tostring(9 - sub(name, 1, 1)), ms .. '-' .. number, sub(name, 38)
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
  write_record(uuid, head .. '\n' .. section('l', l) .. sub(rec, #head + 2))
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
        local uuid, task, rec
        if entry then
          uuid, task = opened(entry)
          rec = read_record(uuid)
        end
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
