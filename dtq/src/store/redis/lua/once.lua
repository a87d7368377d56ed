-- once.lua: what both scripts on work that is done at most once read.
-- KEYS  1 root
-- ARGV  1 key, 2 uuid, 3 attempt, 4 band, 5 entry id, 6 run
local once_key = root .. ONCE .. ARGV[1]
local attempt_of_mine = concat({ ARGV[2], ARGV[3], ARGV[4], ARGV[5] }, ' ')
local me = attempt_of_mine .. ' ' .. ARGV[6]

-- True when an attempt ('<uuid> <attempt> <band> <entry>') holds its lease.
local function current(who)
  local uuid, attempt, band, entry = match(who, '^(%S+) (%d+) (%d) (%S+)$')
  local rec = uuid and read_record(uuid)
  if not rec then return false end
  local letter, n, prio, place = header(rec)
  return letter == 'Q' and n == attempt and prio == band and place == entry
end

-- 'r' in progress or 'd' done (nil: neither), by which attempt, in which run, the result
local function known()
  local found = call('GET', once_key)
  if not found then return nil end
  return match(found, '^(%l)([^\n]*) (%d+)\n(.*)$')
end
