-- depth.lua: the body of `depth` in enqueue.lua: what is ready or scheduled. The gauges know of the tasks only; the places of schedules
-- are on the schedule, too.
local sum = (state[3] or 0) + (state[4] or 0)
for band = 0, 9 do
  local stream = root .. STREAM .. band
  local length = call('XLEN', stream)
  if length > 0 then
    sum = sum + length
    for _, group in ipairs(call('XINFO', 'GROUPS', stream)) do
      for j = 1, #group, 2 do
        if group[j] == 'pending' then sum = sum - group[j + 1] end
      end
    end
  end
end
return sum
