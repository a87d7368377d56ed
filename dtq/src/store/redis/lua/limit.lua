-- limit.lua: changes limits.
-- KEYS  1 root
-- ARGV  1 the changes in words for the audit log ('': none is kept), 2 who asks, 3 why, then names of fields of the hash of
--       limits, each with its new value ('': none)
-- gives 1 when something changed, else 0
-- Invariant: no more start than the new limits let; what runs already goes on, and counts.
call('PERSIST', queue_key) -- first, so that a full server still lets workers declare their limits; see claim.lua
local before, changed = {}, false
local watched = call('HGET', limits_key, 'concurrency')

for i = 4, #ARGV, 2 do
  local task = match(ARGV[i], '^[sd]:(.*)$')
  if task and before[task] == nil then before[task] = limit_of(task) end
end
for i = 4, #ARGV, 2 do
  local name, value = ARGV[i], ARGV[i + 1]
  if (call('HGET', limits_key, name) or '') ~= value then
    changed = true
    if value == '' then call('HDEL', limits_key, name) else call('HSET', limits_key, name, value) end
  end
end
if not changed then return 0 end

limits = {}
local gather = not watched and call('HEXISTS', limits_key, 'concurrency') == 1
for task, was in pairs(before) do
  local limit = limit_of(task)
  if limit and not was then gather = true end
  if not limit then call('DEL', root .. SLOTS .. task) end
end
if gather then call('HSET', limits_key, 'adopt', '9:-') end
adopting = call('HEXISTS', limits_key, 'adopt') == 1
if not adopting or not adopt() then
  for task in pairs(before) do refresh(task) end
  regate()
end
if ARGV[1] ~= '' then audit('set_limits', ARGV[1], 0, ARGV[2], ARGV[3]) end
wake()
return 1
