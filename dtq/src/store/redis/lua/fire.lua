-- fire.lua: makes the tasks of a schedule's ticks and sets its next tick.
-- KEYS  1 root
-- ARGV  1 bound of the event log, 2 name, 3 revision and 4 next tick that this was reckoned from, 5 the next tick from
--       now on (not for what was asked for), 6 the latest tick that fires, 7 '1' when somebody asked for it, 8 the schedule's id, 9 who asked,
--       10 why, then, when there are tasks: 11 priority, 12 task, 13 meta, 14 payload, and their uuids
-- gives 'F' fired, 'P' passed over, 'S' stale
-- Invariant: a tick fires at most once, since its schedule names it as the next one only until then.
local name = ARGV[2]
local plan = read_plan(name)
if not plan or tostring(plan.rev) ~= ARGV[3] or plan.next ~= ARGV[4] then return 'S' end
local asked = ARGV[7] == '1'
-- Of a paused queue nothing starts by itself, and nobody can start what was asked for.
local held_back = byte(call('HGET', queue_key, 'gate') or '') == 112
if not asked and (held_back or plan.paused == '1' or plan.left == '1') then return 'S' end

-- Whether the task of the tick before is still to be done.
local function unfinished(uuid)
  local rec = read_record(uuid)
  return rec and find(rec, '^[QPR]') ~= nil
end

local answer = 'F'
if #ARGV > 14 and not asked and plan.overlap == 's' and plan.task ~= '-' and unfinished(plan.task) then
  answer = 'P'
  plan.passed = plan.passed + 1
else
  local prio = ARGV[11]
  for i = 15, #ARGV do
    local uuid = ARGV[i]
    if not read_record(uuid) then
      local id = add_entry(prio, entry_value(uuid, ARGV[12], ARGV[13], ARGV[14]))
      write_record(uuid, packed(id, prio))
      emit('Q1', uuid)
      plan.fired = plan.fired + 1
    end
    plan.task = uuid
  end
  if #ARGV > 14 then
    local bands = call('HGET', queue_key, 'bands') or ''
    local marked = with_band(bands, prio)
    if marked ~= bands then call('HSET', queue_key, 'bands', marked) end
    write_events(ARGV[1])
    if not held_back then wake() end
  end
end
if answer == 'F' and ARGV[6] ~= '-' then plan.last = ARGV[6] end
if asked then
  -- Its ticks stay where they are, also one that is being reckoned at this moment.
  audit('run_schedule', ARGV[8], #ARGV - 14, ARGV[9], ARGV[10])
  write_plan(name, plan)
  return answer
end
plan.next = ARGV[5]
write_plan(name, plan)
if plan.next == '-' then
  -- Its calendar has come to an end.
  call('ZREM', root .. SCHEDULE, '@' .. name)
else
  look_at(name, plan.next)
end
return answer
