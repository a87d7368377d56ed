-- ready.lua: ready tasks and duplicates of them, for claim.lua.
local function read(stream, want)
  local reply = redis.pcall('XREADGROUP', 'GROUP', GROUP, worker, 'COUNT', want, 'STREAMS', stream, '>')
  if reply and reply.err then
    if find(reply.err, 'NOGROUP', 1, true) then call('XGROUP', 'CREATE', stream, GROUP, '0', 'MKSTREAM') end
    reply = call('XREADGROUP', 'GROUP', GROUP, worker, 'COUNT', want, 'STREAMS', stream, '>')
  end
  return reply and reply[1][2] or {}
end

local function expire(digit, id, rec, entry, attempt)
  local uuid, task, meta, payload = opened(entry)
  local _, _, keep = policy(meta)
  local s = sections(rec)
  local tail = envelope(task, dated(meta, id), s.p or payload) .. section('h', s.h)
  finish(uuid, 'X' .. attempt .. ' ' .. digit .. ' ' .. now .. ' ' .. id, tail, keep, s)
  count('expired', 1)
  emit('X' .. attempt, uuid)
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
local function counts(digit, id, rec, uuid, task)
  if by_kind then call('ZREM', root .. PARKED .. task, park_name(digit, id, uuid)) end
  if cap or by_kind and limit_of(task) then mark(uuid, rec, task) end
end

-- The last of the entries from i on whose records are in one block, or nil. None of them has a time to live: they are alike.
local function end_of_row(digit, entries, i)
  local value = entries[i][2][2]
  local block = sub(value, 33, 34) == ROW_MARK and byte(value, 37) ~= 120 and block_of(sub(value, 1, 34))
  if not block or block.band ~= digit then return nil end
  local ms, number = match(entries[i][1], '^(%d+)-(%d+)$')
  local at = number - block.base - block.first + 1
  if ms ~= block.ms or at < 1 then return nil end
  -- Ids of a stream only rise: when the last one is where it would be in a row without gaps, so are those between.
  local upto = (find(block.letters, '[^q]', at) or #block.letters + 1) - at
  local j = math.min(#entries, i + upto - 1)
  return j >= i and entries[j][1] == ms .. '-' .. number + j - i and j or nil
end

-- The records of entries as read_records gives them; of those that stand in a row in a block, the end of that row where it
-- begins.
local function records_of(digit, entries)
  local recs, uuids, places, i = {}, {}, {}, 1
  while i <= #entries do
    local j = gate == '' and end_of_row(digit, entries, i)
    if j then
      recs[i] = j
      i = j + 1
    else
      places[#places + 1] = i
      uuids[#uuids + 1] = sub(entries[i][2][2], 1, 36)
      i = i + 1
    end
  end
  for k, rec in ipairs(read_records(uuids)) do recs[places[k]] = rec end
  return recs
end

local function start_row(digit, entries, i, j)
  local ends, first = {}, i - 1
  hand_out(digit .. ' 1 0 b', j - first)
  for k = i, j do
    local value = entries[k][2][2]
    out[on + 1] = entries[k][1]
    out[on + 2] = value
    on = on + 2
    ends[k - first] = sub(value, 35, 36)
  end
  emit_row('B1', sub(entries[i][2][2], 1, 34), concat(ends))
end

-- Ids that are to be dropped, and how many were passed over, in this call of start.
local drop, passed_over

-- rec: the record, packed or not, or false.
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

-- Gives the ids that are to be dropped, and how many were passed over.
local function start(digit, entries)
  local recs, i = records_of(digit, entries), 1
  drop, passed_over = {}, 0
  while i <= #entries do
    local rec, last = recs[i], i
    if type(rec) == 'number' then
      last = rec
      start_row(digit, entries, i, last)
    else
      start_one(digit, entries[i], rec)
    end
    i = last + 1
  end
  return drop, passed_over
end
