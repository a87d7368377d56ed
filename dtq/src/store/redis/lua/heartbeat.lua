-- heartbeat.lua: notes that a worker lives.
-- KEYS  1 root of the fleet
-- ARGV  1 bound of the event log, 2 worker, 3 time to live (ms), 4 '<concurrency> <running> <queues> <tasks>', 5 event code
-- Invariant: a worker has a line if and only if it has a beat; lapsed ones go with anybody's next beat.
local worker, workers, beats = ARGV[2], KEYS[1] .. WORKERS, KEYS[1] .. BEATS
redis.call('PERSIST', beats) -- first, so that a full server still takes signs of life; see claim.lua
local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)
local lapsed = redis.call('ZRANGEBYSCORE', beats, '-inf', now, 'LIMIT', 0, BATCH)
if #lapsed > 0 then
  redis.call('HDEL', workers, unpack(lapsed))
  redis.call('ZREM', beats, unpack(lapsed))
end
local line = redis.call('HGET', workers, worker)
local started = line and string.match(line, '^%d+') or now
redis.call('HSET', workers, worker, started .. ' ' .. now .. ' ' .. ARGV[4])
redis.call('ZADD', beats, now + ARGV[3], worker)
if not line then
  redis.call('XADD', KEYS[1] .. EVENTS, 'MAXLEN', '~', ARGV[1], '*', 'k', ARGV[5], 'w', worker)
end
return 1
