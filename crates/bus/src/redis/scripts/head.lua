-- Where a topic stands. One that nobody knows stands where the newest of all topics does: what was there before is gone.
-- KEYS: marks, the topic's newest offset. ARGV: milliseconds to keep the place.
local marks = redis.call('HMGET', KEYS[1], 'epoch', 'stamp')
if not marks[1] then
  return redis.error_reply('MARKSGONE everything that was kept is gone')
end
local newest = redis.call('GET', KEYS[2]) or marks[2]
redis.call('SET', KEYS[2], newest, 'PX', ARGV[1])
return { marks[1], newest }
