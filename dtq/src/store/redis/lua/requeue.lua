-- requeue.lua: puts finished tasks back into their queue.
-- KEYS  1 root
-- ARGV  1 to 4 as in finished.lua, 5 the statuses that may be, by letter, 6 '1' when discarded dead letters may be,
--       7 '1' when the arguments are replaced, 8 by these, then for each: uuid, when it had finished (ms) or ''
-- gives for each: '+' done, or as in finished.lua
-- Invariant: with its entry a task has a record that names it, and is on no list of dead letters any more.
call('PERSIST', queue_key) -- first, so that a full server does not refuse it; see claim.lua
local now = clock()
local bands = call('HGET', queue_key, 'bands') or ''
local before = bands

-- The meta of the next life: how many lives there were, with how many attempts, and when this one began.
local function reborn(meta, attempt)
  local times, attempts = match(meta, 'q(%d+)') or 0, match(meta, 'e(%d+)') or 0
  meta = string.gsub(meta, '[qeb]%d+', '')
  return meta .. 'q' .. times + 1 .. 'e' .. attempts + attempt .. 'b' .. now
end

local function requeue(uuid, seen)
  local it, told = finished(uuid, seen, ARGV[5], ARGV[6] == '1')
  if not it then return told end
  local s, prio = it.s, it.prio
  if not (s.t and s.m and s.p) then return '-' end
  local payload = ARGV[7] == '1' and ARGV[8] or s.p
  local id = add_entry(prio, entry_value(uuid, s.t, reborn(s.m, it.attempt), payload))
  write_record(uuid, 'Q1 ' .. prio .. ' ' .. id .. tail_of(holdings(s) .. section('h', s.h)))
  hold_again(uuid, s)
  if s.g then keep_notes(uuid, s.g) end
  if it.letter == 'S' then call('DEL', root .. RESULT .. uuid) end
  bands = with_band(bands, prio)
  emit('U1', uuid)
  if it.letter == 'D' and not s.o then unlist(uuid, it) end
  return '+'
end

local answer = for_each(9, 'requeue', requeue)
if bands ~= before then call('HSET', queue_key, 'bands', bands) end
local paused = byte(call('HGET', queue_key, 'gate') or '') == 112
for _, told in ipairs(answer) do
  if told == '+' and not paused then
    wake()
    break
  end
end
return answer
