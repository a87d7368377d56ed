-- schedules.lua: the schedules of one queue. Writes nothing.
-- KEYS  1 root
-- gives now, then name and text (see plan.lua) of each
local t = redis.call('TIME')
local out = redis.call('HGETALL', KEYS[1] .. SCHEDULES)
table.insert(out, 1, t[1] * 1000 + math.floor(t[2] / 1000))
return out
