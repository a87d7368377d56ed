-- finished.lua: what the scripts share that act by hand on finished tasks.
-- ARGV  1 bound of the event log, 2 what the audit log names as the target, 3 who asks, 4 why

-- A finished task: its record taken apart, or nil and the answer: '-' unknown, '~' it finished another time than when it
-- was looked at, '=' its dead letter was discarded, or the letter of a status that the action is not for.
-- seen: when it had finished (ms), or ''. fits: the letters of the statuses that the action is for.
local function finished(uuid, seen, fits, discarded_too)
  local rec = read_record(uuid)
  if not rec then return nil, '-' end
  local letter, attempt, prio, place = header(rec)
  if not find('SFDCX', letter, 1, true) then return nil, status_letter(letter, prio, place) end
  if seen ~= '' and seen ~= place then return nil, '~' end
  if not find(fits, letter, 1, true) then return nil, letter end
  local s = sections(rec)
  if s.o and not discarded_too then return nil, '=' end
  return { rec = rec, letter = letter, attempt = attempt, prio = prio, place = place, s = s }
end

-- Takes a dead letter off the list.
local function unlist(uuid, it)
  if it.s.d then return call('XDEL', root .. DLQ, it.s.d) end
  -- A record of an older version does not tell the place. It is not before the task's end, and hardly far behind it.
  for _, entry in ipairs(call('XRANGE', root .. DLQ, it.place, '+', 'COUNT', 8 * BATCH)) do
    if entry[2][2] == uuid then call('XDEL', root .. DLQ, entry[1]) end
  end
end

-- Acts on the targets, pairs of uuid and the time of its end from ARGV[from] on, and notes it.
local function for_each(from, action, act)
  local answer, reached = {}, 0
  for i = from, #ARGV, 2 do
    local told = act(ARGV[i], ARGV[i + 1])
    if told == '+' then reached = reached + 1 end
    answer[#answer + 1] = told
  end
  write_events(ARGV[1])
  if reached > 0 then audit(action, ARGV[2], reached, ARGV[3], ARGV[4]) end
  return answer
end
