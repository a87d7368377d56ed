-- shared.lua: what the parts of a script tell each other.
--
-- A server makes every function of a script anew for each call, and a function that names what is declared far above it costs most.
-- So what is seldom needed stands inside a function that is called when it is.

-- Ended tasks that held keys: these are freed after the events, by free_held.
local ended_ones = {}
-- The limits that were looked up, see slots.lua; whether the holders of a new one are being gathered, and no limited task starts;
-- whether something was freed that somebody may wait for.
local limits, adopting, vacated = {}, false, false
