-- block.lua: the records of fresh tasks that were accepted together, and whose uuids differ in their last two letters only. The two
-- before those are ROW_MARK, so that nobody looks for the block of another task.
--
-- block:<34 letters>  '<band> <ms> <base> <first>', a line break, and a letter for each task. The task whose uuid ends with p
-- (two hexadecimal digits) has the entry <ms>-<base + p>. Its letter, the one at p - first, is q while the block is its record,
-- which then is 'Q1 <band> <entry>'; it is '-' once the task has a record of its own, or none. A block goes with its last q.
--
-- A script reads the record of a task before it writes it, so a block that is not known here has none of its tasks.
local blocks = {}

-- A block taken apart, or false.
local function block_of(begins)
  local block = blocks[begins]
  if block ~= nil then return block end
  local key = root .. BLOCK .. begins
  local found = call('GET', key)
  block = false
  if found then
    local band, ms, base, first, at = match(found, '^(%d) (%d+) (%-?%d+) (%d+)\n()')
    block = { key = key, band = band, ms = ms, base = tonumber(base), first = tonumber(first), from = at, letters = sub(found, at) }
  end
  blocks[begins] = block
  return block
end

-- The place of a uuid among the letters of its block.
local function letter_at(block, uuid)
  return tonumber(sub(uuid, 35), 16) - block.first + 1
end

-- The record of a task that a block tells, or nil.
local function fresh(uuid)
  local block = sub(uuid, 33, 34) == ROW_MARK and block_of(sub(uuid, 1, 34))
  if not block then return nil end
  local at = letter_at(block, uuid)
  if at < 1 or byte(block.letters, at) ~= 113 then return nil end
  return 'Q1 ' .. block.band .. ' ' .. block.ms .. '-' .. (block.base + block.first + at - 1)
end

-- Blocks whose letters changed; a table while they are to be written once, at the end of the step.
local changed

local function write_letters(block)
  if find(block.letters, 'q', 1, true) then
    call('SETRANGE', block.key, block.from - 1, block.letters)
  else
    call('DEL', block.key)
  end
end

-- Notes the letters of a block whose tasks left it.
local function leave(block, letters)
  block.letters = letters
  if changed then changed[block.key] = block else write_letters(block) end
end

local function write_blocks()
  for _, block in pairs(changed) do write_letters(block) end
  changed = nil
end

local function leave_block(uuid)
  local block = blocks[sub(uuid, 1, 34)]
  if not block then return end
  local at, letters = letter_at(block, uuid), block.letters
  if at < 1 or byte(letters, at) ~= 113 then return end
  leave(block, sub(letters, 1, at - 1) .. '-' .. sub(letters, at + 1))
end

local function read_record(uuid)
  return plain(call('GET', root .. TASK .. uuid)) or fresh(uuid)
end

-- The records of many tasks, as they are in the store: packed ones stay so. False for those that have none.
local function read_records(uuids)
  if #uuids == 0 then return {} end
  local keys, task_key = {}, root .. TASK
  for i = 1, #uuids do keys[i] = task_key .. uuids[i] end
  local recs = call('MGET', unpack(keys))
  for i = 1, #uuids do recs[i] = recs[i] or fresh(uuids[i]) or false end
  return recs
end

-- keep: how long the record lives (ms), or nil.
local function write_record(uuid, rec, keep)
  if keep then call('SET', root .. TASK .. uuid, rec, 'PX', keep) else call('SET', root .. TASK .. uuid, rec) end
  leave_block(uuid)
end

local function delete_record(uuid)
  call('DEL', root .. TASK .. uuid)
  leave_block(uuid)
end
