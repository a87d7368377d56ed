-- stats.lua: counts of one queue. Writes nothing.
-- KEYS  1 root
-- ARGV  names of gauges and counters
-- gives entries of all bands, entries that are leased, then the gauges and counters
local entries, leased = 0, 0
for band = 0, 9 do
  local stream = KEYS[1] .. STREAM .. band
  local length = redis.call('XLEN', stream)
  if length > 0 then
    entries = entries + length
    local pending = redis.pcall('XPENDING', stream, GROUP)
    if not pending.err then leased = leased + pending[1] end
  end
end
local answer = redis.call('HMGET', KEYS[1] .. QUEUE, unpack(ARGV))
for i = 1, #answer do answer[i] = tonumber(answer[i] or 0) end
table.insert(answer, 1, leased)
table.insert(answer, 1, entries)
return answer
