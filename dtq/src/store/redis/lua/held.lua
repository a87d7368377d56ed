-- held.lua: what tasks hold beside their records, and how tasks end.
--
-- Sections of a record: 'i' is '<how long the key is remembered, ms> <idempotency key>', 'u' is '<s|f|p><period, ms>
-- <unique key>' (held until started, until finished, for a period). The keys themselves:
--   idempotency:<key>  <p|c|f><uuid>: its task is in progress, completed, or ended without success
--   unique:<key>       <s|f|p><uuid>: the task that holds it
-- A task frees only what names it: by the time it ends another may hold what was its own.

-- What a record takes along from status to status: also which notes there are of what its attempts told ('g').
local function holdings(s)
  return section('i', s.i) .. section('u', s.u) .. section('g', s.g)
end

-- The same for a task whose envelope is in its stream entry: newer arguments are in the record, and go before those.
local function carried(s)
  return section('p', s.p) .. holdings(s)
end

-- Sections as the tail of a header.
local function tail_of(text)
  return text == '' and '' or '\n' .. text
end

local function holder(key)
  return sub(call('GET', key) or '', 2)
end

-- The key in one of those sections.
local function name_in(section_text)
  return section_text and match(section_text, ' (.*)$')
end

-- The task of an idempotency key, and the letter of its record; nothing when the key is free, or its task is gone (one of
-- the same id may be there that knows nothing of the key).
local function of_key(name)
  local uuid = holder(root .. IDEMPOTENCY .. name)
  local rec = uuid ~= '' and read_record(uuid)
  if not rec or name_in(sections(rec).i) ~= name then return nil end
  return uuid, sub(rec, 1, 1)
end

local function end_key(uuid, i, letter, keep)
  local ms, name = match(i, '^(%d+) (.*)$')
  local key = root .. IDEMPOTENCY .. name
  if holder(key) ~= uuid then return end
  if keep == 0 then
    call('DEL', key)
  else
    call('SET', key, (letter == 'S' and 'c' or 'f') .. uuid, 'PX', ms)
  end
end

local function unlock(uuid, u)
  local key = root .. UNIQUE .. name_in(u)
  if holder(key) == uuid then call('DEL', key) end
end

-- The first attempt of a task begins.
local function begun(uuid, s)
  if s.u and byte(s.u) == 115 then unlock(uuid, s.u) end
end

-- Notes a task that ended in this step, when it holds something. letter: how it ended. keep: how long its record is kept. s: the sections it had.
local function ends_holding(uuid, letter, keep, s)
  if s and (s.i or s.u) then ended_ones[#ended_ones + 1] = { uuid, letter, keep, s } end
end

local function free_held()
  for _, it in ipairs(ended_ones) do
    local uuid, letter, s = it[1], it[2], it[4]
    if s.i then end_key(uuid, s.i, letter, it[3]) end
    if s.u and not (byte(s.u) == 112 and letter == 'S') then unlock(uuid, s.u) end
  end
end

-- Makes a task hold again what it held, when it is set back from its end to waiting; not what is another's by now.
local function hold_again(uuid, s)
  if s.i then
    local name = name_in(s.i)
    local other = of_key(name)
    if not other or other == uuid then call('SET', root .. IDEMPOTENCY .. name, 'p' .. uuid) end
  end
  if s.u then
    local mode, ms, name = match(s.u, '^(%l)(%d*) (.*)$')
    local key = root .. UNIQUE .. name
    local other = holder(key)
    if other == '' or other == uuid then
      if mode == 'p' then call('SET', key, mode .. uuid, 'PX', ms) else call('SET', key, mode .. uuid) end
    end
  end
end

-- Writes a finished record, or removes it when nothing is to be kept. s: the sections that the task had.
local function finish(uuid, head, tail, keep, s)
  if s and s.g then end_notes(uuid, s.g, keep) end
  if keep > 0 then
    local held = s and holdings(s) or ''
    write_record(uuid, head .. (tail == '' and tail_of(held) or tail .. held), keep)
  else
    delete_record(uuid)
  end
  ends_holding(uuid, sub(head, 1, 1), keep, s)
end
