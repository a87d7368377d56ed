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

-- True when a block is the record of all entries from i to j, and none has a time to live: these are of one kind.
local function in_block(digit, entries, i, j)
  local value = entries[i][2][2]
  local block = byte(value, 37) ~= 120 and block_of(sub(value, 1, 34))
  if not block or block.band ~= digit then return false end
  local ms, first = match(entries[i][1], '^(%d+)-(%d+)$')
  local last_ms, last = match(entries[j][1], '^(%d+)-(%d+)$')
  if ms ~= block.ms or last_ms ~= ms or last - first ~= j - i then return false end
  local at = first - block.base - block.first + 1
  return at >= 1 and sub(block.letters, at, at + j - i) == string.rep('q', j - i + 1)
end

-- The records of entries: true for those in blocks, else as read_records gives them.
local function records_of(digit, entries)
  local recs, uuids, places, i = {}, {}, {}, 1
  while i <= #entries do
    local begins, j = sub(entries[i][2][2], 1, 34), i
    if gate == '' and sub(begins, 33) == ROW_MARK then
      while entries[j + 1] and sub(entries[j + 1][2][2], 1, 34) == begins do j = j + 1 end
    end
    if j > i and in_block(digit, entries, i, j) then
      for k = i, j do recs[k] = true end
    else
      for k = i, j do
        places[#places + 1] = k
        uuids[#uuids + 1] = sub(entries[k][2][2], 1, 36)
      end
    end
    i = j + 1
  end
  for k, rec in ipairs(read_records(uuids)) do recs[places[k]] = rec end
  return recs
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
    hand_out(head, id, value_of(entry, s))
    emit('B' .. attempt, uuid)
  end
end

-- Gives the ids that are to be dropped, and how many were passed over.
local function start(digit, entries)
  local recs, first = records_of(digit, entries), digit .. ' 1 0 b'
  drop, passed_over = {}, 0
  for i = 1, #entries do
    local entry = entries[i]
    if recs[i] == true then
      local value = entry[2][2]
      hand_out(first, entry[1], value)
      emit_row('B1', sub(value, 1, 34), sub(value, 35, 36))
    else
      start_one(digit, entry, recs[i])
    end
  end
  return drop, passed_over
end
