-- Settles one message: checks that it is still the caller's, then runs the commands in the order given.
-- KEYS: every key that is touched; the first is the one the fence looks at.
-- ARGV: the fence, '' or 'pending' <group> <id> <consumer> or 'listed' <value>; then each command as the number of its words
--       and its words. DELAY <zset> <member> <ms> <ttl ms or 0> is ours: it counts from the server's clock.
-- Returns 1, or 0 when the message is another consumer's by now: then nothing was changed.
local at = 0
local function take()
  at = at + 1
  return ARGV[at]
end

local function delay(key, member, wait, ttl)
  local now = redis.call('TIME')
  local due = now[1] * 1000 + math.floor(now[2] / 1000) + tonumber(wait)
  redis.call('ZADD', key, string.format('%.0f', due), member)
  if ttl ~= '0' then
    -- From the latest due time on, so that no copy expires that still waits.
    local last = tonumber(redis.call('ZRANGE', key, -1, -1, 'WITHSCORES')[2])
    redis.call('PEXPIREAT', key, string.format('%.0f', last + tonumber(ttl)))
  end
end

local fence = take()
if fence == 'pending' then
  local group, id, consumer = take(), take(), take()
  local held = redis.pcall('XPENDING', KEYS[1], group, id, id, 1, consumer)
  if held.err or #held == 0 then return 0 end
elseif fence == 'listed' then
  if not redis.call('LPOS', KEYS[1], take()) then return 0 end
end
while at < #ARGV do
  local words = {}
  for n = 1, tonumber(take()) do words[n] = take() end
  if words[1] == 'DELAY' then
    delay(words[2], words[3], words[4], words[5])
  else
    redis.call(unpack(words))
  end
end
return 1
