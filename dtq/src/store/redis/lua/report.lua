-- report.lua: keeps what running attempts tell of themselves.
-- KEYS  1 root
-- ARGV  1 number of reports, then for each: uuid, attempt, band, entry id, progress ('<millionths> <message>', or ''),
--       checkpoint with a '1' before it (or ''), number of the first line, number of lines n, n lines
-- gives 1 for each whose lease is current, else 0
-- Invariant: a task has notes if and only if its record says so in section g, by a letter each: 'n' notes (a hash), 'c'
--       a checkpoint among them, 'l' a log (a list). Those keys have a time to live if and only if the record has one.
call('PERSIST', queue_key) -- first, so that a full server does not hold up the end of an attempt; see claim.lua
local now = clock()
local answer, at = {}, 2

-- Writes the lines that no earlier copy of this call wrote: n of them stand before the next report.
local function write_lines(notes, log, lease, attempt, first, n)
  local who, known = match(call('HGET', notes, 'l') or '', '^(.*) (%d+)$')
  known = who == lease and tonumber(known) or 0
  for i = math.max(0, known - first), n - 1 do
    call('RPUSH', log, now .. ' ' .. attempt .. ' ' .. ARGV[at - n + i])
  end
  call('LTRIM', log, -LOG_KEPT, -1)
  call('HSET', notes, 'l', lease .. ' ' .. math.max(first + n, known))
end

for i = 1, ARGV[1] do
  local uuid, attempt, band, id = ARGV[at], ARGV[at + 1], ARGV[at + 2], ARGV[at + 3]
  local progress, checkpoint = ARGV[at + 4], ARGV[at + 5]
  local first, n = tonumber(ARGV[at + 6]), tonumber(ARGV[at + 7])
  at = at + 8 + n
  local rec = read_record(uuid)
  local letter, was, prio, place
  if rec then letter, was, prio, place = header(rec) end
  if letter == 'Q' and was == attempt and prio == band and place == id then
    answer[i] = 1
    local s = sections(rec)
    local notes, told = root .. NOTES .. uuid, s.g or 'n'
    if checkpoint ~= '' and not find(told, 'c', 1, true) then told = told .. 'c' end
    if n > 0 and not find(told, 'l', 1, true) then told = told .. 'l' end
    if told ~= s.g then
      s.g = told
      local head = match(rec, '^[^\n]*')
      write_record(uuid, head .. '\n' .. section('l', s.l) .. section('w', s.w) .. carried(s) .. section('h', s.h))
    end
    if progress ~= '' then call('HSET', notes, 'p', attempt .. ' ' .. now .. ' ' .. progress) end
    if checkpoint ~= '' then call('HSET', notes, 'c', sub(checkpoint, 2)) end
    if n > 0 then write_lines(notes, root .. LOG .. uuid, attempt .. ' ' .. id, attempt, first, n) end
  else
    answer[i] = 0
  end
end
return answer
