-- enqueue.lua: accepts tasks of one queue.
-- KEYS  1 root
-- ARGV  1 bound of the event log, 2 number of tasks n (no two of one uuid), then runs of tasks that share all but uuid,
--       payload and keys. Each begins with its kind:
--       's' ready at once: priority, length, names of the records, values of the entries
--       'b' the same of tasks whose uuids end with numbers in a row: priority, length, names of the records, values of the
--           entries, the 34 letters the uuids begin with, the first number, the two letters each ends with
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
if limit then
  before = depth()
  room = math.max(0, limit - before)
end

-- Accepts tasks that are ready at once with records of their own, but for those that are known.
local function one_by_one(prio, count, names, values)
  local known = call('MGET', unpack(ARGV, names + 1, names + count))
  for j = 1, count do
    local value = ARGV[values + j]
    local uuid = sub(value, 1, 36)
    i = i + 1
    if known[j] or fresh(uuid) then
      answer[#answer + 1] = i
    elseif room == 0 then
      refuse()
    else
      accept(uuid)
      note(ARGV[names + j], packed(enter(prio, value), prio))
    end
  end
end

-- A run of the kind 's'.
local function run_singly()
  local prio, count, names = ARGV[at + 1], tonumber(ARGV[at + 2]), at + 2
  at = names + 2 * count + 1
  one_by_one(prio, count, names, names + count)
end

-- A run of the kind 'b': its tasks share one record, unless some are known, or not all have room.
local function run_together()
  local prio, count, names = ARGV[at + 1], tonumber(ARGV[at + 2]), at + 2
  local values = names + count
  local behind = values + count
  local begins, first, ends = ARGV[behind + 1], ARGV[behind + 2], ARGV[behind + 3]
  at = behind + 4
  local known = block_of(begins) or call('EXISTS', unpack(ARGV, names + 1, names + count)) > 0
  if known or room and room < count then return one_by_one(prio, count, names, values) end
  local stream = root .. STREAM .. prio
  local one = call('XADD', stream, '*', 'e', ARGV[values + 1])
  local ms, number = match(one, '^(%d+)-(%d+)$')
  if #number > 12 then
    -- A number that scripts do not reckon with exactly.
    note(ARGV[names + 1], packed(one, prio))
    for j = 2, count do note(ARGV[names + j], packed(add_entry(prio, ARGV[values + j]), prio)) end
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

-- Runs of the kinds '' and 'k', made when it is needed.
local run_later

while i < n do
  local kind = ARGV[at]
  if kind == 'b' then
    run_together()
  elseif kind == 's' then
    run_singly()
  else
    run_later = run_later or make_run_later()
    run_later(kind == 'k')
  end
end

if rn > 0 then call('MSET', unpack(records)) end
if ln > 0 then
  make_schedule()(later)
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
if moved[1] then make_schedule()(moved) end
for _, line in ipairs(told) do answer[#answer + 1] = line end
if refused > 0 then
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

  answer[#answer + 1] = string.format('F %d %d %d', before + made, limit, room_after(refused))
end
return answer
