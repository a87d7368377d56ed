-- settling.lua: what the parts of settle.lua share.
call('PERSIST', queue_key) -- first, so that a full server still lets tasks finish; see claim.lua

local n, task_key = tonumber(ARGV[2]), root .. TASK
local now = clock()
local answer = {}
local gone, gn = {}, 0
local later, ln = {}, 0
local done = {}
local COUNTERS = { S = 'succeeded', R = 'retries', F = 'failed', D = 'dead_lettered', C = 'cancelled' }

-- What the rest of a step shares, set for each group and settlement: its fields are those behind `at`. i: its number.
local op, band, attempt, at
local i, acks, obeyed = 0, {}, 0

-- Removes a record at the end of the step.
local function drop(uuid)
  gn = gn + 1
  gone[gn] = task_key .. uuid
  leave_block(uuid)
end
