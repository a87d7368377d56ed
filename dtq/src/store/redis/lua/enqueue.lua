-- enqueue.lua: accepts tasks of one queue.
-- KEYS  1 root
-- ARGV  1 bound of the event log, 2 number of tasks n, 3 their uuids in 16 bytes each, then n uuids (no two alike),
--       then runs of tasks that differ in uuid and payload only: priority, due, task, meta, length, payloads.
--       due: '' now, 'a<ms>' after, '@<ms>' at. The time of acceptance is put into a meta when needed.
-- gives the places (1..n) of the tasks that were known before, and 0 when nothing was known of the queue
-- Invariant: a task has a record if and only if it was accepted; with the record, an entry or a place in the schedule.
local n = tonumber(ARGV[2])
local keys, task_key = {}, root .. TASK
for i = 1, n do keys[i] = task_key .. ARGV[i + 3] end
local known = call('MGET', unpack(keys))

local now = clock()
local records, rn = {}, 0
local later, ln = {}, 0
local answer = {}
local stored = call('HGET', queue_key, 'bands')
local bands = stored or ''
local marked = bands
local at, i = n + 4, 0

local function due_time(due)
  if due == '' then return nil end
  local ms = tonumber(sub(due, 2))
  if byte(due, 1) == 97 then ms = now + ms end
  return ms > now and ms or nil
end

while i < n do
  local prio, task, meta = ARGV[at], ARGV[at + 2], ARGV[at + 3]
  local due, stop = due_time(ARGV[at + 1]), i + ARGV[at + 4]
  local stream = root .. STREAM .. prio
  at = at + 5
  while i < stop do
    i = i + 1
    if known[i] then
      answer[#answer + 1] = i
    else
      local uuid = ARGV[i + 3]
      records[rn + 1] = keys[i]
      if due then
        local limit = deadline(meta .. 'a' .. now, '')
        -- One that expires before it is due is looked at then.
        if limit and limit < due then due = limit end
        records[rn + 2] = 'P1 ' .. prio .. ' ' .. due .. ' 0' .. envelope(task, meta .. 'a' .. now, ARGV[at])
        later[ln + 1] = due
        later[ln + 2] = uuid
        ln = ln + 2
      else
        local id = call('XADD', stream, '*', 'i', uuid, 't', task, 'm', meta, 'p', ARGV[at])
        records[rn + 2] = packed(id, prio)
        marked = with_band(marked, prio)
      end
      rn = rn + 2
    end
    at = at + 1
  end
end

if rn == 0 then return answer end

-- The raw uuids of the new tasks: with most events of a busy queue, half the size of text counts.
local function accepted()
  local raw = ARGV[3]
  for k = #answer, 1, -1 do
    raw = sub(raw, 1, (answer[k] - 1) * 16) .. sub(raw, answer[k] * 16 + 1)
  end
  return raw
end

call('MSET', unpack(records))
if ln > 0 then
  schedule(later)
  call('HINCRBY', queue_key, 'pending', ln / 2)
end
call('XADD', root .. EVENTS, 'MAXLEN', '~', ARGV[1], '*', 'q', accepted())
if marked ~= bands then call('HSET', queue_key, 'bands', marked) end
if rn > ln then wake() end
if not stored then answer[#answer + 1] = 0 end
return answer
