-- record.lua: reading and writing records. The format is described in record.rs.

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
  if not text or text == '' then return '' end
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

-- ttl ('' or ms), max attempts, dead letter, retention, timeout, accepted at ('' when the entry's id tells it)
local function meta_fields(meta)
  local ttl, max, dead, keep, timeout, at = match(meta, '^(%d*),(%d+),(%d),(%d+),(%d*),(%d*)$')
  return ttl, tonumber(max), dead == '1', tonumber(keep), timeout, at
end

-- The meta with the time of acceptance in it, for an envelope that leaves the entry which told it.
local function dated(meta, id)
  if byte(meta, -1) ~= 44 then return meta end
  return meta .. match(id, '^%d+')
end

-- The instant after which a task may not start, or nil. Only policies with a time to live begin with a digit.
local function deadline(meta, id)
  if byte(meta, 1) == 44 then return nil end
  local ttl, at = match(meta, '^(%d+),.*,(%d*)$')
  if at == '' then at = match(id, '^%d+') end
  return at + ttl
end

-- The fields of a stream entry: uuid, task, meta, payload.
local function entry_fields(fields)
  return fields[2], fields[4], fields[6], fields[8]
end

-- Writes a finished record, or removes it when nothing is to be kept.
local function finish(uuid, head, tail, keep)
  if keep > 0 then
    call('SET', root .. TASK .. uuid, head .. tail, 'PX', keep)
  else
    call('DEL', root .. TASK .. uuid)
  end
end

local function bury(now, uuid, task, line)
  local oldest = now - DEAD_KEEP
  call('XADD', root .. DLQ, 'MINID', '~', oldest, '*', 'i', uuid, 't', task, 'h', line)
end
