-- ready.lua: ready tasks, for claim.lua.

-- What looks at tasks one by one, made when it is needed.
local one_by_one
local function singly()
  one_by_one = one_by_one or make_singly()
  return one_by_one
end

local function read(stream, want)
  local reply = redis.pcall('XREADGROUP', 'GROUP', GROUP, worker, 'COUNT', want, 'STREAMS', stream, '>')
  if reply and reply.err then
    if find(reply.err, 'NOGROUP', 1, true) then call('XGROUP', 'CREATE', stream, GROUP, '0', 'MKSTREAM') end
    reply = call('XREADGROUP', 'GROUP', GROUP, worker, 'COUNT', want, 'STREAMS', stream, '>')
  end
  return reply and reply[1][2] or {}
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

-- Hands out the tasks of a row.
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

-- Hands out entries; notes which are to be dropped, and how many were passed over.
local function start(digit, entries)
  local recs, i = records_of(digit, entries), 1
  drop, passed_over = {}, 0
  while i <= #entries do
    local entry, rec, last = entries[i], recs[i], i
    if type(rec) == 'number' then
      last = rec
      start_row(digit, entries, i, last)
    elseif gate == '' and rec == packed(entry[1], digit) and byte(entry[2][2], 37) ~= 120 then
      -- Fresh, and nothing holds it back or makes it late.
      hand_out_one(digit .. ' 1 0', entry[1], entry[2][2])
      emit('B1', sub(entry[2][2], 1, 36))
    else
      singly().start_one(digit, entry, rec)
    end
    i = last + 1
  end
end
