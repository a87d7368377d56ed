-- claim.lua: promotes what is due, takes over what was lost, hands out what is ready.
-- KEYS  1 root
-- ARGV  1 bound of the event log, 2 consumer, 3 max (at most BATCH), 4 lease ms, 5 what is asked beside: s look
--       for lost tasks now, w keep watch for what becomes due, 6 how long the worker may be silent (ms), then, to hand out
--       again what it never heard of: 7 '1', and what it holds, each as '<band>:<entry>'
-- gives now, more (0, 1; 2: the queue is paused), ms until the next due task (-1: none, or another watches), ms until
--       somebody may be found gone (-1: there is nobody), then tasks in groups: '<band> <attempt> <reclaimed>' and ' c' when
--       they left a checkpoint, how many, and for each: entry id, value of the entry; or, of a row in a block, '<band> 1 0 b
--       <entry id of the first>', how many, and their values; at the end, when schedules are due, a list of their names and
--       texts
-- Invariant: a task is running if and only if its record is Q and the entry that the record names is in the pending
--       list. An entry is acknowledged here only when its record names another one, or is finished in this very step.
--       Write order: record, dead letter, event, keys that were held; then what is done with is acknowledged and removed.
if find(gate, 'a', 1, true) and not paused then
  adopting = true
  more = not singly().adopt()
end
-- A paused queue fires no ticks, and what is due waits.
head = paused and {} or call('ZRANGE', schedule_key, 0, 0, 'WITHSCORES')
if head[2] and tonumber(head[2]) <= now then head = promote() end
if head[2] then
  out[3] = math.max(0, head[2] - now)
  more = more or out[3] == 0
end
if ARGV[7] == '1' then hand_out_unheard() end
if paused then
  out[2] = 2
  if state[6] then keep_watch() end
  note_life()
  call('DEL', root .. WAKE)
  return out
end
if find(ARGV[5], 's', 1, true) or now >= sweep_at then look_for_lost() end

-- No more than the queue's limit leaves. What was taken over above ran before, so it counts already.
local more_before, capped = more, false
if cap then
  local left = math.max(0, cap - singly().running())
  capped = left < room
  if capped then room, withheld = left, room - left end
end

for digit in string.gmatch(bands, '%d') do
  local stream = root .. STREAM .. digit
  if by_kind then singly().hand_out_parked(digit) end
  while room > 0 and dropped < BATCH do
    local want = math.min(room, BATCH - dropped)
    local entries = read(stream, want)
    local last = entries[#entries]
    if last then
      start(digit, entries)
      for _, id in ipairs(drop) do done_with(stream, id) end
      dropped = dropped + #drop + passed_over
    end
    if #entries < want or not call('XRANGE', stream, '(' .. last[1], '+', 'COUNT', 1)[1] then
      bands = string.gsub(bands, digit, '')
      break
    elseif room == 0 or dropped >= BATCH then
      more = true
    end
  end
  if room == 0 or dropped >= BATCH then break end
end
if by_kind then
  singly().hand_out_parked('0')
  more = more or call('EXISTS', root .. FREED) == 1
end
-- Then only the end of a running task makes room, and that wakes somebody.
local waits_for_an_end = capped and room == 0
if waits_for_an_end then more = more_before end

if not more and not waits_for_an_end and (room == 0 or dropped >= BATCH) then
  -- A band's digit may outlive its tasks: only an entry that was never handed out tells that there is more.
  local function holds_ready(stream)
    local groups = redis.pcall('XINFO', 'GROUPS', stream)
    if groups.err then return false end
    local from = '-'
    for _, group in ipairs(groups) do
      for j = 1, #group, 2 do
        if group[j] == 'last-delivered-id' then from = '(' .. group[j + 1] end
      end
    end
    return call('XRANGE', stream, from, '+', 'COUNT', 1)[1] ~= nil
  end
  for digit in string.gmatch(bands, '%d') do
    if holds_ready(root .. STREAM .. digit) then
      more = true
      break
    end
    bands = string.gsub(bands, digit, '')
  end
end
if bands ~= stored then call('HSET', queue_key, 'bands', bands) end
note_life()
-- Who has room left comes back when the silence of another may be over.
if on == 4 or room > 0 then
  local first = call('ZRANGE', beats_key, 0, 1, 'WITHSCORES')
  local other = first[1] and worker_of(first[1]) == worker_of(worker) and 3 or 1
  if first[other] then out[4] = math.max(0, math.max(first[other + 1], sweep_at) - now) end
end
write_blocks()
local unwatched = (head[2] or state[6]) and keep_watch()
write_tally()
write_events(ARGV[1])
if ended_ones[1] then free_all() end
if more then out[2] = 1 end
if more or unwatched then
  wake()
else
  call('DEL', root .. WAKE)
end
for stream, ids in pairs(aside) do call('XACK', stream, GROUP, unpack(ids)) end
for stream, ids in pairs(done) do
  call('XACK', stream, GROUP, unpack(ids))
  call('XDEL', stream, unpack(ids))
end
if ticks[1] then out[on + 1] = ticks end
return out
