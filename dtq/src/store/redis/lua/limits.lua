-- limits.lua: what holds a queue back. Writes nothing.
-- KEYS  1 root
-- gives the fields of the hash of limits as name, value, name, value...; then a list of task, running, held back, task... for
--       each kind that has or had a limit
local kinds, seen = {}, {}
local all = redis.call('HGETALL', KEYS[1] .. LIMITS)

local function add(task)
  if seen[task] then return end
  seen[task] = true
  kinds[#kinds + 1] = task
  kinds[#kinds + 1] = redis.call('SCARD', KEYS[1] .. SLOTS .. task)
  kinds[#kinds + 1] = redis.call('ZCARD', KEYS[1] .. PARKED .. task)
end

for i = 1, #all, 2 do
  local task = string.match(all[i], '^[sd]:(.*)$')
  if task then add(task) end
end
for _, task in ipairs(redis.call('ZRANGE', KEYS[1] .. FREED, 0, -1)) do add(task) end
return { all, kinds }
