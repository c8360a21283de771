// A WebSocket server: `/broadcast` sends each message to everybody there, every other path sends it back.

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include "uwebsockets.h"

enum { BACKLOG = 8192, MESSAGE_BYTES_MAX = 1 << 20, UNSENT_BYTES_MAX = 4 << 20 };

static const char TOPIC[] = "broadcast";
enum { TOPIC_BYTES = sizeof TOPIC - 1 };

static void fail(const char *what) {
    fprintf(stderr, "uwebsockets: %s\n", what);
    exit(1);
}

static void ignore(uws_websocket *socket, void *user_data) {
    (void)socket, (void)user_data;
}

static void subscribe(uws_websocket *socket, void *user_data) {
    (void)user_data;
    uws_ws_subscribe(0, socket, TOPIC, TOPIC_BYTES);
}

static void echo(uws_websocket *socket, const char *message, size_t length, uws_opcode opcode, void *user_data) {
    (void)user_data;
    uws_ws_send(0, socket, message, length, opcode);
}

static void broadcast(uws_websocket *socket, const char *message, size_t length, uws_opcode opcode, void *app) {
    (void)socket;
    uws_publish(0, app, TOPIC, TOPIC_BYTES, message, length, opcode, false);
}

static void listening(us_listen_socket *socket, uws_listen_config config, void *user_data) {
    (void)user_data;
    if (socket == NULL) {
        fprintf(stderr, "uwebsockets: cannot listen on %s:%d\n", config.host, config.port);
        exit(1);
    }
    // The library asks for a backlog of 512, and has no setting for it. Asking again raises it.
    int descriptor = (int)(intptr_t)us_socket_get_native_handle(0, socket);
    if (listen(descriptor, BACKLOG) != 0)
        perror("uwebsockets: the backlog stays at 512");
}

static void raise_descriptor_limit(void) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        fail("cannot read the limit of descriptors");
    limit.rlim_cur = limit.rlim_max;
    if (setrlimit(RLIMIT_NOFILE, &limit) != 0)
        fail("cannot raise the limit of descriptors");
}

static int port_of(int count, char **arguments) {
    if (count == 3 && strcmp(arguments[1], "--port") == 0) {
        int port = atoi(arguments[2]);
        if (port > 0 && port <= UINT16_MAX)
            return port;
    }
    fail("usage: uwebsockets --port PORT");
    return 0;
}

int main(int count, char **arguments) {
    int port = port_of(count, arguments);
    raise_descriptor_limit();

    socketify_loop *loop = socketify_create_loop();
    if (loop == NULL || socketify_constructor_failed(loop))
        fail("cannot create the loop");
    uws_get_loop_with_native(socketify_get_native_loop(loop));
    uws_app *app = uws_create_app(0, (us_context_options){0});
    if (app == NULL || uws_constructor_failed(0, app))
        fail("cannot create the server");

    uws_behavior echoing = {
        .compression = COMPRESSION_DISABLED,
        .max_payload_length = MESSAGE_BYTES_MAX,
        .max_backpressure = UNSENT_BYTES_MAX,
        .open = ignore,
        .message = echo,
    };
    uws_behavior broadcasting = echoing;
    broadcasting.open = subscribe;
    broadcasting.message = broadcast;
    uws_ws(0, app, "/broadcast", broadcasting, app);
    uws_ws(0, app, "/*", echoing, app);
    uws_app_listen_with_config(0, app, (uws_listen_config){port, "127.0.0.1", LISTEN_EXCLUSIVE_PORT}, listening, app);
    return socketify_loop_run(loop, RUN_DEFAULT);
}
