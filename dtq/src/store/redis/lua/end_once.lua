-- end_once.lua: ends work that is done at most once.
-- KEYS, ARGV  as in once.lua; then, when it was done: 7 how long that is remembered (ms), 8 result
-- gives 1 when the work was this run's, else 0
-- Invariant: a result is kept at most once while it is remembered.
call('PERSIST', queue_key) -- first, so that a full server still takes the end of what was done; see claim.lua
local state, who, run = known()
if who ~= attempt_of_mine or run ~= ARGV[6] then return 0 end
if state == 'd' then return ARGV[7] and 1 or 0 end
if not ARGV[7] then
  call('DEL', once_key)
elseif current(who) then
  call('SET', once_key, 'd' .. me .. '\n' .. ARGV[8], 'PX', ARGV[7])
else
  return 0
end
return 1
