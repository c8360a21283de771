#!lua flags=allow-oom
-- Begins or renews a node's lease, and clears away whose lease is over: their people go with them. A node that begins is
-- one of these if its own was over: it announces anew who is there.
-- KEYS: leases, where nodes listen. ARGV: node, milliseconds of a lease, 'begin' or 'renew', what keys of topics and of
-- people begin with, channel of the nodes, most topics to clear, and where a node that begins listens and what has to be
-- shown there, or ''.
-- Returns 1 and the nodes whose leases stand, each with what it said of where it listens; 0 if this node's does not; or 2
-- if more of this node's has to be cleared before it begins.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local is_news = ARGV[3] == 'begin'
local ends = tonumber(redis.call('ZSCORE', KEYS[1], ARGV[1]) or 0)
local left = tonumber(ARGV[7])
local function clear(node)
  while left > 0 do
    local topic = redis.call('SPOP', ARGV[4] .. node)
    if not topic then
      return true
    end
    redis.call('DEL', ARGV[5] .. node .. ':' .. topic)
    left = left - 1
  end
  return false
end
if ends <= now and not is_news then
  return { 0 }
elseif ends <= now and not clear(ARGV[1]) then
  return { 2 }
end
redis.call('ZADD', KEYS[1], string.format('%.0f', now + ARGV[2]), ARGV[1])
if ARGV[3] == 'begin' then
  redis.call('HSET', KEYS[2], ARGV[1], ARGV[8])
end
for _, node in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', string.format('%.0f', now))) do
  if clear(node) then
    redis.call('ZREM', KEYS[1], node)
    redis.call('HDEL', KEYS[2], node)
    is_news = true
  end
end
if is_news then
  redis.call('PUBLISH', ARGV[6], ARGV[1])
end
local answer = { 1 }
for _, node in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], string.format('(%.0f', now), '+inf')) do
  table.insert(answer, node)
  table.insert(answer, redis.call('HGET', KEYS[2], node) or '')
end
return answer
