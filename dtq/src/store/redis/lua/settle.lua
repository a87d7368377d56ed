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
-- What settles tasks of other kinds, made when it is needed.
local made
local function others()
  made = made or make_others()
  return made
end

-- Writes the record of an attempt that succeeded, of a task that holds nothing; and its result.
local function keep_success(uuid, id)
  local keep = ARGV[at + 2]
  call('SET', task_key .. uuid, 'S' .. attempt .. ' ' .. band .. ' ' .. now .. ' ' .. id .. ARGV[at + 1], 'PX', keep)
  if op == 'SR' then call('SET', root .. RESULT .. uuid, ARGV[at + 3], 'PX', keep) end
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
    local uuid, id, rec = uuids[j], ARGV[at], plain(recs[j])
    if byte(op) == 83 and rec == 'Q' .. attempt .. ' ' .. band .. ' ' .. id then -- an S of which there is no more to say
      acks[#acks + 1] = id
      if op == 'S0' then
        drop(uuid)
      else
        keep_success(uuid, id)
        leave_block(uuid)
      end
      emit('S' .. attempt, uuid)
    else
      others().settle_one(uuid, id, rec)
    end
    at = at + 1 + width
  end
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
      if op ~= 'S0' then keep_success(begins .. theirs[#theirs], ARGV[ids + j]) end
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
    others().settle_one(it[2], it[3], read_record(it[2]))
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
if ended_ones[1] then others().free_held() end
if vacated then others().wake_for_freed() end
if ln > 0 then others().schedule(later) end
for _, it in ipairs(done) do
  call('XACK', it[1], GROUP, unpack(it[2]))
  call('XDEL', it[1], unpack(it[2]))
end
return answer
