-- claim.lua: promotes what is due, takes over what was lost, hands out what is ready.
-- KEYS  1 root
-- ARGV  1 bound of the event log, 2 consumer, 3 max (at most BATCH), 4 lease ms, 5 what is asked beside: s look for lost
--       tasks now, w keep watch for what becomes due, 6 how long the worker may be silent (ms), then, to hand out again what it never heard of: 7 '1', and what it
--       holds, each as '<band>:<entry>'
-- gives now, more (0, 1; 2: the queue is paused), ms until the next due task (-1: none, or another watches), ms until
--       somebody may be found gone (-1: there is nobody), then for each task:
--       '<band> <attempt> <reclaimed>' and ' c' when it left a checkpoint, entry id, uuid, task, meta, payload; at the end,
--       when schedules are due, a list of their names and texts
-- Invariant: a task is running if and only if its record is Q and the entry that the record names is in the pending
--       list. An entry is acknowledged here only when its record names another one, or is finished in this very step.
--       Write order: record, dead letter, event, keys that were held; then what is done with is acknowledged and removed.
local worker, room, lease = ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])
local now = clock()

-- The first write of a script decides whether a full server refuses it. This one is never refused, so workers can
-- drain a server that has no memory left for new tasks.
call('PERSIST', queue_key)

local state = call('HMGET', queue_key, 'bands', 'sweep', 'tidy', 'seen', 'gate', 'watch')
local stored = state[1] or ''
local bands = stored
local out, on = { now, 0, -1, -1 }, 4
local more = false
local sweep_at = tonumber(state[2] or 0)

-- What holds the queue back; see slots.lua.
local gate = state[5] or ''
local paused, cap = byte(gate) == 112, tonumber(match(gate, 'c(%d+)'))
local by_kind = find(gate, 't', 1, true)
if find(gate, 'a', 1, true) and not paused then
  adopting = true
  more = not adopt()
end

local function hand_out(head, id, fields)
  out[on + 1] = head
  out[on + 2] = id
  out[on + 3] = fields[2]
  out[on + 4] = fields[4]
  out[on + 5] = fields[6]
  out[on + 6] = fields[8]
  on = on + 6
  room = room - 1
end

-- What a head says more of a task that left a checkpoint.
local function resumes(s)
  return s.g and find(s.g, 'c', 1, true) and ' c' or ''
end

-- Entries that are done with, by their streams. They go at the end of the step.
local done = {}

local function done_with(stream, id)
  local ids = done[stream] or {}
  ids[#ids + 1] = id
  done[stream] = ids
end

-- 1. Due tasks, and schedules.
local schedule_key = root .. SCHEDULE

local function promote_one(uuid, rec)
  if not rec then return emit('A0', uuid) end
  local letter, attempt, prio = header(rec)
  local s = sections(rec)
  if (letter ~= 'P' and letter ~= 'R') or not s.p then return emit('A' .. (attempt or 0), uuid) end
  local limit = deadline(s.m)
  count(letter == 'P' and 'pending' or 'retrying', -1)
  if limit and limit <= now then
    local _, _, keep = policy(s.m)
    local tail = envelope(s.t, s.m, s.p) .. section('h', s.h)
    finish(uuid, 'X' .. attempt .. ' ' .. prio .. ' ' .. now .. ' 0', tail, keep, s)
    count('expired', 1)
    return emit('X' .. attempt, uuid)
  end
  local event = 'Q'
  if letter == 'R' then
    event = 'T'
    attempt = attempt + 1
  end
  local id = call('XADD', root .. STREAM .. prio, '*', 'i', uuid, 't', s.t, 'm', s.m, 'p', s.p)
  local tail = tail_of(holdings(s) .. section('h', s.h))
  call('SET', root .. TASK .. uuid, 'Q' .. attempt .. ' ' .. prio .. ' ' .. id .. tail)
  bands = with_band(bands, prio)
  emit(event .. attempt, uuid)
end

-- Schedules that are due. Their places move on a little, so that one worker at a time looks at each.
local ticks = {}

local function look_at_one(name)
  local plan, text = read_plan(name)
  if not plan or plan.paused == '1' and plan.left == '0' then return call('ZREM', schedule_key, '@' .. name) end
  if plan.origin == 'a' or now < tonumber(plan.til) then
    ticks[#ticks + 1] = name
    ticks[#ticks + 1] = text
    call('ZADD', schedule_key, now + TICK_HELD, '@' .. name)
  elseif plan.left == '0' then
    plan.left = '1'
    write_plan(name, plan)
    call('ZADD', schedule_key, now + UNDECLARED_KEPT, '@' .. name)
  else
    call('HDEL', schedules_key, name)
    call('ZREM', schedule_key, '@' .. name)
  end
end

-- A paused queue fires no ticks, and what is due waits.
local head = paused and {} or call('ZRANGE', schedule_key, 0, 0, 'WITHSCORES')
if head[2] and tonumber(head[2]) <= now then
  local due, keys, n = {}, {}, 0
  for _, member in ipairs(call('ZRANGEBYSCORE', schedule_key, '-inf', now, 'LIMIT', 0, BATCH)) do
    if byte(member, 1) == 64 then
      look_at_one(sub(member, 2))
    else
      n = n + 1
      due[n], keys[n] = member, root .. TASK .. member
    end
  end
  if n > 0 then
    local recs = call('MGET', unpack(keys))
    for i = 1, n do promote_one(due[i], recs[i]) end
    call('ZREM', schedule_key, unpack(due))
  end
  head = call('ZRANGE', schedule_key, 0, 0, 'WITHSCORES')
end
if head[2] then
  out[3] = math.max(0, head[2] - now)
  more = more or out[3] == 0
end

-- 2. Tasks that were handed to this worker, which never heard of them. Their attempt has not begun.
local function hand_out_unheard(held)
  for band = 9, 0, -1 do
    local digit, from = tostring(band), '-'
    local stream = root .. STREAM .. digit
    while true do
      local page = redis.pcall('XPENDING', stream, GROUP, from, '+', BATCH, worker)
      if page.err then break end
      for _, it in ipairs(page) do
        local id = it[1]
        local entry = not held[digit .. ':' .. id] and call('XRANGE', stream, id, id)[1]
        local rec = entry and plain(call('GET', root .. TASK .. entry[2][2]))
        local letter, attempt, _, ref
        if rec then letter, attempt, _, ref = header(rec) end
        if letter == 'Q' and ref == id then
          if room == 0 then
            more = true
            return
          end
          call('XCLAIM', stream, GROUP, worker, 0, id, 'JUSTID')
          entry[2][8] = sections(rec).p or entry[2][8]
          hand_out(digit .. ' ' .. attempt .. ' 0' .. resumes(sections(rec)), id, entry[2])
        end
      end
      if #page < BATCH then break end
      from = '(' .. page[#page][1]
    end
  end
end

if ARGV[7] == '1' then
  local held = {}
  for i = 8, #ARGV do held[ARGV[i]] = true end
  hand_out_unheard(held)
end

-- Whoever holds something here gave a sign of life just now.
local function note_life()
  if on > 4 then call('ZADD', root .. BEATS, now + ARGV[6], measured(match(worker, '^(.*)~%d+$') or worker, ARGV[6])) end
end

-- One worker at a time keeps watch for what becomes due, until its next claim; the others look in a little later. Gives true
-- when somebody is to be woken for that: a worker without room left of its own cannot come back in time.
local function keep_watch()
  local due, can, left = tonumber(head[2]), find(ARGV[5], 'w', 1, true) ~= nil, ARGV[3] - (on - 4) / 6
  local watched, back, keeper = match(state[6] or '', '^(%d+) (%d+) (.+)$')
  local mine = keeper == worker
  local kept = keeper and not mine and tonumber(back) > now and due and tonumber(watched) <= due
  if due and can and (left > 0 or mine and ARGV[3] == '0') then
    if kept then
      local late = out[3] + WATCH_LATE
      out[3], out[4] = -1, out[4] < 0 and late or math.min(out[4], late)
    elseif not mine or tonumber(watched) ~= due or back - now < ARGV[6] / 4 then
      call('HSET', queue_key, 'watch', due .. ' ' .. now + math.ceil(ARGV[6] / 2) .. ' ' .. worker)
    end
    return false
  end
  if mine then call('HDEL', queue_key, 'watch') end
  if can then out[3] = -1 end
  return due and not kept and (mine or can)
end

if paused then
  out[2] = 2
  keep_watch()
  note_life()
  call('DEL', root .. WAKE)
  return out
end

-- 3. Lost tasks. A consumer's name is its worker's, and the length of its leases; a sign of life's, and how long it counts.
local beats_key = root .. BEATS

local function worker_of(name)
  return match(name, '^(.*)~%d+$') or name
end

-- how: what became of the owner.
local function take_over(band, stream, id, owner, idle, how)
  local entry = call('XRANGE', stream, id, id)[1]
  local fields = entry and entry[2]
  local uuid = fields and fields[2]
  local rec = uuid and plain(call('GET', root .. TASK .. uuid))
  local letter, attempt, prio, ref, rest
  if rec then letter, attempt, prio, ref, rest = header(rec) end
  if letter ~= 'Q' or ref ~= id then
    done_with(stream, id)
    if uuid then emit('A' .. (attempt or 0), uuid) end
    return true
  end
  local s = sections(rec)
  fields[8] = s.p or fields[8]
  local task, meta, payload = fields[4], fields[6], fields[8]
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
  call('SET', root .. TASK .. uuid,
    'Q' .. next_attempt .. ' ' .. prio .. ' ' .. id .. '\n' .. section('l', s.l) .. carried(s) .. history)
  call('XCLAIM', stream, GROUP, worker, 0, id, 'JUSTID')
  emit('L' .. attempt, uuid)
  emit('B' .. next_attempt, uuid)
  hand_out(band .. ' ' .. next_attempt .. ' 1' .. resumes(s), id, fields)
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

if find(ARGV[5], 's', 1, true) or now >= sweep_at then
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
end

-- 4. Ready tasks, and 5. duplicates.
local function read(stream, want)
  local reply = redis.pcall('XREADGROUP', 'GROUP', GROUP, worker, 'COUNT', want, 'STREAMS', stream, '>')
  if reply and reply.err then
    if find(reply.err, 'NOGROUP', 1, true) then call('XGROUP', 'CREATE', stream, GROUP, '0', 'MKSTREAM') end
    reply = call('XREADGROUP', 'GROUP', GROUP, worker, 'COUNT', want, 'STREAMS', stream, '>')
  end
  return reply and reply[1][2] or {}
end

local function expire(digit, id, rec, fields, attempt)
  local task, meta, payload = fields[4], fields[6], fields[8]
  local _, _, keep = policy(meta)
  local s = sections(rec)
  local tail = envelope(task, dated(meta, id), s.p or payload) .. section('h', s.h)
  finish(fields[2], 'X' .. attempt .. ' ' .. digit .. ' ' .. now .. ' ' .. id, tail, keep, s)
  count('expired', 1)
  emit('X' .. attempt, fields[2])
end

-- Entries that stay where they are, and are nobody's: no more of their kind may run.
local aside = {}

local function park(digit, id, uuid, task)
  local key = root .. STREAM .. digit
  aside[key] = aside[key] or {}
  table.insert(aside[key], id)
  call('ZADD', root .. PARKED .. task, 0, park_name(digit, id, uuid))
end

-- Notes what a task that starts counts for. One that was parked is read again when the consumer group was lost.
local function counts(digit, id, rec, fields)
  local uuid, task = fields[2], fields[4]
  if by_kind then call('ZREM', root .. PARKED .. task, park_name(digit, id, uuid)) end
  if cap or by_kind and limit_of(task) then mark(uuid, plain(rec), task) end
end

-- Gives the ids that are to be dropped, and how many were passed over.
local function start(digit, entries)
  local keys, drop, passed_over = {}, {}, 0
  local task_key = root .. TASK
  for i = 1, #entries do keys[i] = task_key .. entries[i][2][2] end
  local recs = call('MGET', unpack(keys))
  local first = digit .. ' 1 0'
  for i = 1, #entries do
    local id, fields, rec = entries[i][1], entries[i][2], recs[i]
    local attempt, told, s = 1, first, nil
    if rec ~= packed(id, digit) then
      rec = plain(rec)
      local letter, ref, _
      attempt, told = 0, nil
      if rec then letter, attempt, _, ref = header(rec) end
      if letter == 'Q' and ref == id then
        s = sections(rec)
        told = digit .. ' ' .. attempt .. ' 0' .. resumes(s)
      end
    end
    if not told then
      emit('A' .. attempt, fields[2])
      drop[#drop + 1] = id
    elseif byte(fields[6], 1) == 120 and (deadline(fields[6], id) or math.huge) <= now then
      expire(digit, id, rec, fields, attempt)
      drop[#drop + 1] = id
    elseif by_kind and not admit(fields[2], fields[4]) then
      park(digit, id, fields[2], fields[4])
      passed_over = passed_over + 1
    else
      if gate ~= '' then counts(digit, id, rec, fields) end
      if s then
        fields[8] = s.p or fields[8]
        begun(fields[2], s)
      end
      hand_out(told, id, fields)
      emit(told == first and 'B1' or 'B' .. attempt, fields[2])
    end
  end
  return drop, passed_over
end

-- How many tasks of the queue run, without those that end in this step.
local function running()
  local sum = 0
  for _, ids in pairs(done) do sum = sum - #ids end
  for band = 0, 9 do
    local groups = redis.pcall('XINFO', 'GROUPS', root .. STREAM .. band)
    for _, group in ipairs(groups.err and {} or groups) do
      for j = 1, #group, 2 do
        if group[j] == 'pending' then sum = sum + group[j + 1] end
      end
    end
  end
  return sum
end

-- The kind whose best comes first of all, and that best one. The order of kinds is no finer than a millisecond.
local function best_freed()
  local first = call('ZRANGE', freed_key, 0, 0, 'WITHSCORES')
  if not first[1] then return nil end
  local task, best = first[1], call('ZRANGE', root .. PARKED .. first[1], 0, 0)[1]
  for _, other in ipairs(best and call('ZRANGEBYSCORE', freed_key, first[2], first[2]) or {}) do
    local its = call('ZRANGE', root .. PARKED .. other, 0, 0)[1]
    if its and its < best then task, best = other, its end
  end
  return task, best
end

-- Hands out the best of those that were passed over and may start now, down to a band. They came before all that was never
-- read.
local dropped = 0
local function hand_out_parked(least)
  while room > 0 and dropped < BATCH do
    local task, best = best_freed()
    if not best then
      if task then call('ZREM', freed_key, task) end
      return
    end
    local digit, id, uuid = parked_at(best)
    if digit < least then return end
    local stream = root .. STREAM .. digit
    local entry = call('XRANGE', stream, id, id)[1]
    local rec = entry and plain(call('GET', root .. TASK .. uuid))
    local letter, attempt, _, ref
    if rec then letter, attempt, _, ref = header(rec) end
    local gone = letter ~= 'Q' or ref ~= id
    local late = not gone and (deadline(entry[2][6], id) or math.huge) <= now
    if gone or late then
      -- It may have been taken away meanwhile; an entry whose record names another one is a copy.
      if late then expire(digit, id, rec, entry[2], attempt) end
      if entry then
        if gone then emit('A' .. (attempt or 0), uuid) end
        done_with(stream, id)
      end
      call('ZREM', root .. PARKED .. task, best)
      dropped = dropped + 1
    elseif admit(uuid, task) then
      call('ZREM', root .. PARKED .. task, best)
      call('XCLAIM', stream, GROUP, worker, 0, id, 'FORCE', 'JUSTID')
      if cap or limit_of(task) then mark(uuid, rec, task) end
      local s = sections(rec)
      entry[2][8] = s.p or entry[2][8]
      begun(uuid, s)
      hand_out(digit .. ' ' .. attempt .. ' 0' .. resumes(s), id, entry[2])
      emit('B' .. attempt, uuid)
    end
    refresh(task)
    if not limit_of(task) and call('EXISTS', freed_key) == 0 then regate() end
  end
end

-- No more than the queue's limit leaves. What was taken over above ran before, so it counts already.
local more_before, capped = more, false
if cap then
  local left = math.max(0, cap - running())
  capped = left < room
  if capped then room = left end
end

for digit in string.gmatch(bands, '%d') do
  local stream = root .. STREAM .. digit
  if by_kind then hand_out_parked(digit) end
  while room > 0 and dropped < BATCH do
    local want = math.min(room, BATCH - dropped)
    local entries = read(stream, want)
    local last = entries[#entries]
    if last then
      local drop, passed_over = start(digit, entries)
      for _, id in ipairs(drop) do done_with(stream, id) end
      dropped = dropped + #drop + passed_over
    end
    if #entries < want or not call('XRANGE', stream, '(' .. last[1], '+', 'COUNT', 1)[1] then
      bands = string.gsub(bands, digit, '')
      break
    elseif room == 0 or dropped >= BATCH then
      more = true
    end
  end
  if room == 0 or dropped >= BATCH then break end
end
if by_kind then
  hand_out_parked('0')
  more = more or call('EXISTS', freed_key) == 1
end
-- Then only the end of a running task makes room, and that wakes somebody.
local waits_for_an_end = capped and room == 0
if waits_for_an_end then more = more_before end

-- A band's digit may outlive its tasks: only an entry that was never handed out tells that there is more.
local function holds_ready(stream)
  local groups = redis.pcall('XINFO', 'GROUPS', stream)
  if groups.err then return false end
  local from = '-'
  for _, group in ipairs(groups) do
    for j = 1, #group, 2 do
      if group[j] == 'last-delivered-id' then from = '(' .. group[j + 1] end
    end
  end
  return call('XRANGE', stream, from, '+', 'COUNT', 1)[1] ~= nil
end

if not more and not waits_for_an_end and (room == 0 or dropped >= BATCH) then
  for digit in string.gmatch(bands, '%d') do
    if holds_ready(root .. STREAM .. digit) then
      more = true
      break
    end
    bands = string.gsub(bands, digit, '')
  end
end
if bands ~= stored then call('HSET', queue_key, 'bands', bands) end
note_life()
-- Who has room left comes back when the silence of another may be over.
if on == 4 or room > 0 then
  local first = call('ZRANGE', beats_key, 0, 1, 'WITHSCORES')
  local other = first[1] and worker_of(first[1]) == worker_of(worker) and 3 or 1
  if first[other] then out[4] = math.max(0, math.max(first[other + 1], sweep_at) - now) end
end
local unwatched = (head[2] or state[6]) and keep_watch()
write_tally()
write_events(ARGV[1])
free_held()
if more then
  out[2] = 1
  wake()
elseif unwatched then
  wake()
else
  call('DEL', root .. WAKE)
end
for stream, ids in pairs(aside) do call('XACK', stream, GROUP, unpack(ids)) end
for stream, ids in pairs(done) do
  call('XACK', stream, GROUP, unpack(ids))
  call('XDEL', stream, unpack(ids))
end
if ticks[1] then out[on + 1] = ticks end
return out
