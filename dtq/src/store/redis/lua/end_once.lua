-- end_once.lua: ends work that is done at most once.
-- KEYS, ARGV  as in once.lua; then, when it was done: 6 how long that is remembered (ms), 7 result
-- gives 1 when the work was this attempt's, else 0
-- Invariant: a result is kept at most once while it is remembered.
call('PERSIST', queue_key) -- first, so that a full server still takes the end of what was done; see claim.lua
local state, who = known()
if who ~= me then return 0 end
if state == 'd' then return ARGV[6] and 1 or 0 end
if not ARGV[6] then
  call('DEL', once_key)
elseif current(me) then
  call('SET', once_key, 'd' .. me .. '\n' .. ARGV[7], 'PX', ARGV[6])
else
  return 0
end
return 1
