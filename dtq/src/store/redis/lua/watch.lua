-- watch.lua: one worker at a time keeps watch for what becomes due, until its next claim; the others look in a little later.
-- Gives true when somebody is to be woken for that: a worker without room left of its own cannot come back in time.
local due, can, left = tonumber(head[2]), find(ARGV[5], 'w', 1, true) ~= nil, room + withheld
local watched, back, keeper = match(state[6] or '', '^(%d+) (%d+) (.+)$')
local mine = keeper == worker
local kept = keeper and not mine and tonumber(back) > now and due and tonumber(watched) <= due
if due and can and (left > 0 or mine and ARGV[3] == '0') then
  if kept then
    local late = out[3] + WATCH_LATE
    out[3], out[4] = -1, out[4] < 0 and late or math.min(out[4], late)
  elseif not mine or tonumber(watched) ~= due or back - now < ARGV[6] / 4 then
    call('HSET', queue_key, 'watch', due .. ' ' .. now + math.ceil(ARGV[6] / 2) .. ' ' .. worker)
  end
  return false
end
if mine then call('HDEL', queue_key, 'watch') end
if can then out[3] = -1 end
return due and not kept and (mine or can)
