-- Finds what a consumer left on its processing list that was silent for too long.
-- KEYS[1] the consumers. ARGV: this consumer, how long one is silent that is gone (ms), what the names of processing lists
-- begin with, how many values at most. Returns the consumer and the oldest values it left, or nothing. Those that left nothing are
-- forgotten on the way; how many stands first.
local now = redis.call('TIME')
local since = string.format('(%.0f', now[1] * 1000 + math.floor(now[2] / 1000) - tonumber(ARGV[2]))
local forgotten = 0
for _, consumer in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', since, 'LIMIT', 0, 128)) do
  if consumer ~= ARGV[1] then
    local values = redis.call('LRANGE', ARGV[3] .. consumer, -tonumber(ARGV[4]), -1)
    if #values > 0 then return { forgotten, consumer, values } end
    redis.call('ZREM', KEYS[1], consumer)
    forgotten = forgotten + 1
  end
end
return { forgotten }
