// CLIENTS users, one WebSocket each, that stay and say nothing.
import { WebSocket } from 'k6/experimental/websockets';

export const options = {
  scenarios: {
    idle: { executor: 'per-vu-iterations', vus: Number(__ENV.CLIENTS), iterations: 1, maxDuration: '1h' },
  },
};

export default function () {
  const socket = new WebSocket(__ENV.URL);
  // Without a listener k6 would have nothing to keep for this user.
  socket.onmessage = () => {};
}
