-- enqueue.lua: accepts tasks of one queue.
-- KEYS  1 root
-- ARGV  1 bound of the event log, 2 number of tasks n (no two of one uuid), then runs of tasks that share all but uuid,
--       payload and keys. Each begins with its kind:
--       'b' ready at once, uuids that end with numbers in a row: priority, the 34 letters they begin with, the first
--           number, the two letters each ends with, length, values of the entries, names of the records
--       ''  priority, due, task, meta, length, uuids, payloads
--       'k' the same with keys, and in place of the payloads for each: payload, how long the idempotency key is remembered
--           (ms; '' for none), that key, how the unique key is held ('' for none, else s, f or p), its period (ms; '' for
--           none), that key, what to do on a conflict (s skip, r replace, d reschedule, e error)
--       due: '' now, 'a<ms>' after, '@<ms>' at. The time of acceptance is put into a meta when needed.
-- gives the places (1..n) of the tasks that were known before, negative ones of those for which there was no room, and 0
--       when nothing was known of the queue; then, of those that another task stands for: '<place> <what> <its uuid>', where
--       what is K (known), P (refused: in progress) or U (refused: its unique key is held); at the end, when there was no
--       room for some: 'F <depth> <limit> <ms until there may be room>'
-- Invariant: a task has a record if and only if it was accepted; with the record, an entry or a place in the schedule.
local n, task_key = tonumber(ARGV[2]), root .. TASK
local now = clock()
local records, rn = {}, 0
local later, ln = {}, 0
local answer, told = {}, {}
local state = call('HMGET', queue_key, 'bands', 'gate', 'pending', 'retrying')
local stored, gate = state[1], state[2] or ''
local bands = stored or ''
local marked = bands
-- Where the next run begins, how many tasks were looked at, and how many were accepted.
local at, i, made = 3, 0, 0

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

-- Notes that a task was accepted.
local function accept(uuid)
  if room then room = room - 1 end
  made = made + 1
  emit('Q1', uuid)
end

local function enter(uuid, prio, value)
  marked = with_band(marked, prio)
  return add_entry(prio, value)
end

-- A fresh task's own record, for the end of the step.
local function note(uuid, rec)
  records[rn + 1] = task_key .. uuid
  records[rn + 2] = rec
  rn = rn + 2
end

local function put_on_schedule(uuid, due)
  later[ln + 1] = due
  later[ln + 2] = uuid
  ln = ln + 2
end

local function delayed(prio, due, task, meta, payload)
  return 'P1 ' .. prio .. ' ' .. due .. ' 0' .. envelope(task, meta .. 'a' .. now, payload)
end

-- Holders of keys that got a new due time.
local moved = {}

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
  accept(uuid)
  local rec
  if due then
    rec = delayed(prio, due, task, meta, payload)
    put_on_schedule(uuid, due)
  else
    rec = 'Q1 ' .. prio .. ' ' .. enter(uuid, prio, entry_value(uuid, task, meta, payload)) .. '\n'
  end
  local held = take_keys(uuid, ARGV[at + 1], ARGV[at + 2], ARGV[at + 3], ARGV[at + 4], ARGV[at + 5])
  write_record(uuid, rec .. held)
end

-- A run of the kinds '' and 'k'.
local function run(keyed)
  local prio, asked, task, meta, count = ARGV[at + 1], due_time(ARGV[at + 2]), ARGV[at + 3], ARGV[at + 4], ARGV[at + 5]
  local due = asked and looked_at(asked, meta .. 'a' .. now, '')
  local uuids = { unpack(ARGV, at + 6, at + 5 + count) }
  local known = read_records(uuids)
  at = at + 6 + count
  for j, uuid in ipairs(uuids) do
    i = i + 1
    if known[j] then
      answer[#answer + 1] = i
    elseif keyed then
      submit(uuid, prio, asked, due, task, meta)
    elseif room == 0 then
      refuse()
    else
      accept(uuid)
      if due then
        note(uuid, delayed(prio, due, task, meta, ARGV[at]))
        put_on_schedule(uuid, due)
      else
        note(uuid, packed(enter(uuid, prio, entry_value(uuid, task, meta, ARGV[at])), prio))
      end
    end
    at = at + (keyed and 7 or 1)
  end
end

-- A run of the kind 'b' of which some are known, or not all have room: each gets a record of its own.
local function one_by_one(prio, begins, ends, count, values)
  local uuids = {}
  for j = 1, count do uuids[j] = begins .. sub(ends, 2 * j - 1, 2 * j) end
  local known = read_records(uuids)
  for j, uuid in ipairs(uuids) do
    i = i + 1
    if known[j] then
      answer[#answer + 1] = i
    elseif room == 0 then
      refuse()
    else
      accept(uuid)
      note(uuid, packed(enter(uuid, prio, ARGV[values + j]), prio))
    end
  end
end

-- A run of the kind 'b': its tasks share one record.
local function run_together()
  local prio, begins, first, ends, count = ARGV[at + 1], ARGV[at + 2], ARGV[at + 3], ARGV[at + 4], tonumber(ARGV[at + 5])
  local values = at + 5
  local keys = values + count
  at = keys + count + 1
  local known = block_of(begins) or call('EXISTS', unpack(ARGV, keys + 1, keys + count)) > 0
  if known or room and room < count then return one_by_one(prio, begins, ends, count, values) end
  local stream = root .. STREAM .. prio
  local one = call('XADD', stream, '*', 'e', ARGV[values + 1])
  local ms, number = match(one, '^(%d+)-(%d+)$')
  if #number > 12 then
    -- A number that scripts do not reckon with exactly.
    note(begins .. sub(ends, 1, 2), packed(one, prio))
    for j = 2, count do note(begins .. sub(ends, 2 * j - 1, 2 * j), packed(add_entry(prio, ARGV[values + j]), prio)) end
  else
    -- The others' numbers follow, also when the clock goes on meanwhile. Servers before 7.0 do not count by themselves.
    local id, named = redis.REDIS_VERSION_NUM and ms .. '-*', ms .. '-'
    for j = 2, count do call('XADD', stream, id or named .. number + j - 1, 'e', ARGV[values + j]) end
    call('SET', root .. BLOCK .. begins,
      prio .. ' ' .. ms .. ' ' .. number - first .. ' ' .. first .. '\n' .. string.rep('q', count))
    blocks[begins] = nil
  end
  marked = with_band(marked, prio)
  emit_row('Q1', begins, ends)
  if room then room = room - count end
  i, made = i + count, made + count
end

while i < n do
  local kind = ARGV[at]
  if kind == 'b' then run_together() else run(kind == 'k') end
end

if rn > 0 then call('MSET', unpack(records)) end
if ln > 0 then
  schedule(later)
  count('pending', ln / 2)
end
write_tally()
write_events(ARGV[1])
if made > 0 then
  if marked ~= bands then call('HSET', queue_key, 'bands', marked) end
  -- Nobody could start them while the queue is paused.
  if made > ln / 2 and byte(gate) ~= 112 then wake() end
  if not stored then answer[#answer + 1] = 0 end
end
if moved[1] then schedule(moved) end
for _, line in ipairs(told) do answer[#answer + 1] = line end
if refused > 0 then
  answer[#answer + 1] = string.format('F %d %d %d', before + made, limit, room_after(refused))
end
return answer
