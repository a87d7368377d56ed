-- looking.lua: what the scripts share that are run by hand.

-- The letter of a record's status: that of its header, or B for a queued one whose entry is handed out.
local function status_letter(letter, prio, place)
  if letter ~= 'Q' then return letter end
  local pending = redis.pcall('XPENDING', root .. STREAM .. prio, GROUP, place, place, 1)
  return not pending.err and pending[1] and 'B' or 'Q'
end

-- A record without what may be large: the header, and the sections that a listing shows.
-- task, meta: from the entry, where the record has none.
local function brief(rec, s, task, meta)
  task, meta = task or s.t, meta or s.m
  local last = s.h and match(s.h, '([^\n]*)$')
  return match(rec, '^[^\n]*') .. '\nt' .. #task .. ':' .. task .. 'm' .. #meta .. ':' .. meta
    .. section('h', last) .. section('w', s.w) .. section('o', s.o)
end
