-- Gives a publication its place, keeps it, and tells it to everybody, in one step.
-- Offsets are microseconds of this server's clock where that runs, and grow in any case: so that what is too old can be
-- told by its offset, and no offset is ever given twice, whatever a restart lost.
-- KEYS: marks, the topic's newest offset, its order. ARGV: channel, publication, most messages, greatest age in
-- microseconds, milliseconds to keep the place.
local marks = redis.call('HMGET', KEYS[1], 'epoch', 'stamp')
if not marks[1] then
  return redis.error_reply('MARKSGONE everything that was kept is gone')
end
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local offset = string.format('%.0f', math.max(now, marks[2] + 1))
local previous = redis.call('GET', KEYS[2]) or marks[2]
local oldest = string.format('%.0f', math.max(now - ARGV[4], 0))
local added = redis.pcall('XADD', KEYS[3], 'MAXLEN', '=', ARGV[3], offset, 'p', previous, 'd', ARGV[2])
redis.call('XTRIM', KEYS[3], 'MINID', '=', oldest)
if type(added) == 'table' and added.err then
  -- There is no room for it; what is too old makes some for the next.
  return added
end
-- With its newest all of it is too old.
redis.call('PEXPIRE', KEYS[3], string.format('%.0f', math.ceil(ARGV[4] / 1000)))
redis.call('SET', KEYS[2], offset, 'PX', ARGV[5])
redis.call('HSET', KEYS[1], 'stamp', offset)
local place = string.char(#marks[1]) .. marks[1] .. string.format('%020.0f%020.0f', offset, previous)
redis.call('PUBLISH', ARGV[1], 'o' .. place .. ARGV[2])
return { marks[1], offset }
