-- lost.lua: the body of `look_for_lost` in claim.lua: takes over the tasks of workers that are gone. A consumer's name is its
-- worker's, and the length of its leases; a sign of life's, and how long it counts.

-- how: what became of the owner.
local function take_over(band, stream, id, owner, idle, how)
  local entry = call('XRANGE', stream, id, id)[1]
  local uuid, task, meta, payload, rec
  if entry then
    uuid, task, meta, payload = opened(entry)
    rec = read_record(uuid)
  end
  local letter, attempt, prio, ref, rest
  if rec then letter, attempt, prio, ref, rest = header(rec) end
  if letter ~= 'Q' or ref ~= id then
    done_with(stream, id)
    if uuid then emit('A' .. (attempt or 0), uuid) end
    return true
  end
  local s = sections(rec)
  payload = s.p or payload
  local max, dead, keep = policy(meta)
  local started = match(rest, '^s(%d+)') or match(rest, ' s(%d+)') or now - idle
  local line = attempt .. ' ' .. started .. ' ' .. now
  local final
  if s.w then
    final, line = 'C', line .. ' cancelled ' .. s.w
  else
    owner = string.gsub(owner, '[\\\n]', { ['\\'] = '\\\\', ['\n'] = '\\n' })
    line = line .. ' worker_lost worker ' .. owner .. ' ' .. how
    if tonumber(attempt) >= max then final = dead and 'D' or 'F' end
  end
  local history = section('h', noted(s.h, line))
  if final then
    if final == 'D' then keep = DEAD_KEEP end
    local tail = envelope(task, dated(meta, id), payload) .. history
    -- No entry is named: the old owner's own end of the same kind must not look like a repeat of this one.
    finish(uuid, final .. attempt .. ' ' .. prio .. ' ' .. now .. ' 0', tail, keep, s)
    if final == 'D' then bury(now, uuid, task, line) end
    vacate(uuid, s.l)
    count(final == 'D' and 'dead_lettered' or final == 'F' and 'failed' or 'cancelled', 1)
    emit(final .. attempt, uuid)
    done_with(stream, id)
    return true
  end
  if room == 0 then return false end
  local next_attempt = attempt + 1
  -- It goes on with the slot that it holds.
  write_record(uuid,
    'Q' .. next_attempt .. ' ' .. prio .. ' ' .. id .. '\n' .. section('l', s.l) .. carried(s) .. history)
  call('XCLAIM', stream, GROUP, worker, 0, id, 'JUSTID')
  emit('L' .. attempt, uuid)
  emit('B' .. next_attempt, uuid)
  hand_out_one(band .. ' ' .. next_attempt .. ' 1' .. resumes(s), id, value_of(entry, s))
  return true
end

-- Takes over what one consumer let run out; all that it holds when its worker fell silent.
local budget, left, silent = BATCH, false, {}
local function sweep(digit, stream, name)
  local owner, own, how = worker_of(name), tonumber(match(name, '~(%d+)$')) or lease, 'died or was paused longer than its lease'
  if silent[owner] then own, how = 0, 'died or was cut off: its heartbeats stopped' end
  for _, it in ipairs(call('XPENDING', stream, GROUP, 'IDLE', own, '-', '+', math.max(budget, 1), name)) do
    if budget > 0 and take_over(digit, stream, it[1], owner, it[3], how) then
      budget = budget - 1
    else
      left = true
      return
    end
  end
  -- The consumer may hold more than the list was long.
  left = left or budget == 0
end

-- The consumers of a band: name, entries held, silence in ms.
local function consumers(stream)
  local found = redis.pcall('XINFO', 'CONSUMERS', stream, GROUP)
  if found.err then return nil end
  for i, info in ipairs(found) do
    local about = {}
    for j = 1, #info, 2 do about[info[j]] = info[j + 1] end
    found[i] = about
  end
  return found
end

local gone = {}
heard(now, state[4])
for _, one in ipairs(call('ZRANGEBYSCORE', beats_key, '-inf', now, 'LIMIT', 0, BATCH)) do
  local owner = worker_of(one)
  -- Whoever claims is not gone, whatever its heartbeats say.
  if owner ~= worker_of(worker) then
    silent[owner] = true
    gone[#gone + 1] = one
  end
end
local tidy_now = now >= tonumber(state[3] or 0)
for band = 9, 0, -1 do
  local digit = tostring(band)
  local stream = root .. STREAM .. digit
  local found = consumers(stream)
  -- Also reads every band that exists, whatever the row of digits says.
  if found or call('EXISTS', stream) == 1 then bands = with_band(bands, digit) end
  for _, one in ipairs(found or {}) do
    if one.pending > 0 then
      sweep(digit, stream, one.name)
    elseif tidy_now and one.idle > 600000 and one.name ~= worker then
      -- Holds nothing and was silent for ten minutes: its name is never used again. Not so the name of who asks: it
      -- may have taken over a task since `found` was read, and would lose it with its name.
      call('XGROUP', 'DELCONSUMER', stream, GROUP, one.name)
    end
  end
end
if left then
  more = true
elseif #gone > 0 then
  call('ZREM', beats_key, unpack(gone))
end
sweep_at = left and now or now + math.min(500, math.max(250, math.floor(lease / 4)))
call('HSET', queue_key, 'sweep', sweep_at)
if tidy_now then
  call('XTRIM', root .. DLQ, 'MINID', now - DEAD_KEEP)
  call('HSET', queue_key, 'tidy', now + 60000)
end
