-- pause.lua: stops handing out tasks, or goes on.
-- KEYS  1 root
-- ARGV  1 '1' to pause, '0' to go on, 2 who asks, 3 why, 4 the queue
-- gives 1, or 0 when it was so already
-- Invariant: no task moves.
call('PERSIST', queue_key) -- first, so that a full server can be paused; see claim.lua
local pause = ARGV[1] == '1'
local paused = call('HEXISTS', limits_key, 'paused') == 1
if pause == paused then return 0 end
if pause then
  call('HSET', limits_key, 'paused', clock() .. ' ' .. #ARGV[2] .. ':' .. ARGV[2] .. ARGV[3])
else
  call('HDEL', limits_key, 'paused')
end
regate()
audit(pause and 'pause' or 'resume', ARGV[4], 0, ARGV[2], ARGV[3])
if not pause then wake() end
return 1
