-- unheard.lua: the body of `hand_out_unheard` in claim.lua: hands out again what was handed to this worker, which never heard of it.
-- Their attempt has not begun. ARGV from 8 on: what the worker holds.
local held = {}
for i = 8, #ARGV do held[ARGV[i]] = true end
for band = 9, 0, -1 do
  local digit, from = tostring(band), '-'
  local stream = root .. STREAM .. digit
  while true do
    local page = redis.pcall('XPENDING', stream, GROUP, from, '+', BATCH, worker)
    if page.err then break end
    for _, it in ipairs(page) do
      local id = it[1]
      local entry = not held[digit .. ':' .. id] and call('XRANGE', stream, id, id)[1]
      local rec = entry and read_record(opened(entry))
      local letter, attempt, _, ref
      if rec then letter, attempt, _, ref = header(rec) end
      if letter == 'Q' and ref == id then
        if room == 0 then
          more = true
          return
        end
        call('XCLAIM', stream, GROUP, worker, 0, id, 'JUSTID')
        local s = sections(rec)
        hand_out_one(digit .. ' ' .. attempt .. ' 0' .. resumes(s), id, value_of(entry, s))
      end
    end
    if #page < BATCH then break end
    from = '(' .. page[#page][1]
  end
end
