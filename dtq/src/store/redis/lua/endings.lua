-- endings.lua: the body of `make_others` in settle.lua: settlements of tasks of whose record more is to be said, or that end otherwise
-- than by success. Gives its functions.

local function release(uuid, id, s)
  local entry = add_entry(band, entry_value(uuid, ARGV[at + 1], ARGV[at + 2], ARGV[at + 3]))
  local tail = tail_of(holdings(s) .. section('h', s.h))
  write_record(uuid, 'Q' .. attempt .. ' ' .. band .. ' ' .. entry .. ' v' .. id .. tail)
  local bands = call('HGET', queue_key, 'bands') or ''
  call('HSET', queue_key, 'bands', with_band(bands, band))
  emit('V' .. attempt, uuid)
  wake()
end

-- The line of the history for a '<start> <kind> <message>'.
local function ended(why)
  local start, what = match(why, '^(%d+) (.*)$')
  return attempt .. ' ' .. start .. ' ' .. now .. ' ' .. what
end

local function delay(uuid, id, s)
  local due, history = now + ARGV[at + 2], s.h
  -- One that expires before it is due is looked at then.
  due = looked_at(due, sections(ARGV[at + 1]).m or '', id)
  if op == 'R' then history = noted(history, ended(ARGV[at + 3])) end
  write_record(uuid,
    op .. attempt .. ' ' .. band .. ' ' .. due .. ' ' .. id .. ARGV[at + 1] .. holdings(s) .. section('h', history))
  count(op == 'R' and 'retrying' or 'pending', 1)
  later[ln + 1] = due
  later[ln + 2] = uuid
  ln = ln + 2
  emit('R' .. attempt, uuid)
end

-- When a running attempt began: its verdict or its header tells, or else its lease, which was never renewed.
local function began(id, rec)
  local told = op ~= 'V' and op ~= 'P' and match(ARGV[at + 3], '^%d+') or match(rec, '^[^\n]* s(%d+)')
  if told then return told end
  local held = redis.pcall('XPENDING', root .. STREAM .. band, GROUP, id, id, 1)
  return not held.err and held[1] and now - held[1][3] or now
end

-- A task that was to stop, and did not succeed, is cancelled for the reason that was given. The mark on the entry's id tells that this was not the handler's own wish.
local function obey(uuid, id, s, rec)
  local tail = op == 'V' and envelope(ARGV[at + 1], ARGV[at + 2], ARGV[at + 3]) or ARGV[at + 1]
  local _, _, keep = policy(sections(tail).m)
  local line = attempt .. ' ' .. began(id, rec) .. ' ' .. now .. ' cancelled ' .. s.w
  finish(uuid, 'C' .. attempt .. ' ' .. band .. ' ' .. now .. ' ' .. id .. '!',
    tail .. section('h', noted(s.h, line)), keep, s)
  count('cancelled', 1)
  emit('C' .. attempt, uuid)
end

local function conclude(uuid, id, s)
  local letter, keep = sub(op, 1, 1), tonumber(ARGV[at + 2])
  local line, history = nil, s.h
  if letter ~= 'S' then
    line = ended(ARGV[at + 3])
    history = noted(history, line)
  end
  finish(uuid, letter .. attempt .. ' ' .. band .. ' ' .. now .. ' ' .. id,
    ARGV[at + 1] .. section('h', history), keep, s)
  if op == 'SR' then call('SET', root .. RESULT .. uuid, ARGV[at + 3], 'PX', keep) end
  if op == 'D' then bury(now, uuid, ARGV[at + 4], line) end
  emit(letter .. attempt, uuid)
end

-- True when the record begins with this lease and goes on with flags or sections.
local function extends(rec, lease)
  if not rec or sub(rec, 1, #lease) ~= lease then return false end
  local next_byte = byte(rec, #lease + 1)
  return next_byte == 32 or next_byte == 10
end

-- How a settlement that is not current was answered before, if it was: 'same', 'cancelled' or nil.
local function repeated(rec, id)
  local letter, was, _, _, rest = header(rec)
  if was ~= attempt then return nil end
  if letter == 'Q' then return op == 'V' and match(rest, 'v(%S+)') == id and 'same' or nil end
  if rest == id .. '!' then return byte(op) ~= 83 and 'cancelled' or nil end
  return rest == id and letter == sub(op, 1, 1) and 'same' or nil
end

local function forget(uuid, s)
  drop(uuid)
  emit('S' .. attempt, uuid)
  if s.g then end_notes(uuid, s.g, 0) end
  ends_holding(uuid, 'S', 0, s)
end

-- A settlement whose lease is not current.
local function late(uuid, id, rec)
  local before = rec and repeated(rec, id)
  if before == 'cancelled' then
    answer[#answer + 1] = -i
  elseif not before then
    answer[#answer + 1] = i
    if rec then emit('A' .. attempt, uuid) end
  end
end

local function settle_one(uuid, id, rec)
  local lease = 'Q' .. attempt .. ' ' .. band .. ' ' .. id
  if rec ~= lease and not extends(rec, lease) then return late(uuid, id, rec) end
  acks[#acks + 1] = id
  local s = sections(rec)
  vacate(uuid, s.l)
  if op == 'S0' then return forget(uuid, s) end
  if s.w and byte(op) ~= 83 then -- all but an S
    obey(uuid, id, s, rec)
    obeyed = obeyed + 1
    answer[#answer + 1] = -i
  elseif op == 'V' then
    release(uuid, id, s)
  elseif op == 'R' or op == 'P' then
    delay(uuid, id, s)
  else
    conclude(uuid, id, s)
  end
end

return { settle_one = settle_one, schedule = schedule, free_held = free_held, wake_for_freed = wake_for_freed }
