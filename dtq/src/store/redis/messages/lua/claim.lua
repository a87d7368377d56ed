-- Claims back what was pending for long, then reads what is new: what XREADGROUP .. CLAIM does, for servers without it.
-- KEYS[1] the stream. ARGV: group, consumer, idle time (ms), how many at most, cursor, 'new' or ''.
-- Returns the next cursor, and entries as id, fields, how often delivered.
local key, group, consumer, most = KEYS[1], ARGV[1], ARGV[2], tonumber(ARGV[4])
local claimed = redis.call('XAUTOCLAIM', key, group, consumer, ARGV[3], ARGV[5], 'COUNT', most)
local out = {}
for _, entry in ipairs(claimed[2]) do
  -- Before Redis 7.0 an entry that was deleted meanwhile is given as nil, and stays pending.
  if entry and entry[2] then
    local pending = redis.call('XPENDING', key, group, entry[1], entry[1], 1)
    out[#out + 1] = { entry[1], entry[2], pending[1] and pending[1][4] or 1 }
  end
end
if ARGV[6] == 'new' and #out < most then
  local read = redis.call('XREADGROUP', 'GROUP', group, consumer, 'COUNT', most - #out, 'STREAMS', key, '>')
  for _, entry in ipairs(read and read[1][2] or {}) do out[#out + 1] = { entry[1], entry[2], 1 } end
end
return { claimed[1], out }
