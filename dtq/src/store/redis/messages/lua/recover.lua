-- Puts values that a silent consumer left back on their list, where they are read next, oldest first.
-- KEYS: the list, the silent consumer's processing list, the consumers. ARGV: the consumer, how long one is silent that is gone
-- (ms), then pairs: a value as it was left, the copy to put back, oldest first. Returns how many were put back.
local now = redis.call('TIME')
local seen = redis.call('ZSCORE', KEYS[3], ARGV[1])
if seen and tonumber(seen) >= now[1] * 1000 + math.floor(now[2] / 1000) - tonumber(ARGV[2]) then return 0 end
local put = 0
for n = #ARGV - 1, 3, -2 do
  if redis.call('LPOS', KEYS[2], ARGV[n]) then
    redis.call('RPUSH', KEYS[1], ARGV[n + 1])
    redis.call('LREM', KEYS[2], -1, ARGV[n])
    put = put + 1
  end
end
return put
