-- scan.lua: finished tasks of one status, wherever the server's walk through all its keys comes by. Writes nothing.
-- KEYS  1 root
-- ARGV  1 the letter of the status, 2 the server's cursor, 3 how many keys to look at, about, 4 the pattern of record keys
-- gives now, the next cursor, then for each task: uuid, '', its record without what may be large
local now = clock()
local page = call('SCAN', ARGV[2], 'MATCH', ARGV[4], 'COUNT', ARGV[3])
local out, prefix = { now, page[1] }, #root + #TASK
for _, key in ipairs(page[2]) do
  local rec = call('GET', key)
  if rec and sub(rec, 1, 1) == ARGV[1] then
    out[#out + 1] = sub(key, prefix + 1)
    out[#out + 1] = ''
    out[#out + 1] = brief(rec, sections(rec))
  end
end
return out
