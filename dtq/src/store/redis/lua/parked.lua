-- parked.lua: tasks that were passed over and may start now, for claim.lua.

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
