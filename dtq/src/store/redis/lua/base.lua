-- base.lua: shared by every script that changes a queue. Calls, time, events.
local root = KEYS[1]
local call = redis.call
local match, find, sub, byte = string.match, string.find, string.sub, string.byte
local concat = table.concat
local queue_key = root .. QUEUE

-- Milliseconds by the server's clock. 13 digits: `..` writes them exactly until the year 5138.
local function clock()
  local t = call('TIME')
  return t[1] * 1000 + math.floor(t[2] / 1000)
end

-- Events gather here and are written as one entry: lines of '<code><attempt> <uuids> <uuids>...'. Of uuids in a row that begin
-- with the same 34 letters, all but the first are written by their last two.
local ev, evn, ev_last, ev_begins = {}, 0, nil, nil

-- what: code and attempt, as in 'Q1'. begins: 34 letters. ends: the last two of each uuid.
local function emit_row(what, begins, ends)
  if what ~= ev_last then
    ev[evn + 1] = evn > 0 and '\n' or ''
    ev[evn + 2] = what
    evn = evn + 2
    ev_last, ev_begins = what, nil
  end
  if begins ~= ev_begins then
    ev[evn + 1] = ' '
    ev[evn + 2] = begins
    evn = evn + 2
    ev_begins = begins
  end
  evn = evn + 1
  ev[evn] = ends
end

local function emit(what, uuid)
  emit_row(what, sub(uuid, 1, 34), sub(uuid, 35))
end

local function write_events(bound)
  if evn > 0 then
    call('XADD', root .. EVENTS, 'MAXLEN', '~', bound, '*', 'e', concat(ev))
  end
end

-- Changes of gauges and counters gather here, so that each is written once a step.
local tally = {}
local function count(name, by)
  tally[name] = (tally[name] or 0) + by
end
local function write_tally()
  for name, by in pairs(tally) do
    if by ~= 0 then call('HINCRBY', queue_key, name, by) end
  end
end

-- One token at most: whoever takes it asks for work, and leaves a new one when there is more.
local function wake()
  local key = root .. WAKE
  if call('LLEN', key) == 0 then call('RPUSH', key, '1') end
end

-- A worker among those that were heard of: its name, and how long it may be silent. Each is judged by its own measure.
local function measured(worker, silence)
  return worker .. '~' .. silence
end

-- Adds a band's digit to a falling row of digits.
local function with_band(bands, digit)
  if find(bands, digit, 1, true) then return bands end
  local at = find(bands, '[0-' .. digit .. ']') or #bands + 1
  return sub(bands, 1, at - 1) .. digit .. sub(bands, at)
end
