-- get.lua: everything known of one task. Writes nothing.
-- KEYS  1 root
-- ARGV  1 uuid
-- gives nothing, or: record, 1 when running, result (or nothing), then of a queued or running task: task, meta, payload
local uuid = ARGV[1]
local rec = plain(call('GET', root .. TASK .. uuid))
if not rec then return false end
local letter, _, prio, place = header(rec)
if letter == 'S' then return { rec, 0, call('GET', root .. RESULT .. uuid) } end
if letter ~= 'Q' then return { rec, 0, false } end
local stream = root .. STREAM .. prio
local entry = call('XRANGE', stream, place, place)[1]
if not entry then return { rec, 0, false } end
local pending = redis.pcall('XPENDING', stream, GROUP, place, place, 1)
local running = not pending.err and pending[1] ~= nil
local _, task, meta, payload = entry_fields(entry[2])
return { rec, running and 1 or 0, false, task, meta, payload }
