-- discard.lua: takes dead letters off the list, or removes them.
-- KEYS  1 root
-- ARGV  1 to 4 as in finished.lua, 5 '1' to remove the records, too, then for each: uuid, when it had finished (ms) or ''
-- gives for each: '+' done, or as in finished.lua
-- Invariant: only tasks on the list of dead letters change, and none of them is on it afterwards.
call('PERSIST', queue_key) -- first: a full server must not refuse what frees memory; see claim.lua
local purge = ARGV[5] == '1'
local now = clock()

local function discard(uuid, seen)
  local it, told = finished(uuid, seen, 'D', false)
  if not it then return told end
  local key = root .. TASK .. uuid
  if purge then
    call('DEL', key)
    if it.s.i then end_key(uuid, it.s.i, it.letter, 0) end
    if it.s.g then end_notes(uuid, it.s.g, 0) end
  else
    call('APPEND', key, section('o', tostring(now)))
  end
  unlist(uuid, it)
  return '+'
end

return for_each(6, purge and 'purge_dead_letters' or 'discard', discard)
