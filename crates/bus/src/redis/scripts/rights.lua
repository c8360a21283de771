#!lua flags=allow-oom
-- Does everything that the other scripts do, so that a right that is missing is noticed, and named, before it is needed.
-- KEYS: a key of no use. ARGV: a channel that nobody listens to.
local key = KEYS[1]
local calls = {
  { 'TIME' },
  { 'DEL', key },
  { 'SET', key, '', 'PX', 1000 },
  { 'GET', key },
  { 'DEL', key },
  { 'HSET', key, 'a', 'b' },
  { 'HGET', key, 'a' },
  { 'HMGET', key, 'a' },
  { 'HGETALL', key },
  { 'HLEN', key },
  { 'HDEL', key, 'a' },
  { 'SADD', key, 'a' },
  { 'PEXPIRE', key, 1000 },
  { 'PERSIST', key },
  { 'SREM', key, 'a' },
  { 'SPOP', key },
  { 'ZADD', key, 1, 'a' },
  { 'ZSCORE', key, 'a' },
  { 'ZRANGEBYSCORE', key, 1, 1 },
  { 'ZREM', key, 'a' },
  { 'XADD', key, 'MAXLEN', '=', 1, 1, 'a', 'b' },
  { 'XRANGE', key, '-', '+' },
  { 'XREVRANGE', key, '+', '-' },
  { 'XTRIM', key, 'MINID', '=', 2 },
  { 'DEL', key },
  { 'PUBLISH', ARGV[1], '' },
}
for _, words in ipairs(calls) do
  local answer = redis.pcall(unpack(words))
  if type(answer) == 'table' and answer.err then
    return redis.error_reply(answer.err .. ' (' .. words[1] .. ')')
  end
end
return 1
