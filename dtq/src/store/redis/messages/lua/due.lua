-- Moves delayed copies that are due back to where they came from.
-- KEYS[1] the zset, KEYS[2] the stream or the list. ARGV[1] 'XADD' or 'LPUSH', ARGV[2] how many at most.
-- A member is netstrings: a random id, then what is sent. Returns those that have too many words for a script; they are left.
local most_words = 7000
local function parts(member)
  local out, at = {}, 1
  while at <= #member do
    local colon = string.find(member, ':', at, true)
    local size = tonumber(string.sub(member, at, colon - 1))
    out[#out + 1] = string.sub(member, colon + 1, colon + size)
    at = colon + size + 2
  end
  return out
end

local now = redis.call('TIME')
local due = string.format('%.0f', now[1] * 1000 + math.floor(now[2] / 1000))
local left = {}
local members = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', due, 'LIMIT', 0, ARGV[2])
for _, member in ipairs(members) do
  local sent = parts(member)
  if #sent > most_words then
    left[#left + 1] = member
  else
    if ARGV[1] == 'XADD' then
      redis.call('XADD', KEYS[2], '*', unpack(sent, 2))
    else
      redis.call('LPUSH', KEYS[2], sent[2])
    end
    redis.call('ZREM', KEYS[1], member)
  end
end
return left
