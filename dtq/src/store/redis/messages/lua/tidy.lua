-- Forgets consumers that are gone and hold nothing, and deletes entries that no group needs any more.
-- KEYS[1] the stream. ARGV: group, this consumer ('' to spare none), what the names of ours begin with, how long one is silent
-- that is gone (ms; 0: whatever it says), 'trim' or ''. Returns how many consumers were forgotten, and how many entries deleted.
local function map(pairs_of)
  local out = {}
  for n = 1, #pairs_of, 2 do out[pairs_of[n]] = pairs_of[n + 1] end
  return out
end

-- Ids may be longer than a number here is exact: digits are compared, not numbers.
local function less(a, b) return #a < #b or (#a == #b and a < b) end

local function before(a, b)
  local a_ms, a_seq = string.match(a, '^(%d+)-(%d+)$')
  local b_ms, b_seq = string.match(b, '^(%d+)-(%d+)$')
  return less(a_ms, b_ms) or (a_ms == b_ms and less(a_seq, b_seq))
end

local function after(id)
  local ms, seq = string.match(id, '^(%d+)-(%d+)$')
  -- Where that is not exact, one entry more is kept.
  return tonumber(seq) < 2 ^ 52 and string.format('%s-%.0f', ms, tonumber(seq) + 1) or id
end

local key, group, own, prefix, gone = KEYS[1], ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4])
local forgotten, trimmed = 0, 0
local consumers = redis.pcall('XINFO', 'CONSUMERS', key, group)
if consumers.err then return { 0, 0 } end
for _, one in ipairs(consumers) do
  local is = map(one)
  local ours = string.sub(is.name, 1, #prefix) == prefix and is.name ~= own
  -- One that holds something would take it along: it waits until that was claimed.
  -- Servers round the idle time from two clocks: it may be just below zero.
  if ours and is.pending == 0 and (gone == 0 or is.idle >= gone) then
    redis.call('XGROUP', 'DELCONSUMER', key, group, is.name)
    forgotten = forgotten + 1
  end
end
if ARGV[5] == 'trim' then
  local least
  for _, one in ipairs(redis.call('XINFO', 'GROUPS', key)) do
    local is = map(one)
    local pending = redis.call('XPENDING', key, is.name)
    -- The oldest entry that the group still needs: the first pending one, else what comes after the last that was read.
    local needs = pending[1] > 0 and pending[2] or after(is['last-delivered-id'])
    if not least or before(needs, least) then least = needs end
  end
  if least then trimmed = redis.call('XTRIM', key, 'MINID', least) end
end
return { forgotten, trimmed }
