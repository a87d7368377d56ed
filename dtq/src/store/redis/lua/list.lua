-- list.lua: tasks of one status that is kept in order. Writes nothing.
-- KEYS  1 root
-- ARGV  1 the letter of the status: Q, B (running), P, R or D, 2 where to go on ('' at the beginning), 3 how many to look
--       at, 4 '1' newest first
-- gives now, where to go on ('' at the end), then for each task: uuid, its place, its record without what may be large
local wanted, cursor, room, newest = ARGV[1], ARGV[2], tonumber(ARGV[3]), ARGV[4] == '1'
local now = clock()
local out, reached = { now, '' }, ''

local function add(uuid, text)
  out[#out + 1] = uuid
  out[#out + 1] = reached
  out[#out + 1] = text
end

-- The entries between two places of a stream, from the end that comes first.
local function entries(stream, low, high, count)
  if newest then return call('XREVRANGE', stream, high, low, 'COUNT', count) end
  return call('XRANGE', stream, low, high, 'COUNT', count)
end

-- Where the group has come to: entries up to there are handed out, those behind are ready.
local function handed_out(stream)
  local groups = redis.pcall('XINFO', 'GROUPS', stream)
  if groups.err then return '0-0' end
  for _, group in ipairs(groups) do
    local about = {}
    for i = 1, #group, 2 do about[group[i]] = group[i + 1] end
    if about.name == GROUP then return about['last-delivered-id'] end
  end
  return '0-0'
end

-- True when one entry's id comes after the other's.
local function later(one, other)
  local ms, number = match(one, '^(%d+)-(%d+)$')
  local other_ms, other_number = match(other, '^(%d+)-(%d+)$')
  if ms ~= other_ms then return tonumber(ms) > tonumber(other_ms) end
  return tonumber(number) > tonumber(other_number)
end

-- Ready tasks that were passed over stand among those that are handed out.
local passed_over = find(call('HGET', queue_key, 'gate') or '', 't', 1, true)

local function list_band(band, from)
  local stream = root .. STREAM .. band
  local upto = handed_out(stream)
  local low, high = '-', '+'
  if wanted == 'B' then high = upto elseif not passed_over then low = '(' .. upto end
  if from and newest then high = '(' .. from end
  -- What was ready when the last page was read may have been handed out since.
  if from and not newest and (wanted == 'B' or passed_over or not later(upto, from)) then low = '(' .. from end
  for _, entry in ipairs(entries(stream, low, high, room)) do
    local id = entry[1]
    local uuid, task, meta = opened(entry)
    local rec = read_record(uuid)
    local letter, _, _, place
    if rec then letter, _, _, place = header(rec) end
    reached, room = band .. ':' .. id, room - 1
    local meant = letter == 'Q' and place == id and (not passed_over or status_letter(letter, band, id) == wanted)
    if meant then add(uuid, brief(rec, sections(rec), task, meta)) end
  end
end

local function list_bands()
  local at, from = match(cursor, '^(%d):(.*)$')
  local first, last, step = 9, 0, -1
  if newest then first, last, step = 0, 9, 1 end
  for band = tonumber(at) or first, last, step do
    list_band(band, tostring(band) == at and from or nil)
    if room == 0 then return end
  end
end

-- How many places of the schedule come before one, and that one itself when it is there or `itself` is false.
local function rank(due, uuid, itself)
  local key = root .. SCHEDULE
  local low, high = call('ZCOUNT', key, '-inf', '(' .. due), call('ZCOUNT', key, '-inf', due)
  while low < high do
    local middle = math.floor((low + high) / 2)
    local there = call('ZRANGE', key, middle, middle)[1]
    if there < uuid or (itself and there == uuid) then low = middle + 1 else high = middle end
  end
  return low
end

local function list_schedule()
  local key = root .. SCHEDULE
  local due, uuid = match(cursor, '^(%S+) (%S+)$')
  local first, last
  if newest then
    last = (due and rank(due, uuid, false) or call('ZCARD', key)) - 1
    first = math.max(0, last - room + 1)
  else
    first = due and rank(due, uuid, true) or 0
    last = first + room - 1
  end
  if last < first then return end
  local found = call('ZRANGE', key, first, last, 'WITHSCORES')
  local from, to, step = 1, #found, 2
  if newest then from, to, step = #found - 1, 1, -2 end
  for i = from, to, step do
    local rec = call('GET', root .. TASK .. found[i])
    reached, room = found[i + 1] .. ' ' .. found[i], room - 1
    if rec and header(rec) == wanted then add(found[i], brief(rec, sections(rec))) end
  end
end

local function list_letters()
  local low, high = '-', '+'
  if cursor ~= '' then
    if newest then high = '(' .. cursor else low = '(' .. cursor end
  end
  for _, entry in ipairs(entries(root .. DLQ, low, high, room)) do
    local uuid = entry[2][2]
    local rec = call('GET', root .. TASK .. uuid)
    local s = rec and sections(rec)
    reached, room = entry[1], room - 1
    if rec and header(rec) == 'D' and (not s.d or s.d == entry[1]) then add(uuid, brief(rec, s)) end
  end
end

if wanted == 'D' then list_letters() elseif wanted == 'P' or wanted == 'R' then list_schedule() else list_bands() end
if room == 0 then out[2] = reached end
return out
