-- deferred.lua: the body of `make_run_later` in enqueue.lua: runs of tasks that are delayed, or have keys.

local function due_time(due)
  if due == '' then return nil end
  local ms = tonumber(sub(due, 2))
  if byte(due, 1) == 97 then ms = now + ms end
  return ms > now and ms or nil
end

local function put_later(uuid, due)
  later[ln + 1] = due
  later[ln + 2] = uuid
  ln = ln + 2
end

local function delayed(prio, due, task, meta, payload)
  return 'P1 ' .. prio .. ' ' .. due .. ' 0' .. envelope(task, meta .. 'a' .. now, payload)
end

-- What stands for a submission under keys: what and uuid, or nothing when it is to be made.
local function stands_for(due, payload)
  if ARGV[at + 1] ~= '' then
    local uuid, letter = of_key(ARGV[at + 2])
    if uuid then return waits_or_runs(letter) and 'P' or 'K', uuid end
  end
  if ARGV[at + 3] ~= '' then
    local uuid, rec = of_lock(ARGV[at + 5])
    if uuid then return conflict(ARGV[at + 6], uuid, rec, payload, due, now, moved), uuid end
  end
end

-- A submission under keys.
local function submit(uuid, prio, asked, due, task, meta)
  local payload = ARGV[at]
  local what, other = stands_for(asked, payload)
  if what then
    answer[#answer + 1] = i
    told[#told + 1] = i .. ' ' .. what .. ' ' .. other
    return
  end
  if room == 0 then return refuse() end
  accept(uuid)
  local rec
  if due then
    rec = delayed(prio, due, task, meta, payload)
    put_later(uuid, due)
  else
    rec = 'Q1 ' .. prio .. ' ' .. enter(prio, entry_value(uuid, task, meta, payload)) .. '\n'
  end
  local held = take_keys(uuid, ARGV[at + 1], ARGV[at + 2], ARGV[at + 3], ARGV[at + 4], ARGV[at + 5])
  write_record(uuid, rec .. held)
end

-- keyed: whether its tasks have keys.
local function run_later(keyed)
  local prio, asked, task, meta, count = ARGV[at + 1], due_time(ARGV[at + 2]), ARGV[at + 3], ARGV[at + 4], ARGV[at + 5]
  local due = asked and looked_at(asked, meta .. 'a' .. now, '')
  local uuids = { unpack(ARGV, at + 6, at + 5 + count) }
  local known = read_records(uuids)
  at = at + 6 + count
  for j, uuid in ipairs(uuids) do
    i = i + 1
    if known[j] then
      answer[#answer + 1] = i
    elseif keyed then
      submit(uuid, prio, asked, due, task, meta)
    elseif room == 0 then
      refuse()
    else
      accept(uuid)
      if due then
        note(root .. TASK .. uuid, delayed(prio, due, task, meta, ARGV[at]))
        put_later(uuid, due)
      else
        note(root .. TASK .. uuid, packed(enter(prio, entry_value(uuid, task, meta, ARGV[at])), prio))
      end
    end
    at = at + (keyed and 7 or 1)
  end
end

return run_later
