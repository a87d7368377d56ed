-- singly.lua: the body of `make_singly` in claim.lua: tasks that are looked at one by one. Gives its functions.

local function expire(digit, id, rec, entry, attempt)
  local uuid, task, meta, payload = opened(entry)
  local _, _, keep = policy(meta)
  local s = sections(rec)
  local tail = envelope(task, dated(meta, id), s.p or payload) .. section('h', s.h)
  finish(uuid, 'X' .. attempt .. ' ' .. digit .. ' ' .. now .. ' ' .. id, tail, keep, s)
  count('expired', 1)
  emit('X' .. attempt, uuid)
end

local function park(digit, id, uuid, task)
  local key = root .. STREAM .. digit
  aside[key] = aside[key] or {}
  table.insert(aside[key], id)
  call('ZADD', root .. PARKED .. task, 0, park_name(digit, id, uuid))
end

-- Notes what a task that starts counts for. One that was parked is read again when the consumer group was lost.
local function counts(digit, id, rec, uuid, task)
  if by_kind then call('ZREM', root .. PARKED .. task, park_name(digit, id, uuid)) end
  if cap or by_kind and limit_of(task) then mark(uuid, rec, task) end
end

-- Hands out a ready task, unless it is gone, late, or may not run now. rec: its record, packed or not, or false.
local function start_one(digit, entry, rec)
  local id, uuid, task, meta = entry[1], opened(entry)
  local head, attempt, s = digit .. ' 1 0', 1, {}
  if rec ~= packed(id, digit) then
    rec = plain(rec)
    local letter, ref, _
    attempt, head = 0, nil
    if rec then letter, attempt, _, ref = header(rec) end
    if letter == 'Q' and ref == id then
      s = sections(rec)
      head = digit .. ' ' .. attempt .. ' 0' .. resumes(s)
    end
  end
  if not head then
    emit('A' .. attempt, uuid)
    drop[#drop + 1] = id
  elseif (deadline(meta, id) or math.huge) <= now then
    expire(digit, id, plain(rec), entry, attempt)
    drop[#drop + 1] = id
  elseif by_kind and not admit(uuid, task) then
    park(digit, id, uuid, task)
    passed_over = passed_over + 1
  else
    if gate ~= '' then counts(digit, id, plain(rec), uuid, task) end
    begun(uuid, s)
    hand_out_one(head, id, value_of(entry, s))
    emit('B' .. attempt, uuid)
  end
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
    local rec = entry and read_record(uuid)
    local letter, attempt, _, ref
    if rec then letter, attempt, _, ref = header(rec) end
    local gone = letter ~= 'Q' or ref ~= id
    local meta = entry and select(3, opened(entry))
    local late = not gone and (deadline(meta, id) or math.huge) <= now
    if gone or late then
      -- It may have been taken away meanwhile; an entry whose record names another one is a copy.
      if late then expire(digit, id, rec, entry, attempt) end
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
      begun(uuid, s)
      hand_out_one(digit .. ' ' .. attempt .. ' 0' .. resumes(s), id, value_of(entry, s))
      emit('B' .. attempt, uuid)
    end
    refresh(task)
    if not limit_of(task) and call('EXISTS', freed_key) == 0 then regate() end
  end
end

return { adopt = adopt, running = running, start_one = start_one, hand_out_parked = hand_out_parked }
