-- begin_once.lua: asks for work that is done at most once.
-- KEYS, ARGV  as in once.lua
-- gives 'L' lost, 'B' busy, 'R' begun, or 'd' and the result
-- Invariant: work in progress is an attempt's that held its lease when it began; it passes on only when that one lost it.
call('PERSIST', queue_key) -- first, so that a full server lets tasks go on to their end; see claim.lua
if not current(attempt_of_mine) then return 'L' end
local state, who, _, result = known()
if state == 'd' then return 'd' .. result end
if state == 'r' and who ~= attempt_of_mine and current(who) then return 'B' end
call('SET', once_key, 'r' .. me .. '\n', 'PX', ONCE_IN_PROGRESS)
return 'R'
