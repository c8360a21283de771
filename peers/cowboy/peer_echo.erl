%% Sends every message back.
-module(peer_echo).
-behaviour(cowboy_websocket).

-export([init/2, options/0, websocket_init/1, websocket_handle/2, websocket_info/2]).

-define(MESSAGE_BYTES_MAX, 1048576).

init(Request, State) ->
    {cowboy_websocket, Request, State, options()}.

options() ->
    #{compress => false, idle_timeout => infinity, max_frame_size => ?MESSAGE_BYTES_MAX}.

%% Who has just come may stay silent for long: its process gives back what the handshake needed.
websocket_init(State) ->
    {[], State, hibernate}.

websocket_handle({Kind, _} = Message, State) when Kind =:= text; Kind =:= binary ->
    {[Message], State};
websocket_handle(_, State) ->
    {[], State}.

websocket_info(_, State) ->
    {[], State}.
