-- The people on a topic, of every node but one whose lease stands.
-- KEYS: leases. ARGV: what keys of people begin with, topic, the node that asks.
-- Returns node, and refs with people, of each.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local answer = {}
for _, node in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], string.format('(%.0f', now), '+inf')) do
  if node ~= ARGV[3] then
    local people = redis.call('HGETALL', ARGV[1] .. node .. ':' .. ARGV[2])
    if #people > 0 then
      table.insert(answer, node)
      table.insert(answer, people)
    end
  end
end
return answer
