%% Sends every message to all who are connected here, by way of their processes.
-module(peer_audience).
-behaviour(cowboy_websocket).

-export([init/2, websocket_init/1, websocket_handle/2, websocket_info/2]).

init(Request, State) ->
    {cowboy_websocket, Request, State, peer_echo:options()}.

websocket_init(State) ->
    ok = pg:join(?MODULE, self()),
    {[], State, hibernate}.

websocket_handle({Kind, _} = Message, State) when Kind =:= text; Kind =:= binary ->
    [Member ! {broadcast, Message} || Member <- pg:get_local_members(?MODULE)],
    {[], State};
websocket_handle(_, State) ->
    {[], State}.

websocket_info({broadcast, Message}, State) ->
    {[Message], State};
websocket_info(_, State) ->
    {[], State}.
