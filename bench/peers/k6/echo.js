// CLIENTS users, one WebSocket each: send 64 bytes, wait for the echo, again.
import { WebSocket } from 'k6/experimental/websockets';

export const options = {
  scenarios: {
    echo: { executor: 'per-vu-iterations', vus: Number(__ENV.CLIENTS), iterations: 1, maxDuration: '1h' },
  },
};

const message = '0123456789abcdef'.repeat(4);

export default function () {
  const socket = new WebSocket(__ENV.URL);
  socket.onopen = () => socket.send(message);
  socket.onmessage = () => socket.send(message);
}
