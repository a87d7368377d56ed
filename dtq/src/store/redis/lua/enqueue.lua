-- enqueue.lua: accepts tasks of one queue.
-- KEYS  1 root
-- ARGV  1 bound of the event log, 2 number of tasks n, 3 their uuids in 16 bytes each, then n uuids (no two alike),
--       then runs of tasks that differ in uuid and payload only: priority, due, task, meta, length, payloads.
--       due: '' now, 'a<ms>' after, '@<ms>' at. The time of acceptance is put into a meta when needed.
--       A length 'k<n>' is that of a run of tasks with keys; there each payload is followed by: how long the idempotency
--       key is remembered (ms; '' for none), that key, how the unique key is held ('' for none, else s, f or p), its
--       period (ms; '' for none), that key, what to do on a conflict (s skip, r replace, d reschedule, e error)
-- gives the places (1..n) of the tasks that were known before, negative ones of those for which there was no room, and 0
--       when nothing was known of the queue; then, of those that another task stands for: '<place> <what> <its uuid>', where
--       what is K (known), P (refused: in progress) or U (refused: its unique key is held); at the end, when there was no
--       room for some: 'F <depth> <limit> <ms until there may be room>'
-- Invariant: a task has a record if and only if it was accepted; with the record, an entry or a place in the schedule.
local n = tonumber(ARGV[2])
local keys, task_key = {}, root .. TASK
for i = 1, n do keys[i] = task_key .. ARGV[i + 3] end
local known = call('MGET', unpack(keys))

local now = clock()
local records, rn = {}, 0
local later, ln = {}, 0
local answer, told = {}, {}
local state = call('HMGET', queue_key, 'bands', 'gate', 'pending', 'retrying')
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

-- What is ready or scheduled. The gauges know of the tasks only; the places of schedules are on the schedule, too.
local function depth()
  local sum = (state[3] or 0) + (state[4] or 0)
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

local function refuse()
  answer[#answer + 1] = -i
  refused = refused + 1
end

local function enter(uuid, prio, task, meta, payload)
  local id = call('XADD', root .. STREAM .. prio, '*', 'i', uuid, 't', task, 'm', meta, 'p', payload)
  marked = with_band(marked, prio)
  return id
end

local function put_on_schedule(uuid, due)
  later[ln + 1] = due
  later[ln + 2] = uuid
  ln = ln + 2
end

local function delayed(prio, due, task, meta, payload)
  return 'P1 ' .. prio .. ' ' .. due .. ' 0' .. envelope(task, meta .. 'a' .. now, payload)
end

-- Tasks that hold keys, and holders that got a new due time.
local made, moved = 0, {}

-- What stands for a submission under keys: what and uuid, or nothing when it is to be made.
local function stands_for(due, payload)
  if ARGV[at + 1] ~= '' then
    local uuid, letter = of_key(ARGV[at + 2])
    if uuid then return waits_or_runs(letter) and 'P' or 'K', uuid end
  end
  if ARGV[at + 3] ~= '' then
    local uuid, rec = of_lock(ARGV[at + 5])
    if uuid then return conflict(ARGV[at + 6], uuid, rec, payload, due, now, moved), uuid end
  end
end

-- A submission under keys.
local function submit(uuid, prio, asked, due, task, meta)
  local payload = ARGV[at]
  local what, other = stands_for(asked, payload)
  if what then
    answer[#answer + 1] = i
    told[#told + 1] = i .. ' ' .. what .. ' ' .. other
    return
  end
  if room == 0 then return refuse() end
  if room then room = room - 1 end
  local rec
  if due then
    rec = delayed(prio, due, task, meta, payload)
    put_on_schedule(uuid, due)
  else
    rec = 'Q1 ' .. prio .. ' ' .. enter(uuid, prio, task, meta, payload) .. '\n'
  end
  local held = take_keys(uuid, ARGV[at + 1], ARGV[at + 2], ARGV[at + 3], ARGV[at + 4], ARGV[at + 5])
  call('SET', keys[i], rec .. held)
  made = made + 1
end

while i < n do
  local prio, task, meta, length = ARGV[at], ARGV[at + 2], ARGV[at + 3], ARGV[at + 4]
  local asked, keyed = due_time(ARGV[at + 1]), byte(length) == 107
  local due = asked and looked_at(asked, meta .. 'a' .. now, '')
  local stop, width = i + (keyed and sub(length, 2) or length), keyed and 7 or 1
  at = at + 5
  while i < stop do
    i = i + 1
    if known[i] then
      answer[#answer + 1] = i
    elseif keyed then
      submit(ARGV[i + 3], prio, asked, due, task, meta)
    elseif room == 0 then
      refuse()
    else
      if room then room = room - 1 end
      records[rn + 1] = keys[i]
      if due then
        records[rn + 2] = delayed(prio, due, task, meta, ARGV[at])
        put_on_schedule(ARGV[i + 3], due)
      else
        records[rn + 2] = packed(enter(ARGV[i + 3], prio, task, meta, ARGV[at]), prio)
      end
      rn = rn + 2
    end
    at = at + width
  end
end

-- The raw uuids of the new tasks: with most events of a busy queue, half the size of text counts.
local function accepted()
  local raw = ARGV[3]
  for k = #answer, 1, -1 do
    local place = math.abs(answer[k])
    raw = sub(raw, 1, (place - 1) * 16) .. sub(raw, place * 16 + 1)
  end
  return raw
end

if rn > 0 then call('MSET', unpack(records)) end
if ln > 0 then
  schedule(later)
  call('HINCRBY', queue_key, 'pending', ln / 2)
end
if rn / 2 + made > 0 then
  call('XADD', root .. EVENTS, 'MAXLEN', '~', ARGV[1], '*', 'q', accepted())
  if marked ~= bands then call('HSET', queue_key, 'bands', marked) end
  -- Nobody could start them while the queue is paused.
  if rn / 2 + made > ln / 2 and byte(gate) ~= 112 then wake() end
  if not stored then answer[#answer + 1] = 0 end
end
if moved[1] then
  write_tally()
  write_events(ARGV[1])
  schedule(moved)
end
for _, line in ipairs(told) do answer[#answer + 1] = line end
if refused > 0 then
  answer[#answer + 1] = string.format('F %d %d %d', before + rn / 2 + made, limit, room_after(refused))
end
return answer
