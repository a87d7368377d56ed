-- get.lua: everything known of one task. Writes nothing.
-- KEYS  1 root
-- ARGV  1 uuid
-- gives nothing, or: record, then '1' when running, task, meta, payload (of a queued or running task), result
local uuid = ARGV[1]
local rec = redis.call('GET', KEYS[1] .. TASK .. uuid)
if not rec then return false end
local letter, prio, place = string.match(rec, '^(%u)%d+ (%d) (%S+)')
if letter == 'S' then return { rec, '0', '', '', '', redis.call('GET', KEYS[1] .. RESULT .. uuid) } end
if letter ~= 'Q' then return { rec, '0', '', '', '', false } end
local stream = KEYS[1] .. STREAM .. prio
local entry = redis.call('XRANGE', stream, place, place)[1]
if not entry then return { rec, '0', '', '', '', false } end
local pending = redis.pcall('XPENDING', stream, GROUP, place, place, 1)
local running = not pending.err and pending[1] ~= nil
local fields = entry[2]
return { rec, running and '1' or '0', fields[4], fields[6], fields[8], false }
