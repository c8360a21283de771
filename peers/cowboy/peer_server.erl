%% A WebSocket server: `/broadcast` sends each message to everybody there, every other path sends it back.
-module(peer_server).

-export([main/1, version/0]).

-define(BACKLOG, 8192).
-define(ACCEPTORS, 10).

main([Port]) ->
    {ok, _} = application:ensure_all_started(cowboy),
    peer_audience:create(),
    Routes = cowboy_router:compile([{'_', [{"/broadcast", peer_audience, []}, {'_', peer_echo, []}]}]),
    Transport = #{
        max_connections => infinity,
        num_acceptors => ?ACCEPTORS,
        socket_opts => [{ip, {127, 0, 0, 1}}, {port, list_to_integer(Port)}, {backlog, ?BACKLOG}, {nodelay, true}]
    },
    case cowboy:start_clear(peer, Transport, #{env => #{dispatch => Routes}}) of
        {ok, _} ->
            ok;
        {error, Reason} ->
            io:format(standard_error, "cowboy: cannot listen on port ~s: ~s~n", [Port, inet:format_error(Reason)]),
            halt(1)
    end.

version() ->
    ok = application:load(cowboy),
    {ok, Version} = application:get_key(cowboy, vsn),
    io:format("Cowboy ~s, Erlang/OTP ~s~n", [Version, erlang:system_info(otp_release)]),
    halt().
