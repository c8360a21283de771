// What this server uses of the C interface of uWebSockets (capi/libuwebsockets.h) and of the loop that socketify puts
// under it (native/src/libsocketify.h), as its Python package, which ships the library without headers, declares them.
// `ssl` is 0 throughout.

#ifndef UWEBSOCKETS_H
#define UWEBSOCKETS_H

#include <stdbool.h>
#include <stddef.h>

typedef struct socketify_loop socketify_loop;
typedef struct uws_app uws_app;
typedef struct uws_response uws_response;
typedef struct uws_request uws_request;
typedef struct uws_websocket uws_websocket;
typedef struct us_socket_context us_socket_context;
typedef struct us_listen_socket us_listen_socket;

typedef enum { TEXT = 1, BINARY = 2 } uws_opcode;
typedef enum { BACKPRESSURE, SUCCESS, DROPPED } uws_send_status;
enum { COMPRESSION_DISABLED = 0 };
enum { RUN_DEFAULT = 0 };
enum { LISTEN_EXCLUSIVE_PORT = 1 };

typedef struct {
    int port;
    const char *host;
    int options;
} uws_listen_config;

typedef struct {
    const char *key_file_name, *cert_file_name, *passphrase, *dh_params_file_name, *ca_file_name, *ssl_ciphers;
    int ssl_prefer_low_memory_usage;
} us_context_options;

typedef void (*uws_handler)(uws_websocket *socket, void *user_data);
typedef void (*uws_control_handler)(uws_websocket *socket, const char *message, size_t length, void *user_data);

typedef struct {
    int compression;
    unsigned int max_payload_length;
    unsigned short idle_timeout_s;
    unsigned int max_backpressure;
    bool close_on_backpressure_limit;
    bool reset_idle_timeout_on_send;
    bool send_pings_automatically;
    unsigned short max_lifetime_min;
    void (*upgrade)(uws_response *response, uws_request *request, us_socket_context *context, void *user_data);
    uws_handler open;
    void (*message)(uws_websocket *socket, const char *message, size_t length, uws_opcode opcode, void *user_data);
    uws_handler drain;
    uws_control_handler ping;
    uws_control_handler pong;
    void (*close)(uws_websocket *socket, int code, const char *message, size_t length, void *user_data);
    void (*subscription)(uws_websocket *socket, const char *topic, size_t length, int now, int before, void *user_data);
} uws_behavior;

socketify_loop *socketify_create_loop(void);
bool socketify_constructor_failed(socketify_loop *loop);
void *socketify_get_native_loop(socketify_loop *loop);
int socketify_loop_run(socketify_loop *loop, int mode);

void *uws_get_loop_with_native(void *native_loop);
uws_app *uws_create_app(int ssl, us_context_options options);
bool uws_constructor_failed(int ssl, uws_app *app);
void uws_ws(int ssl, uws_app *app, const char *pattern, uws_behavior behavior, void *user_data);
void uws_app_listen_with_config(int ssl, uws_app *app, uws_listen_config config,
                                void (*handler)(us_listen_socket *, uws_listen_config, void *), void *user_data);
uws_send_status uws_ws_send(int ssl, uws_websocket *socket, const char *message, size_t length, uws_opcode opcode);
bool uws_ws_subscribe(int ssl, uws_websocket *socket, const char *topic, size_t length);
bool uws_publish(int ssl, uws_app *app, const char *topic, size_t topic_length, const char *message, size_t length,
                 uws_opcode opcode, bool compress);
void *us_socket_get_native_handle(int ssl, us_listen_socket *socket);

#endif
