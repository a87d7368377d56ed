-- find_by_key.lua: the task of an idempotency key. Writes nothing.
-- KEYS  1 root
-- ARGV  1 key
-- gives its uuid, or nothing
return (of_key(ARGV[1])) or false
