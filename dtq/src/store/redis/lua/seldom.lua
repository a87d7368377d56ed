-- seldom.lua: what scripts share that the most frequent steps do without: envelopes, histories, notes, the schedule, the audit
-- log, signs of life.

local function section(tag, text)
  -- A wish to stop may come without a reason; whatever else is empty is not there.
  if not text or (text == '' and tag ~= 'w') then return '' end
  return tag .. #text .. ':' .. text
end

local function envelope(task, meta, payload)
  return '\nt' .. #task .. ':' .. task .. 'm' .. #meta .. ':' .. meta .. 'p' .. #payload .. ':' .. payload
end

-- The history with one more line; the oldest lines go when there are more than KEPT.
local function noted(history, line)
  if not history or history == '' then return line end
  local all = history .. '\n' .. line
  local _, breaks = string.gsub(all, '\n', '\n')
  while breaks >= KEPT do
    all = sub(all, find(all, '\n', 1, true) + 1)
    breaks = breaks - 1
  end
  return all
end

-- What a meta says: max attempts, whether dead letters are wanted, retention.
local function policy(meta)
  local max, keep = match(meta, 'n(%d+)'), match(meta, 'k(%d+)')
  return tonumber(max or META_ATTEMPTS), not find(meta, 'd', 1, true), tonumber(keep or META_KEEP)
end

-- The meta with the time of acceptance in it, for an envelope that leaves the entry whose id told it.
local function dated(meta, id)
  if find(meta, 'a', 1, true) then return meta end
  return meta .. 'a' .. match(id, '^%d+')
end

-- When a task that is due then is looked at: one that expires before is looked at when it does.
local function looked_at(due, meta, id)
  local limit = deadline(meta, id)
  return limit and limit < due and limit or due
end

-- What an attempt told of itself lives as long as its task's record.
local function end_notes(uuid, told, keep)
  local keys = { root .. NOTES .. uuid, find(told, 'l', 1, true) and root .. LOG .. uuid }
  for _, key in ipairs(keys) do
    if keep > 0 then call('PEXPIRE', key, keep) else call('DEL', key) end
  end
end

-- The same for a task that is not finished any more.
local function keep_notes(uuid, told)
  call('PERSIST', root .. NOTES .. uuid)
  if find(told, 'l', 1, true) then call('PERSIST', root .. LOG .. uuid) end
end

-- Puts a task whose record was just written on the list of dead letters. The record then tells its place there.
local function bury(now, uuid, task, line)
  local oldest = now - DEAD_KEEP
  local place = call('XADD', root .. DLQ, 'MINID', '~', oldest, '*', 'i', uuid, 't', task, 'h', line)
  call('APPEND', root .. TASK .. uuid, section('d', place))
end

-- Notes what was done by hand: the action and its target, the tasks it reached, who did it and why; and, of what is done in
-- several steps, a name that they have in common.
local function audit(action, target, tasks, who, why, steps)
  local fields = { 'a', action, 't', target, 'n', tasks, 'w', who, 'r', why }
  if steps then
    fields[11] = 'p'
    fields[12] = steps
  end
  call('XADD', root .. AUDIT, 'MAXLEN', '~', AUDIT_KEPT, '*', unpack(fields))
end

-- Notes that a worker was heard of. When nobody was for half of somebody's silence, the server or the network was away,
-- and that is no worker's fault: that silence begins anew. Not so one that was over before.
-- seen: when somebody was heard of before.
local function heard(now, seen)
  seen = tonumber(seen or 0)
  call('HSET', queue_key, 'seen', now)
  -- No silence is short enough to ask.
  if now - seen < 100 then return end
  for _, one in ipairs(call('ZRANGEBYSCORE', root .. BEATS, '(' .. seen, '+inf')) do
    local silence = tonumber(match(one, '~(%d+)$'))
    if silence and silence / 2 < now - seen then call('ZADD', root .. BEATS, now + silence, one) end
  end
end

-- Puts tasks (due, uuid, due, uuid...) on the schedule. A new head wakes a worker, which then knows how long to wait.
local function schedule(later)
  local key = root .. SCHEDULE
  local before = call('ZRANGE', key, 0, 0)[1]
  call('ZADD', key, unpack(later))
  if call('ZRANGE', key, 0, 0)[1] ~= before then wake() end
end
