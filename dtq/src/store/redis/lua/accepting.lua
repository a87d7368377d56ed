-- accepting.lua: what the parts of enqueue.lua share.
local n = tonumber(ARGV[2])
local now = clock()
local records, rn = {}, 0
local later, ln = {}, 0
local answer, told = {}, {}
local state = call('HMGET', queue_key, 'bands', 'gate', 'pending', 'retrying')
local stored, gate = state[1], state[2] or ''
local bands = stored or ''
local marked = bands
-- Where the next run begins, how many tasks were looked at, and how many were accepted.
local at, i, made = 3, 0, 0

-- Holders of keys that got a new due time.
local moved = {}

-- How many more the queue takes; nil: as many as come. And what is ready or scheduled, where that counts.
local limit, room, before = tonumber(match(gate, 'd(%d+)')), nil, nil
local refused = 0

local function refuse()
  answer[#answer + 1] = -i
  refused = refused + 1
end

-- Notes that a task was accepted.
local function accept(uuid)
  if room then room = room - 1 end
  made = made + 1
  emit('Q1', uuid)
end

local function enter(prio, value)
  marked = with_band(marked, prio)
  return add_entry(prio, value)
end

-- A fresh task's own record, for the end of the step.
local function note(name, rec)
  records[rn + 1] = name
  records[rn + 2] = rec
  rn = rn + 2
end
