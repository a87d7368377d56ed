-- declare.lua: the schedules that a worker's code has for this queue.
-- KEYS  1 root
-- ARGV  1 the worker's stamp, '-' for its first declaration, then for each: name, overlap, body (see plan.lua)
-- gives the stamp, then for each: 'S' standing, 'N' new, 'O' outdated, 'T' taken by a client's, 'F' the queue is full
-- Invariant: what stands is what the worker with the latest stamp among those that still declare it has in its code.
local now = clock()
local stamp = tonumber(ARGV[1]) or now
local out = { stamp }

for i = 2, #ARGV, 3 do
  local name, overlap, body = ARGV[i], ARGV[i + 1], ARGV[i + 2]
  local plan = read_plan(name)
  local code = 'S'
  if not plan and no_room() then
    code = 'F'
  elseif plan and plan.origin ~= 'c' then
    code = 'T'
  else
    local other = plan and (plan.body ~= body or plan.overlap ~= overlap)
    if other and stamp <= tonumber(plan.stamp) and now < tonumber(plan.til) then
      code = 'O'
    else
      if not plan then
        plan, code = new_plan('c', overlap, body, now), 'N'
        begin_anew(name, plan, now)
      elseif other then
        plan.overlap, plan.body = overlap, body
        begin_anew(name, plan, now)
      elseif plan.left == '1' and plan.paused == '0' then
        -- Its ticks since then were missed, like those of a time without any worker.
        look_at(name, plan.next == '-' and now or plan.next)
      elseif plan.left == '1' then
        call('ZREM', root .. SCHEDULE, '@' .. name)
      end
      plan.left = '0'
      plan.stamp = math.max(tonumber(plan.stamp) or 0, stamp)
      plan.til = math.max(tonumber(plan.til) or 0, now + DECLARED_FOR)
      write_plan(name, plan)
    end
  end
  out[#out + 1] = code
end
return out
