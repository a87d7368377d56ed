-- submit.lua: submissions under keys, for enqueue.lua. Its tasks have their records at once, so that a later submission of
-- the same step finds them.

-- Whether the entry of a queued task was handed out.
local function is_running(prio, place)
  local pending = redis.pcall('XPENDING', root .. STREAM .. prio, GROUP, place, place, 1)
  return not pending.err and pending[1] ~= nil
end

local function waits_or_runs(rec)
  return find('QPR', sub(rec, 1, 1), 1, true) ~= nil
end

-- The holder of a unique key, and its record when it waits or runs; nothing when the key is free, or was left behind.
local function of_lock(name)
  local found = call('GET', root .. UNIQUE .. name)
  if not found then return nil end
  local uuid = sub(found, 2)
  local rec = read_record(uuid)
  if rec and (not waits_or_runs(rec) or name_in(sections(rec).u) ~= name) then rec = nil end
  if not rec and byte(found) ~= 112 then return nil end
  return uuid, rec or nil
end

-- New arguments for a task that waits.
local function replace(uuid, rec, payload)
  local head, s = match(rec, '^[^\n]*'), sections(rec)
  local tail
  if byte(rec) == 81 then
    s.p = payload
    tail = '\n' .. carried(s)
  else
    tail = envelope(s.t, s.m, payload) .. holdings(s)
  end
  write_record(uuid, head .. tail .. section('h', s.h))
end

-- A new due time for a task that waits; nil: at once. Puts what is to be scheduled into `later`.
local function put_off(uuid, rec, due, now, later)
  local letter, attempt, prio, place, rest = header(rec)
  local s = sections(rec)
  if letter ~= 'Q' then
    due = looked_at(due or now, s.m, '')
    local tail = sub(rec, find(rec, '\n', 1, true), -1)
    write_record(uuid, letter .. attempt .. ' ' .. prio .. ' ' .. due .. ' ' .. rest .. tail)
  elseif due then
    local stream = root .. STREAM .. prio
    local _, task, meta, payload = opened(call('XRANGE', stream, place, place)[1])
    due = looked_at(due, meta, place)
    local tail = envelope(task, dated(meta, place), s.p or payload) .. holdings(s) .. section('h', s.h)
    write_record(uuid, 'P' .. attempt .. ' ' .. prio .. ' ' .. due .. ' 0' .. tail)
    unpark(prio, place, uuid, task)
    call('XDEL', stream, place)
    count('pending', 1)
  else
    return
  end
  later[#later + 1] = due
  later[#later + 1] = uuid
  emit('R' .. attempt, uuid)
end

-- What becomes of a submission whose unique key is held: 'K' answered with the holder, 'U' refused.
local function conflict(how, uuid, rec, payload, due, now, later)
  if how == 's' then return 'K' end
  if how == 'e' or not rec then return 'U' end
  local letter, _, prio, place = header(rec)
  if letter == 'Q' and is_running(prio, place) then return 'U' end
  if how == 'r' then
    replace(uuid, rec, payload)
  else
    put_off(uuid, rec, due, now, later)
  end
  return 'K'
end

-- Takes the keys for a new task; gives them as sections of its record.
local function take_keys(uuid, keep, name, lock, period, unique)
  local s = {}
  if keep ~= '' then
    s.i = keep .. ' ' .. name
    call('SET', root .. IDEMPOTENCY .. name, 'p' .. uuid)
  end
  if lock ~= '' then
    s.u = lock .. period .. ' ' .. unique
    local key = root .. UNIQUE .. unique
    if lock == 'p' then call('SET', key, lock .. uuid, 'PX', period) else call('SET', key, lock .. uuid) end
  end
  return holdings(s)
end
