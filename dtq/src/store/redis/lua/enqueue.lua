-- enqueue.lua: accepts tasks of one queue.
-- KEYS  1 root
-- ARGV  1 bound of the event log, 2 number of tasks n, 3 their uuids in 16 bytes each, then n uuids (no two alike),
--       then runs of tasks that differ in uuid and payload only: priority, due, task, meta, length, payloads.
--       due: '' now, 'a<ms>' after, '@<ms>' at. The time of acceptance is put into a meta when needed.
-- gives the places (1..n) of the tasks that were known before, negative ones of those for which there was no room, and 0 when
--       nothing was known of the queue; with any of the second kind, at the end: 'F <depth> <limit> <ms until there may be room>'
-- Invariant: a task has a record if and only if it was accepted; with the record, an entry or a place in the schedule.
local n = tonumber(ARGV[2])
local keys, task_key = {}, root .. TASK
for i = 1, n do keys[i] = task_key .. ARGV[i + 3] end
local known = call('MGET', unpack(keys))

local now = clock()
local records, rn = {}, 0
local later, ln = {}, 0
local answer = {}
local state = call('HMGET', queue_key, 'bands', 'gate')
local stored, gate = state[1], state[2] or ''
local bands = stored or ''
local marked = bands
local at, i = n + 4, 0

local function due_time(due)
  if due == '' then return nil end
  local ms = tonumber(sub(due, 2))
  if byte(due, 1) == 97 then ms = now + ms end
  return ms > now and ms or nil
end

-- What is ready or scheduled.
local function depth()
  local sum = call('ZCARD', root .. SCHEDULE)
  for band = 0, 9 do
    local stream = root .. STREAM .. band
    local length = call('XLEN', stream)
    if length > 0 then
      sum = sum + length
      for _, group in ipairs(call('XINFO', 'GROUPS', stream)) do
        for j = 1, #group, 2 do
          if group[j] == 'pending' then sum = sum - group[j + 1] end
        end
      end
    end
  end
  return sum
end

-- When so many tasks may have gone, by how many ended since a look of a second to a minute ago. A look lasts for ten seconds.
local function room_after(many)
  local ended = 0
  for _, number in ipairs(call('HMGET', queue_key, 'succeeded', 'failed', 'dead_lettered', 'cancelled', 'expired')) do
    ended = ended + (number or 0)
  end
  local seen = call('HGET', root .. LIMITS, 'drain')
  local since, before = match(seen or '', '^(%d+) (%d+)$')
  local passed, gone = now - (since or now), ended - (before or ended)
  if not seen or passed >= 10000 then call('HSET', root .. LIMITS, 'drain', now .. ' ' .. ended) end
  if passed < 1000 or passed > 60000 or gone <= 0 then return RETRY_AFTER end
  return math.max(RETRY_LEAST, math.min(RETRY_MOST, math.ceil(many * passed / gone)))
end

-- How many more the queue takes; nil: as many as come.
local limit = tonumber(match(gate, 'd(%d+)'))
local before = limit and depth()
local room = limit and math.max(0, limit - before)
local refused = 0

while i < n do
  local prio, task, meta = ARGV[at], ARGV[at + 2], ARGV[at + 3]
  local due, stop = due_time(ARGV[at + 1]), i + ARGV[at + 4]
  local stream = root .. STREAM .. prio
  at = at + 5
  while i < stop do
    i = i + 1
    if known[i] then
      answer[#answer + 1] = i
    elseif room == 0 then
      answer[#answer + 1] = -i
      refused = refused + 1
    else
      if room then room = room - 1 end
      local uuid = ARGV[i + 3]
      records[rn + 1] = keys[i]
      if due then
        records[rn + 2] = 'P1 ' .. prio .. ' ' .. due .. ' 0' .. envelope(task, meta .. 'a' .. now, ARGV[at])
        later[ln + 1] = due
        later[ln + 2] = uuid
        ln = ln + 2
      else
        local id = call('XADD', stream, '*', 'i', uuid, 't', task, 'm', meta, 'p', ARGV[at])
        records[rn + 2] = packed(id, prio)
        marked = with_band(marked, prio)
      end
      rn = rn + 2
    end
    at = at + 1
  end
end

local function told()
  if refused > 0 then
    answer[#answer + 1] = string.format('F %d %d %d', before + rn / 2, limit, room_after(refused))
  end
  return answer
end

if rn == 0 then return told() end

-- The raw uuids of the new tasks: with most events of a busy queue, half the size of text counts.
local function accepted()
  local raw = ARGV[3]
  for k = #answer, 1, -1 do
    local place = math.abs(answer[k])
    raw = sub(raw, 1, (place - 1) * 16) .. sub(raw, place * 16 + 1)
  end
  return raw
end

call('MSET', unpack(records))
if ln > 0 then
  schedule(later)
  call('HINCRBY', queue_key, 'pending', ln / 2)
end
call('XADD', root .. EVENTS, 'MAXLEN', '~', ARGV[1], '*', 'q', accepted())
if marked ~= bands then call('HSET', queue_key, 'bands', marked) end
-- Nobody could start them while the queue is paused.
if rn > ln and byte(gate) ~= 112 then wake() end
if not stored then answer[#answer + 1] = 0 end
return told()
