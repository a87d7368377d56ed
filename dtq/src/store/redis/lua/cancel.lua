-- cancel.lua: calls one task off.
-- KEYS  1 root
-- ARGV  1 bound of the event log, 2 uuid, 3 reason (escaped, no line break), 4 the task's id,
--       5 who asks, 6 the reason as it is
-- gives 'N' not found, 'C' cancelled, 'W' its worker will be told, or the letter of the status it had finished with,
--       in lower case
-- Invariant: the entry of a running task stays where it is; every other trace of a waiting task goes in this step.
call('PERSIST', queue_key) -- first, so that a full server still lets go of tasks; see claim.lua
local uuid, reason = ARGV[2], ARGV[3]
local key = root .. TASK .. uuid
local rec = plain(call('GET', key))
if not rec then return 'N' end
local letter, attempt, prio, place, rest = header(rec)
local s = sections(rec)
local stream = root .. STREAM .. prio
local now = clock()

local task, meta, payload = s.t, s.m, s.p
if letter == 'Q' then
  local running = redis.pcall('XPENDING', stream, GROUP, place, place, 1)
  if not running.err and running[1] then
    -- The first reason stands.
    if not s.w then
      local tail = '\nw' .. #reason .. ':' .. reason .. carried(s) .. section('h', s.h)
      call('SET', key, match(rec, '^[^\n]*') .. tail)
      -- A hint for the worker that has it; the mark is what counts.
      call('XADD', root .. STOPS, 'MAXLEN', STOPS_KEPT, '*', 'i', uuid)
      call('PEXPIRE', root .. STOPS, STOPS_KEEP)
      audit('cancel', ARGV[4], 1, ARGV[5], ARGV[6])
    end
    return 'W'
  end
  local entry = call('XRANGE', stream, place, place)[1]
  local _
  if entry then _, task, meta, payload = entry_fields(entry[2]) end
  payload = s.p or payload
  meta = meta and dated(meta, place)
elseif letter ~= 'P' and letter ~= 'R' then
  return string.lower(letter)
end

local line = attempt .. ' ' .. now .. ' ' .. now .. ' cancelled ' .. reason
local tail, keep = '', 0
if payload then
  local _
  _, _, keep = policy(meta)
  tail = envelope(task, meta, payload) .. section('h', noted(s.h, line))
end
finish(uuid, 'C' .. attempt .. ' ' .. prio .. ' ' .. now .. ' 0', tail, keep, s)
if letter == 'P' then count('pending', -1) end
if letter == 'R' then count('retrying', -1) end
count('cancelled', 1)
emit('C' .. attempt, uuid)
write_tally()
write_events(ARGV[1])
free_held()
audit('cancel', ARGV[4], 1, ARGV[5], ARGV[6])
if letter == 'Q' then
  call('XDEL', stream, place)
else
  call('ZREM', root .. SCHEDULE, uuid)
end
return 'C'
