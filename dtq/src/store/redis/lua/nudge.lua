-- nudge.lua: gives back a wake-up token that nobody here could use.
-- KEYS  1 root
-- Invariant: one token at most.
local key = KEYS[1] .. WAKE
if redis.call('LLEN', key) == 0 then redis.call('LPUSH', key, '1') end
return 1
