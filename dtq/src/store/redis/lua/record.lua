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

local function section(tag, text)
  -- A wish to stop may come without a reason; whatever else is empty is not there.
  if not text or (text == '' and tag ~= 'w') then return '' end
  return tag .. #text .. ':' .. text
end

local function envelope(task, meta, payload)
  return '\nt' .. #task .. ':' .. task .. 'm' .. #meta .. ':' .. meta .. 'p' .. #payload .. ':' .. payload
end

-- The history with one more line; the oldest lines go when there are more than KEPT.
local function noted(history, line)
  if not history or history == '' then return line end
  local all = history .. '\n' .. line
  local _, breaks = string.gsub(all, '\n', '\n')
  while breaks >= KEPT do
    all = sub(all, find(all, '\n', 1, true) + 1)
    breaks = breaks - 1
  end
  return all
end

-- What a meta says: max attempts, whether dead letters are wanted, retention.
local function policy(meta)
  local max, keep = match(meta, 'n(%d+)'), match(meta, 'k(%d+)')
  return tonumber(max or META_ATTEMPTS), not find(meta, 'd', 1, true), tonumber(keep or META_KEEP)
end

-- The meta with the time of acceptance in it, for an envelope that leaves the entry whose id told it.
local function dated(meta, id)
  if find(meta, 'a', 1, true) then return meta end
  return meta .. 'a' .. match(id, '^%d+')
end

-- The instant after which a task may not start, or nil. Only a meta with a time to live begins with an x (120).
local function deadline(meta, id)
  if byte(meta, 1) ~= 120 then return nil end
  local ttl = match(meta, '^x(%d+)')
  return ttl and ttl + (match(meta, 'b(%d+)') or match(meta, 'a(%d+)') or match(id, '^%d+'))
end

-- When a task that is due then is looked at: one that expires before is looked at when it does.
local function looked_at(due, meta, id)
  local limit = deadline(meta, id)
  return limit and limit < due and limit or due
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

-- What an attempt told of itself lives as long as its task's record.
local function end_notes(uuid, told, keep)
  local keys = { root .. NOTES .. uuid, find(told, 'l', 1, true) and root .. LOG .. uuid }
  for _, key in ipairs(keys) do
    if keep > 0 then call('PEXPIRE', key, keep) else call('DEL', key) end
  end
end

-- The same for a task that is not finished any more.
local function keep_notes(uuid, told)
  call('PERSIST', root .. NOTES .. uuid)
  if find(told, 'l', 1, true) then call('PERSIST', root .. LOG .. uuid) end
end

-- Puts a task whose record was just written on the list of dead letters. The record then tells its place there.
local function bury(now, uuid, task, line)
  local oldest = now - DEAD_KEEP
  local place = call('XADD', root .. DLQ, 'MINID', '~', oldest, '*', 'i', uuid, 't', task, 'h', line)
  call('APPEND', root .. TASK .. uuid, section('d', place))
end
