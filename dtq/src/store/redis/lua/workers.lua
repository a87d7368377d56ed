-- workers.lua: the workers whose heartbeat lives. Writes nothing.
-- KEYS  1 root of the fleet
-- gives worker, line, worker, line...
local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)
local answer = {}
for _, worker in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1] .. BEATS, '(' .. now, '+inf')) do
  local line = redis.call('HGET', KEYS[1] .. WORKERS, worker)
  if line then
    answer[#answer + 1] = worker
    answer[#answer + 1] = line
  end
end
return answer
