-- plan.lua: reading and writing schedules. Each is a field of one hash, by its name:
--   <revision> <c: of the code, a: of a client> <1: paused> <1: nobody declares it> <stamp> <declared until> <since> <next>
--   <last tick> <uuid of the last task> <fired> <passed over> <s: skips overlaps, a: allows them>
-- in one line, then a line with what was said of it (JSON, see definition.rs), then the payload. Instants are in ms; '-'
-- stands for none. Its place in the schedule, '@<name>', says when a worker looks at it next; a paused one has none.
local schedules_key = root .. SCHEDULES
local PLAN = { 'rev', 'origin', 'paused', 'left', 'stamp', 'til', 'since', 'next', 'last', 'task', 'fired', 'passed', 'overlap' }

local function read_plan(name)
  local text = call('HGET', schedules_key, name)
  if not text then return nil end
  local line, body = match(text, '^([^\n]*)\n(.*)$')
  local plan, i = { body = body }, 0
  for word in string.gmatch(line, '%S+') do
    i = i + 1
    plan[PLAN[i]] = word
  end
  return plan, text
end

local function write_plan(name, plan)
  local words = {}
  for i = 1, #PLAN do words[i] = plan[PLAN[i]] end
  call('HSET', schedules_key, name, concat(words, ' ') .. '\n' .. plan.body)
end

-- A worker shall look at it at an instant; an idle one learns of it when that is earlier than it knew.
local function look_at(name, at)
  local member = '@' .. name
  local before = call('ZSCORE', root .. SCHEDULE, member)
  call('ZADD', root .. SCHEDULE, at, member)
  if not before or tonumber(at) < tonumber(before) then wake() end
end

-- A new meaning, or a new beginning: the next tick is to be reckoned, by whoever claims next.
local function begin_anew(name, plan, now)
  plan.rev = plan.rev + 1
  plan.since, plan.next = now, '-'
  if plan.paused == '0' then
    look_at(name, now)
  else
    call('ZREM', root .. SCHEDULE, '@' .. name)
  end
end

-- Its number has never been: one of this name may have been removed while somebody reckoned its ticks.
local function new_plan(origin, overlap, body, now)
  return {
    rev = now, origin = origin, paused = '0', left = '0', stamp = '-', til = '-', last = '-', task = '-', fired = 0,
    passed = 0, overlap = overlap, body = body,
  }
end

local function no_room()
  return call('HLEN', schedules_key) >= MOST_SCHEDULES
end
