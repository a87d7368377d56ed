-- settle.lua: ends attempts.
-- KEYS  1 root
-- ARGV  1 bound of the event log, 2 number of settlements n (no two of one task), then groups that share verdict and band.
--       Each begins with its kind:
--       'o' op, band, attempt, length, number of fields, uuids; then for each: entry id, fields by op
--       'b' first attempts that succeeded and whose records were in one block when they began: op, band, the 34 letters
--           their uuids begin with, ms and base of the block, length, number of fields, the numbers the uuids end with (a byte
--           each), the same as letters, entry ids; then for each: fields by op
--       op and its fields:
--         S0 succeeded, nothing kept: -
--         S  succeeded: tail, retention                 SR the same: tail, retention, result
--         R  retry: tail, delay, why                    P  snooze: tail, delay
--         F  failed, C cancelled: tail, retention, why D  dead letter: tail, retention, why, task
--         V  released: task, meta, payload
--       tail: the envelope as sections; why: '<start> <kind> <message>' for a line of the history.
-- gives i for each stale settlement, -i for each that became cancelled because that had been asked for
-- Invariant: a lease is current if and only if the record is Q with its attempt and its entry. Write order: record,
--       result, dead letter, event, keys that it held, schedule; then the entry is acknowledged and removed.
call('PERSIST', queue_key) -- first, so that a full server still lets tasks finish; see claim.lua

local n, task_key = tonumber(ARGV[2]), root .. TASK
local now = clock()
local answer = {}
local gone, gn = {}, 0
local later, ln = {}, 0
local done = {}
local COUNTERS = { S = 'succeeded', R = 'retries', F = 'failed', D = 'dead_lettered', C = 'cancelled' }

-- What the rest of a step shares, set for each group and settlement: its fields are those behind `at`. i: its number.
local op, band, attempt, at
local i, acks, obeyed = 0, {}, 0

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

local function forget(uuid, rec, lease)
  gn = gn + 1
  gone[gn] = task_key .. uuid
  emit('S' .. attempt, uuid)
  if rec == lease then return leave_block(uuid) end
  local s = sections(rec)
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
  if rec ~= lease then vacate(uuid, sections(rec).l) end
  if op == 'S0' then return forget(uuid, rec, lease) end
  local s = rec == lease and {} or sections(rec)
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

-- A group of the kind 'o'.
local function settle_group()
  attempt = ARGV[at + 3]
  local count, width = tonumber(ARGV[at + 4]), tonumber(ARGV[at + 5])
  local uuids = { unpack(ARGV, at + 6, at + 5 + count) }
  local recs = read_records(uuids)
  at = at + 6 + count
  for j = 1, count do
    i = i + 1
    settle_one(uuids[j], ARGV[at], plain(recs[j]))
    at = at + 1 + width
  end
end

-- Ends a first attempt whose record is in a block.
local function succeed(begins, tail, id)
  local uuid = begins .. tail
  local keep = ARGV[at + 2]
  call('SET', task_key .. uuid, 'S1 ' .. band .. ' ' .. now .. ' ' .. id .. ARGV[at + 1], 'PX', keep)
  if op == 'SR' then call('SET', root .. RESULT .. uuid, ARGV[at + 3], 'PX', keep) end
end

-- A group of the kind 'b'. Those that got a record of their own meanwhile are settled by that.
local function settle_block()
  local begins, count, width = ARGV[at + 3], tonumber(ARGV[at + 6]), tonumber(ARGV[at + 7])
  local block, ends, ids = block_of(begins), ARGV[at + 9], at + 9
  if block and not (block.band == band and block.ms == ARGV[at + 4] and block.base == tonumber(ARGV[at + 5])) then block = nil end
  local letters, first = block and { byte(block.letters, 1, -1) } or {}, block and block.first or 0
  local numbers, theirs, own = { byte(ARGV[at + 8], 1, count) }, {}, {}
  attempt, at = '1', ids + count
  for j = 1, count do
    local place = numbers[j] - first + 1
    if letters[place] == 113 then
      letters[place] = 45
      acks[#acks + 1] = ARGV[ids + j]
      theirs[#theirs + 1] = sub(ends, 2 * j - 1, 2 * j)
      if op ~= 'S0' then succeed(begins, theirs[#theirs], ARGV[ids + j]) end
    else
      own[#own + 1] = { i + j, begins .. sub(ends, 2 * j - 1, 2 * j), ARGV[ids + j], at }
    end
    at = at + width
  end
  if theirs[1] then
    leave(block, string.char(unpack(letters)))
    emit_row('S1', begins, concat(theirs))
  end
  local behind, settled = at, i + count
  for _, it in ipairs(own) do
    i, at = it[1], it[4]
    settle_one(it[2], it[3], read_record(it[2]))
  end
  i, at = settled, behind + 1
end

changed = {}
at = 3
while i < n do
  local kind = ARGV[at]
  op, band, acks, obeyed = ARGV[at + 1], ARGV[at + 2], {}, 0
  if kind == 'b' then settle_block() else settle_group() end
  if acks[1] then
    done[#done + 1] = { root .. STREAM .. band, acks }
    local counter = COUNTERS[sub(op, 1, 1)]
    if counter then count(counter, #acks - obeyed) end
  end
end

write_blocks()
if gn > 0 then call('DEL', unpack(gone)) end
write_tally()
write_events(ARGV[1])
free_held()
wake_for_freed()
if ln > 0 then schedule(later) end
for _, it in ipairs(done) do
  call('XACK', it[1], GROUP, unpack(it[2]))
  call('XDEL', it[1], unpack(it[2]))
end
return answer
