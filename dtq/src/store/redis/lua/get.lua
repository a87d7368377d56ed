-- get.lua: everything known of one task. Writes nothing.
-- KEYS  1 root
-- ARGV  1 uuid
-- gives nothing, or: record, 1 when running, result (or nothing), of a queued or running task: task, meta, payload (else
--       nothing, three times), and of one that told something of itself: the fields of its notes, the lines of its log
local uuid = ARGV[1]
local rec = read_record(uuid)
if not rec then return false end
local letter, _, prio, place = header(rec)
local answer = { rec, 0, false, false, false, false }

local function tell()
  local told = sections(rec).g
  if told then
    answer[7] = call('HGETALL', root .. NOTES .. uuid)
    answer[8] = call('LRANGE', root .. LOG .. uuid, 0, -1)
  end
  return answer
end

if letter == 'S' then answer[3] = call('GET', root .. RESULT .. uuid) end
if letter ~= 'Q' then return tell() end
local stream = root .. STREAM .. prio
local entry = call('XRANGE', stream, place, place)[1]
if not entry then return answer end
local pending = redis.pcall('XPENDING', stream, GROUP, place, place, 1)
if not pending.err and pending[1] then answer[2] = 1 end
local _
_, answer[4], answer[5], answer[6] = opened(entry)
return tell()
