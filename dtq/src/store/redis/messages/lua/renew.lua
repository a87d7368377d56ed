-- Gives a sign of life for entries that are still this consumer's: what another one has claimed is not taken back.
-- KEYS[1] the stream. ARGV: group, consumer, ids. Returns the ids that are lost.
local lost = {}
for n = 3, #ARGV do
  local held = redis.pcall('XPENDING', KEYS[1], ARGV[1], ARGV[n], ARGV[n], 1, ARGV[2])
  if held.err or #held == 0 then
    lost[#lost + 1] = ARGV[n]
  else
    redis.call('XCLAIM', KEYS[1], ARGV[1], ARGV[2], 0, ARGV[n], 'IDLE', 0, 'JUSTID')
  end
end
return lost
