-- steer.lua: makes, changes, pauses, resumes or removes one schedule.
-- KEYS  1 root
-- ARGV  1 the action, 2 name, 3 the schedule's id, 4 who asks, 5 why, then to add or change it: 6 overlap, 7 body (see
--       plan.lua)
-- gives 'K' it is as asked, 'N' not found, 'E' there is another one, 'C' it stands in code, 'F' the queue is full
local action, name, overlap, body = ARGV[1], ARGV[2], ARGV[6], ARGV[7]
local now = clock()
local plan = read_plan(name)
-- One that nobody declares any more is as good as none, but for its pause.
local in_code = plan and plan.origin == 'c' and now < tonumber(plan.til)

local function done()
  audit(action, ARGV[3], 0, ARGV[4], ARGV[5])
  return 'K'
end

if action == 'add_schedule' then
  if plan and plan.origin == 'a' then
    return plan.body == body and plan.overlap == overlap and 'K' or 'E'
  end
  if in_code then return 'E' end
  if not plan and no_room() then return 'F' end
  local paused = plan and plan.paused
  plan = new_plan('a', overlap, body, now)
  plan.paused = paused or '0'
  begin_anew(name, plan, now)
  write_plan(name, plan)
  return done()
end

if not plan then return 'N' end
if action == 'change_schedule' then
  if in_code then return 'C' end
  if plan.body == body and plan.overlap == overlap and plan.origin == 'a' then return 'K' end
  plan.origin, plan.left, plan.overlap, plan.body = 'a', '0', overlap, body
  begin_anew(name, plan, now)
elseif action == 'pause_schedule' then
  if plan.paused == '1' then return 'K' end
  plan.paused = '1'
  plan.rev = plan.rev + 1
  -- What nobody declares keeps its place, at which it is forgotten.
  if plan.left == '0' then call('ZREM', root .. SCHEDULE, '@' .. name) end
elseif action == 'resume_schedule' then
  if plan.paused == '0' then return 'K' end
  plan.paused = '0'
  if plan.left == '0' then begin_anew(name, plan, now) end
else
  if in_code then return 'C' end
  call('HDEL', schedules_key, name)
  call('ZREM', root .. SCHEDULE, '@' .. name)
  return done()
end
write_plan(name, plan)
return done()
