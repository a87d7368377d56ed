-- record.lua: reading and writing records. The format is described in record.rs.

-- The record of a task that was just queued, as one integer: the server keeps it in the value's own header, which is
-- 32 bytes less than text. 13 digits of the entry's time, 5 of its number, 1 of the band.
local function packed(id, prio)
  local number = sub(id, 15)
  if #number > 5 or byte(id, 14) ~= 45 then return 'Q1 ' .. prio .. ' ' .. id end
  return sub(id, 1, 13) .. sub('00000', #number + 1) .. number .. prio
end

-- The same record as text; other records as they are.
local function plain(rec)
  if not rec or #rec ~= 19 or byte(rec, 1) > 57 then return rec end
  return 'Q1 ' .. sub(rec, 19) .. ' ' .. sub(rec, 1, 13) .. '-' .. tonumber(sub(rec, 14, 18))
end

-- letter, attempt (text), priority (text), place (entry id or ms), rest of the header
local function header(rec)
  return match(rec, '^(%u)(%d+) (%d) (%S+) ?([^\n]*)')
end

-- The sections after the header, by their letter.
local function sections(rec)
  local found = {}
  local at = find(rec, '\n', 1, true)
  if not at then return found end
  at = at + 1
  while true do
    local tag, len, start = match(rec, '^(%l)(%d+):()', at)
    if not tag then return found end
    at = start + len
    found[tag] = sub(rec, start, at - 1)
  end
end

-- The instant after which a task may not start, or nil. Only a meta with a time to live begins with an x (120).
local function deadline(meta, id)
  if byte(meta, 1) ~= 120 then return nil end
  local ttl = match(meta, '^x(%d+)')
  return ttl and ttl + (match(meta, 'b(%d+)') or match(meta, 'a(%d+)') or match(id, '^%d+'))
end

-- A stream entry has one field: '<uuid><meta> <task>', a line break, and the payload.
local function entry_value(uuid, task, meta, payload)
  return uuid .. meta .. ' ' .. task .. '\n' .. payload
end

local function add_entry(prio, value)
  return call('XADD', root .. STREAM .. prio, '*', 'e', value)
end

-- The parts of an entry: uuid, task, meta, payload. Of one that is not ours, whatever there is.
local function opened(entry)
  local value = entry[2][2]
  local meta, task, at = match(value, '^(%w*) ([^\n]*)\n()', 37)
  return sub(value, 1, 36), task or '', meta or '', sub(value, at or 37)
end
