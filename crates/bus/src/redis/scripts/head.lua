-- Where a topic stands. One that nobody knows stands where the newest of all topics does: what was there before is gone.
-- Where there is no room for its place, it is not kept.
-- KEYS: marks, the topic's newest offset. ARGV: milliseconds to keep the place.
local marks = redis.call('HMGET', KEYS[1], 'epoch', 'stamp')
if not marks[1] then
  return redis.error_reply('MARKSGONE everything that was kept is gone')
end
local newest = redis.call('GET', KEYS[2]) or marks[2]
local kept = redis.pcall('SET', KEYS[2], newest, 'PX', ARGV[1])
if kept.err and not string.find(kept.err, '^OOM') then
  return kept
end
return { marks[1], newest }
