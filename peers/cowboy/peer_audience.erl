%% Sends every message to all who are connected here, by way of their processes.
%%
%% They stand in a table, as in Phoenix's registry: to come and to go costs the same however many are there. (A group of
%% `pg` is one list, copied each time.)
-module(peer_audience).
-behaviour(cowboy_websocket).

-export([create/0, init/2, websocket_init/1, websocket_handle/2, websocket_info/2, terminate/3]).

%% A table goes with the process that created it: this one stays.
create() ->
    Caller = self(),
    spawn(fun() ->
        ets:new(?MODULE, [named_table, public, set]),
        Caller ! {?MODULE, created},
        timer:sleep(infinity)
    end),
    receive {?MODULE, created} -> ok end.

init(Request, State) ->
    {cowboy_websocket, Request, State, peer_echo:options()}.

websocket_init(State) ->
    ets:insert(?MODULE, {self()}),
    {[], State, hibernate}.

websocket_handle({Kind, _} = Message, State) when Kind =:= text; Kind =:= binary ->
    Members = ets:select(?MODULE, [{{'$1'}, [], ['$1']}]),
    [Member ! {broadcast, Message} || Member <- Members],
    {[], State};
websocket_handle(_, State) ->
    {[], State}.

websocket_info({broadcast, Message}, State) ->
    {[Message], State};
websocket_info(_, State) ->
    {[], State}.

%% Also called where the connection was never upgraded, or never got into the table.
terminate(_Reason, _Request, _State) ->
    ets:delete(?MODULE, self()),
    ok.
