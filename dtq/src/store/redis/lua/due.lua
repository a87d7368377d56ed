-- due.lua: the body of `promote` in claim.lua: promotes the tasks that are due, and looks at the schedules that are. Gives the
-- head of the schedule after that.

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
  local id = add_entry(prio, entry_value(uuid, s.t, s.m, s.p))
  local tail = tail_of(holdings(s) .. section('h', s.h))
  write_record(uuid, 'Q' .. attempt .. ' ' .. prio .. ' ' .. id .. tail)
  bands = with_band(bands, prio)
  emit(event .. attempt, uuid)
end

-- The place of a schedule that is due moves on a little, so that one worker at a time looks at it.
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

local due, n = {}, 0
for _, member in ipairs(call('ZRANGEBYSCORE', schedule_key, '-inf', now, 'LIMIT', 0, BATCH)) do
  if byte(member, 1) == 64 then
    look_at_one(sub(member, 2))
  else
    n = n + 1
    due[n] = member
  end
end
if n > 0 then
  local recs = read_records(due)
  for i = 1, n do promote_one(due[i], recs[i]) end
  call('ZREM', schedule_key, unpack(due))
end
return call('ZRANGE', schedule_key, 0, 0, 'WITHSCORES')
