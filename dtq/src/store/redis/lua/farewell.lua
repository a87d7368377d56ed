-- farewell.lua: forgets a worker.
-- KEYS  1 root of the fleet
-- ARGV  1 bound of the event log, 2 worker, 3 event code
-- Invariant: as in heartbeat.lua; taking leave twice is one event.
redis.call('ZREM', KEYS[1] .. BEATS, ARGV[2])
if redis.call('HDEL', KEYS[1] .. WORKERS, ARGV[2]) == 1 then
  redis.call('XADD', KEYS[1] .. EVENTS, 'MAXLEN', '~', ARGV[1], '*', 'k', ARGV[3], 'w', ARGV[2])
end
return 1
