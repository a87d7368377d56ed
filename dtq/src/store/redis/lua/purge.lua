-- purge.lua: drops what waits in a queue, at most BATCH tasks a step.
-- KEYS  1 root
-- ARGV  1 bound of the event log, 2 only tasks of this name ('': all), 3 '1' to ask what runs to stop, too, 4 '1' to count
--       only, 5 reason (escaped, no line break), 6 where to go on ('': the first step), 7 what the audit log names as the
--       target, 8 who asks, 9 the reason as it is, 10 what the steps of this purge have in common
-- gives how many were dropped, how many were asked to stop, and where to go on (nothing at the end): first
--       's<ms> <uuid>' behind this one on the schedule, then 'e<band> <entry id> <last>' behind this entry, up to the last
--       millisecond: what comes after the walk over the streams began is not chased
-- Invariant: what runs keeps its entry; every other trace of a dropped task goes in this step.
local wanted, stops, counts_only, reason = ARGV[2], ARGV[3] == '1', ARGV[4] == '1', ARGV[5]
if not counts_only then call('PERSIST', queue_key) end -- first, so that a full server can be relieved; see claim.lua
local now = clock()
local dropped, stopping, budget = 0, 0, BATCH
local limited = call('HEXISTS', queue_key, 'gate') == 1
local unscheduled, entries = {}, {}

local function call_off(uuid, rec, s, task, meta, payload)
  local letter, attempt, prio = header(rec)
  dropped = dropped + 1
  if counts_only then return end
  local _, _, keep = policy(meta)
  local line = attempt .. ' ' .. now .. ' ' .. now .. ' cancelled ' .. reason
  local tail = envelope(task, meta, payload) .. section('h', noted(s.h, line))
  finish(uuid, 'C' .. attempt .. ' ' .. prio .. ' ' .. now .. ' 0', tail, keep, s)
  if letter == 'P' then count('pending', -1) end
  if letter == 'R' then count('retrying', -1) end
  count('cancelled', 1)
  emit('C' .. attempt, uuid)
end

-- The schedule behind a place, which is that of a task or a schedule that stays. It may have gone or moved all the same: then
-- from the first with its time.
local function scheduled(from, uuid)
  local key, rank, kept = root .. SCHEDULE, 0, uuid and from .. ' ' .. uuid or '0 -'
  if uuid then
    if call('ZSCORE', key, uuid) == from then
      rank = call('ZRANK', key, uuid) + 1
    else
      rank = call('ZCOUNT', key, '-inf', '(' .. from)
    end
  end
  local page = call('ZRANGE', key, rank, rank + budget - 1, 'WITHSCORES')
  local uuids = {}
  for i = 1, #page, 2 do uuids[#uuids + 1] = page[i] end
  local recs = read_records(uuids)
  for i, one in ipairs(uuids) do
    local rec = recs[i]
    local s = rec and sections(rec) or {}
    local meant = s.p and (wanted == '' or s.t == wanted)
    if meant then call_off(one, rec, s, s.t, s.m, s.p) end
    if meant and not counts_only then
      unscheduled[#unscheduled + 1] = one
    else
      kept = page[2 * i] .. ' ' .. one
    end
  end
  local full = #uuids == budget
  budget = budget - #uuids
  return full and 's' .. kept or nil
end

-- The entries of a span that are held by workers.
local function held(stream, first, last)
  local ids, from = {}, first
  while true do
    local page = redis.pcall('XPENDING', stream, GROUP, from, last, BATCH)
    if page.err then return ids end
    for _, it in ipairs(page) do ids[it[1]] = true end
    if #page < BATCH then return ids end
    from = '(' .. page[#page][1]
  end
end

local function stop(uuid, rec, s)
  -- The first reason stands.
  if s.w then return end
  stopping = stopping + 1
  if counts_only then return end
  local told = section('l', s.l) .. section('w', reason) .. carried(s) .. section('h', s.h)
  write_record(uuid, match(rec, '^[^\n]*') .. '\n' .. told)
  call('XADD', root .. STOPS, 'MAXLEN', STOPS_KEPT, '*', 'i', uuid)
  call('PEXPIRE', root .. STOPS, STOPS_KEEP)
end

local function entered(digit, from, last)
  local stream = root .. STREAM .. digit
  local page = call('XRANGE', stream, from, last, 'COUNT', budget)
  if #page == 0 then return nil end
  local running, uuids, gone = held(stream, page[1][1], page[#page][1]), {}, {}
  for i, entry in ipairs(page) do uuids[i] = opened(entry) end
  local recs = read_records(uuids)
  for i, entry in ipairs(page) do
    local id, uuid, task, meta, payload = entry[1], opened(entry)
    local rec = plain(recs[i])
    local letter, ref, _
    if rec then letter, _, _, ref = header(rec) end
    if letter == 'Q' and ref == id and (wanted == '' or task == wanted) then
      local s = sections(rec)
      if not running[id] then
        call_off(uuid, rec, s, task, dated(meta, id), s.p or payload)
        if not counts_only then
          if limited then unpark(digit, id, uuid, task) end
          gone[#gone + 1] = id
        end
      elseif stops then
        stop(uuid, rec, s)
      end
    end
  end
  if #gone > 0 then entries[#entries + 1] = { stream, gone } end
  local full = #page == budget
  budget = budget - #page
  return full and 'e' .. digit .. ' ' .. page[#page][1] .. ' ' .. last or nil
end

-- The millisecond of the newest entry of all streams.
local function newest()
  local last = now
  for band = 0, 9 do
    local entry = call('XREVRANGE', root .. STREAM .. band, '+', '-', 'COUNT', 1)[1]
    if entry then last = math.max(last, tonumber(match(entry[1], '^%d+'))) end
  end
  return string.format('%.0f', last)
end

local function walk()
  local at = ARGV[6]
  local digit, from, last = match(at, '^e(%d) (%S+) (%d+)$')
  if not digit then
    local rest = scheduled(match(at, '^s(%S+) (.*)$'))
    if rest then return rest end
    digit, from, last = '9', '-', newest()
    -- A page of nothing but the rest of the schedule: the streams' turn is next.
    if budget == 0 then return 'e9 0-0 ' .. last end
  else
    from = '(' .. from
  end
  for band = tonumber(digit), 0, -1 do
    local rest = entered(tostring(band), from, last)
    if rest then return rest end
    from = '-'
  end
  return nil
end

local rest = walk()
write_tally()
write_events(ARGV[1])
free_held()

-- One entry for all steps of a purge: each step takes the place of the one before.
if not counts_only and dropped + stopping > 0 then
  local before = 0
  for _, it in ipairs(call('XREVRANGE', root .. AUDIT, '+', '-', 'COUNT', 32)) do
    local about = {}
    for i = 1, #it[2], 2 do about[it[2][i]] = it[2][i + 1] end
    if about.p == ARGV[10] then
      before = about.n
      call('XDEL', root .. AUDIT, it[1])
      break
    end
  end
  audit('purge', ARGV[7], before + dropped + stopping, ARGV[8], ARGV[9], ARGV[10])
end
if #unscheduled > 0 then call('ZREM', root .. SCHEDULE, unpack(unscheduled)) end
for _, it in ipairs(entries) do call('XDEL', it[1], unpack(it[2])) end
return { dropped, stopping, rest or false }
