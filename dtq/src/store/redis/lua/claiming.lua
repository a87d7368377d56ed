-- claiming.lua: what the parts of a claim share; its arguments and answer are described in claim.lua.
local worker, room, lease = ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])
local now = clock()

-- The first write of a script decides whether a full server refuses it. This one is never refused, so workers can
-- drain a server that has no memory left for new tasks.
call('PERSIST', queue_key)

changed = {}
local state = call('HMGET', queue_key, 'bands', 'sweep', 'tidy', 'seen', 'gate', 'watch')
local stored = state[1] or ''
local bands = stored
local out, on = { now, 0, -1, -1 }, 4
local more = false
local sweep_at = tonumber(state[2] or 0)

-- What holds the queue back; see slots.lua.
local gate = state[5] or ''
local paused, cap = byte(gate) == 112, tonumber(match(gate, 'c(%d+)'))
local by_kind = find(gate, 't', 1, true)
-- Entries that are to be dropped, that stay where they are and are nobody's (no more of their kind may run), and schedules that
-- are due.
local drop, aside, ticks = {}, {}, {}
-- How many entries of a batch were passed over, and how many of all were dropped or passed over.
local passed_over, dropped = 0, 0
local beats_key, schedule_key = root .. BEATS, root .. SCHEDULE

-- Where the group that is being handed out has its head and its length.
local group, length_at
-- Begins with so many more tasks under a head; their ids and values follow.
local function hand_out(head, many)
  if head ~= group then
    group, length_at, on = head, on + 2, on + 2
    out[on - 1], out[on] = head, 0
  end
  out[length_at] = out[length_at] + many
  room = room - many
end

local function hand_out_one(head, id, value)
  hand_out(head, 1)
  out[on + 1] = id
  out[on + 2] = value
  on = on + 2
end

-- The value of an entry, with the newer arguments that its record has.
local function value_of(entry, s)
  if not s.p then return entry[2][2] end
  local uuid, task, meta = opened(entry)
  return entry_value(uuid, task, meta, s.p)
end

-- What a head says more of a task that left a checkpoint.
local function resumes(s)
  return s.g and find(s.g, 'c', 1, true) and ' c' or ''
end

-- Entries that are done with, by their streams. They go at the end of the step.
local done = {}

local function done_with(stream, id)
  local ids = done[stream] or {}
  ids[#ids + 1] = id
  done[stream] = ids
end

-- The worker of a consumer's name, and of a sign of life's.
local function worker_of(name)
  return match(name, '^(.*)~%d+$') or name
end

-- Whoever holds something here gave a sign of life just now.
local function note_life()
  if on > 4 then call('ZADD', beats_key, now + ARGV[6], measured(worker_of(worker), ARGV[6])) end
end
