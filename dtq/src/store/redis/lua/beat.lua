-- beat.lua: notes that a worker that reads a queue lives.
-- KEYS  1 root
-- ARGV  1 worker, 2 how long it counts as alive (ms)
-- Invariant: only signs of life change.
call('PERSIST', queue_key) -- first, so that a full server still takes signs of life; see claim.lua
local now = clock()
heard(now, call('HGET', queue_key, 'seen'))
call('ZADD', root .. BEATS, now + ARGV[2], measured(ARGV[1], ARGV[2]))
return 1
