-- Moves values from a list to a consumer's processing list, and gives its sign of life.
-- KEYS: the list, the processing list, the consumers. ARGV: consumer, how many at most. Returns the values.
local now = redis.call('TIME')
redis.call('ZADD', KEYS[3], string.format('%.0f', now[1] * 1000 + math.floor(now[2] / 1000)), ARGV[1])
local out = {}
for n = 1, tonumber(ARGV[2]) do
  local value = redis.call('LMOVE', KEYS[1], KEYS[2], 'RIGHT', 'LEFT')
  if not value then break end
  out[n] = value
end
return out
