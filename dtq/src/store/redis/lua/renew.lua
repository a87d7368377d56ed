-- renew.lua: extends leases.
-- KEYS  1 root
-- ARGV  1 consumer, 2 number of leases n, then n uuids, then groups that share band and attempt: band, attempt, length,
--       and for each lease: entry id, start of the attempt (ms)
-- gives for each lease: 1 held, 0 lost, or the (escaped) reason for which the task is asked to stop
-- Invariant: only the time of silence of a held entry changes. The first renewal also notes when the attempt began,
--       because the silence told that until now.
local n = tonumber(ARGV[2])
local recs = read_records({ unpack(ARGV, 3, n + 2) })
for i = 1, n do recs[i] = plain(recs[i]) end
local answer, at, i = {}, n + 3, 0

local owner = match(ARGV[1], '^(.*)~%d+$')

-- True when this worker is the one that the pending list names; a longer or shorter lease is another name of it.
local function ours(stream, id)
  local pending = redis.pcall('XPENDING', stream, GROUP, id, id, 1)
  return not pending.err and pending[1] and match(pending[1][2], '^(.*)~%d+$') == owner
end

local function held(rec, lease)
  if rec == lease then return true end
  if not rec or sub(rec, 1, #lease) ~= lease then return false end
  local next_byte = byte(rec, #lease + 1)
  return next_byte == 32 or next_byte == 10
end

-- Puts the start into the header unless it is there.
local function note_start(uuid, rec, start)
  local head = match(rec, '^[^\n]*')
  if match(head, ' s%d+') then return end
  write_record(uuid, head .. ' s' .. start .. sub(rec, #head + 1))
end

while i < n do
  local band, attempt, stop = ARGV[at], ARGV[at + 1], i + ARGV[at + 2]
  local stream, prefix, ids = root .. STREAM .. band, 'Q' .. attempt .. ' ' .. band .. ' ', {}
  local first, from = i + 1, at + 3
  for j = first, stop do
    local id = ARGV[from + (j - first) * 2]
    if held(recs[j], prefix .. id) and ours(stream, id) then ids[#ids + 1] = id end
  end
  local extended = {}
  if #ids > 0 then
    ids[#ids + 1] = 'JUSTID'
    local claimed = redis.pcall('XCLAIM', stream, GROUP, ARGV[1], 0, unpack(ids))
    for _, id in ipairs(claimed.err and {} or claimed) do extended[id] = true end
  end
  for j = first, stop do
    local place = from + (j - first) * 2
    if extended[ARGV[place]] then
      note_start(ARGV[j + 2], recs[j], ARGV[place + 1])
      answer[j] = recs[j] and sections(recs[j]).w or 1
    else
      answer[j] = 0
    end
  end
  i, at = stop, from + (stop - first + 1) * 2
end
return answer
