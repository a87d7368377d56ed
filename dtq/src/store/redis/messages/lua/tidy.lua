-- Forgets consumers that are gone and hold nothing, and deletes entries that no group needs any more.
-- KEYS[1] the stream. ARGV: group, this consumer ('' to spare none), what the names of ours begin with, how long one is silent
-- that is gone (ms; 0: whatever it says), 'trim' or ''. Returns how many consumers were forgotten, and how many entries deleted.
local function map(pairs_of)
  local out = {}
  for n = 1, #pairs_of, 2 do out[pairs_of[n]] = pairs_of[n + 1] end
  return out
end

local function id_of(text)
  local ms, seq = string.match(text, '^(%d+)-(%d+)$')
  return { tonumber(ms), tonumber(seq) }
end

local function before(a, b) return a[1] < b[1] or (a[1] == b[1] and a[2] < b[2]) end

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
    local needs = id_of(pending[1] > 0 and pending[2] or is['last-delivered-id'])
    -- Numbers of that size are not exact here; one entry more is kept.
    if pending[1] == 0 and needs[2] < 2 ^ 52 then needs[2] = needs[2] + 1 end
    if not least or before(needs, least) then least = needs end
  end
  if least and least[2] < 2 ^ 52 then
    trimmed = redis.call('XTRIM', key, 'MINID', string.format('%.0f-%.0f', least[1], least[2]))
  end
end
return { forgotten, trimmed }
