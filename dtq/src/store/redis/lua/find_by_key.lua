-- find_by_key.lua: the task of an idempotency key. Writes nothing.
-- KEYS  1 root
-- ARGV  1 key
-- gives its uuid, or nothing
local uuid = holder(root .. IDEMPOTENCY .. ARGV[1])
return uuid ~= '' and call('EXISTS', root .. TASK .. uuid) == 1 and uuid
