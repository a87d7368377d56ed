-- cancel.lua: calls one task off.
-- KEYS  1 root
-- ARGV  1 bound of the event log, 2 uuid, 3 reason (escaped, no line break), 4 the task's id,
--       5 who asks, 6 the reason as it is
-- gives 'N' not found, 'C' cancelled, 'W' its worker will be told, or the letter of the status it had finished with,
--       in lower case
-- Invariant: the entry of a running task stays where it is; every other trace of a waiting task goes in this step.
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
      call('SET', key, match(rec, '^[^\n]*') .. '\n' .. section('l', s.l) .. 'w' .. #reason .. ':' .. reason .. section('h', s.h))
      audit('cancel', ARGV[4], 1, ARGV[5], ARGV[6])
    end
    return 'W'
  end
  local entry = call('XRANGE', stream, place, place)[1]
  local _
  if entry then _, task, meta, payload = entry_fields(entry[2]) end
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
finish(uuid, 'C' .. attempt .. ' ' .. prio .. ' ' .. now .. ' 0', tail, keep)
if letter == 'P' then count('pending', -1) end
if letter == 'R' then count('retrying', -1) end
count('cancelled', 1)
emit('C' .. attempt, uuid)
write_tally()
write_events(ARGV[1])
audit('cancel', ARGV[4], 1, ARGV[5], ARGV[6])
if letter == 'Q' then
  -- It may have been passed over.
  if task and call('HEXISTS', queue_key, 'gate') == 1 then unpark(prio, place, uuid, task) end
  call('XDEL', stream, place)
else
  call('ZREM', root .. SCHEDULE, uuid)
end
return 'C'
