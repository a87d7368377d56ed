-- cancel.lua: calls tasks off.
-- KEYS  1 root
-- ARGV  1 bound of the event log, 2 reason (escaped, no line break), 3 what the audit log names as the target,
--       4 who asks, 5 the reason as it is, 6 the statuses that are meant, by the letters of `status_letter` ('' any that
--       is not finished), then uuids
-- gives for each: '-' not found, '+' cancelled, '!' its worker will be told, or the letter of its status when it is left
--       as it is, and '!!' when its worker had been told before
-- Invariant: the entry of a running task stays where it is; every other trace of a waiting task goes in this step.
call('PERSIST', queue_key) -- first, so that a full server still lets tasks be called off; see claim.lua
local reason, wanted = ARGV[2], ARGV[6]
local now = clock()
local entries, places, pn, reached = {}, {}, 0, 0
-- Queued tasks that may have been passed over, since something holds the queue back.
local held_back, passed_over = call('HEXISTS', queue_key, 'gate') == 1, {}

-- The envelope of a waiting task: task, meta, payload.
local function envelope_of(letter, s, stream, place)
  if letter ~= 'Q' then return s.t, s.m, s.p end
  local entry = call('XRANGE', stream, place, place)[1]
  if not entry then return nil end
  local _, task, meta, payload = opened(entry)
  return task, dated(meta, place), s.p or payload
end

local function ask_to_stop(uuid, rec, s)
  -- The first reason stands.
  if s.w then return '!!' end
  local tail = '\nw' .. #reason .. ':' .. reason .. section('l', s.l) .. carried(s) .. section('h', s.h)
  write_record(uuid, match(rec, '^[^\n]*') .. tail)
  -- A hint for the worker that has it; the mark is what counts.
  call('XADD', root .. STOPS, 'MAXLEN', STOPS_KEPT, '*', 'i', uuid)
  call('PEXPIRE', root .. STOPS, STOPS_KEEP)
  reached = reached + 1
  return '!'
end

local function call_off(uuid)
  local rec = read_record(uuid)
  if not rec then return '-' end
  local letter, attempt, prio, place = header(rec)
  local s = sections(rec)
  local stream = root .. STREAM .. prio
  local status = status_letter(letter, prio, place)
  if find('SFDCX', status, 1, true) or (wanted ~= '' and not find(wanted, status, 1, true)) then return status end
  if status == 'B' then return ask_to_stop(uuid, rec, s) end
  local line = attempt .. ' ' .. now .. ' ' .. now .. ' cancelled ' .. reason
  local task, meta, payload = envelope_of(letter, s, stream, place)
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
  if letter == 'Q' then
    local ids = entries[stream] or {}
    ids[#ids + 1] = place
    entries[stream] = ids
    if task and held_back then passed_over[#passed_over + 1] = { prio, place, uuid, task } end
  else
    pn = pn + 1
    places[pn] = uuid
  end
  reached = reached + 1
  return '+'
end

local answer = {}
for i = 7, #ARGV do answer[i - 6] = call_off(ARGV[i]) end
write_tally()
write_events(ARGV[1])
free_held()
if reached > 0 then audit('cancel', ARGV[3], reached, ARGV[4], ARGV[5]) end
for _, it in ipairs(passed_over) do unpark(unpack(it)) end
for stream, ids in pairs(entries) do call('XDEL', stream, unpack(ids)) end
if pn > 0 then call('ZREM', root .. SCHEDULE, unpack(places)) end
return answer
