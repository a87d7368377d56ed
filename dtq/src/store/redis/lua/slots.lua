-- slots.lua: how many tasks run at once.
--
-- What holds a queue back is in one hash: `paused` (<ms> <length of the actor>:<actor><reason>), `depth`, `concurrency`,
-- `s:<task>` (set by hand, '-' for no limit), `d:<task>` (declared), `adopt` (see gate.lua). The field `gate` of the queue's
-- hash sums it up for the scripts that are called often: p paused, d<depth>, c<concurrency>, a adopting, t some task has a
-- limit, or is held back.
--
-- slots:<task>   the uuids of the tasks of a limited kind that run. Section l of a running task's record says that it
--                holds a slot ('+<task>'), or counts for its queue only ('-'), so that its end frees what it holds.
-- parked:<task>  those that were passed over, best first: their entries stay in the stream, acknowledged, before all that
--                was never read. <9 - band><ms><number> <uuid>, padded, so that the order of the text is theirs.
-- freed          the kinds of which some are parked and one may start, by the place of the best of them.
local limits_key, freed_key = root .. LIMITS, root .. FREED

-- How many tasks of a kind may run, or false.
local function limit_of(task)
  local limit = limits[task]
  if limit == nil then
    local found = call('HMGET', limits_key, 's:' .. task, 'd:' .. task)
    limit = tonumber(found[1] or found[2] or '-') or false
    limits[task] = limit
  end
  return limit
end

local function padded(digits, width)
  return string.rep('0', width - #digits) .. digits
end

local function park_name(digit, id, uuid)
  local ms, number = match(id, '^(%d+)-(%d+)$')
  return 9 - digit .. padded(ms, 15) .. padded(number, 20) .. ' ' .. uuid
end

-- Keeps `freed` right for one kind.
local function refresh(task)
  local best, limit = call('ZRANGE', root .. PARKED .. task, 0, 0)[1], limit_of(task)
  if best and (not limit or not adopting and call('SCARD', root .. SLOTS .. task) < limit) then
    -- 14 digits: `..` writes them exactly.
    call('ZADD', freed_key, sub(best, 1, 1) * 1e13 + sub(best, 4, 16), task)
  else
    call('ZREM', freed_key, task)
  end
end

-- Frees what a running task held. l: the section of its record, or nil.
local function vacate(uuid, l)
  if not l then return end
  vacated = true
  if byte(l) ~= 43 then return end
  local task = sub(l, 2)
  if call('SREM', root .. SLOTS .. task, uuid) == 1 then refresh(task) end
end

-- Wakes a worker when something was freed that somebody may wait for.
local function wake_for_freed()
  if not vacated then return end
  if call('EXISTS', freed_key) == 1 or find(call('HGET', queue_key, 'gate') or '', 'c', 1, true) then wake() end
end

-- Forgets that a task was passed over: it ends, or is put off.
local function unpark(digit, id, uuid, task)
  if call('ZREM', root .. PARKED .. task, park_name(digit, id, uuid)) == 1 then refresh(task) end
end
