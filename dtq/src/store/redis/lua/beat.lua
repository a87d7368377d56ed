-- beat.lua: notes that a worker that holds tasks of a queue lives.
-- KEYS  1 root
-- ARGV  1 worker, 2 how long it counts as alive (ms)
-- Invariant: only signs of life change.
call('PERSIST', queue_key) -- first, so that a full server still takes signs of life; see claim.lua
local now, ttl = clock(), tonumber(ARGV[2])
heard(now, ttl, call('HMGET', queue_key, 'seen', 'calm'))
call('ZADD', root .. BEATS, now + ttl, ARGV[1])
return 1
