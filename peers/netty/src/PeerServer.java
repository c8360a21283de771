import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.handler.codec.http.HttpObjectAggregator;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.codec.http.websocketx.WebSocketFrameAggregator;
import io.netty.handler.codec.http.websocketx.WebSocketServerProtocolConfig;
import io.netty.handler.codec.http.websocketx.WebSocketServerProtocolHandler;
import io.netty.util.Version;

/** A WebSocket server: `/broadcast` sends each message to everybody there, every other path sends it back. */
public final class PeerServer {
    private static final int BACKLOG = 8192;
    private static final int REQUEST_BYTES_MAX = 8192;
    private static final int MESSAGE_BYTES_MAX = 1 << 20;

    private static final WebSocketServerProtocolConfig WEB_SOCKET = WebSocketServerProtocolConfig.newBuilder()
            .websocketPath("/")
            .checkStartsWith(true)
            .allowExtensions(false)
            .maxFramePayloadLength(MESSAGE_BYTES_MAX)
            .build();

    public static void main(String[] arguments) throws InterruptedException {
        if (arguments.length == 1 && arguments[0].equals("--version")) {
            System.out.println("Netty " + Version.identify().get("netty-codec-http").artifactVersion()
                    + ", Java " + Runtime.version());
            return;
        }
        if (arguments.length != 2 || !arguments[0].equals("--port")) {
            System.err.println("usage: PeerServer --port PORT");
            System.exit(2);
        }
        serve(Integer.parseInt(arguments[1]));
    }

    private static void serve(int port) throws InterruptedException {
        var loop = new MultiThreadIoEventLoopGroup(1, EpollIoHandler.newFactory());
        var handshake = new Handshake(new Audience(loop.next()));
        new ServerBootstrap()
                .group(loop)
                .channel(EpollServerSocketChannel.class)
                .option(ChannelOption.SO_BACKLOG, BACKLOG)
                .childOption(ChannelOption.TCP_NODELAY, true)
                .childHandler(new ChannelInitializer<Channel>() {
                    @Override
                    protected void initChannel(Channel channel) {
                        channel.pipeline().addLast(
                                new HttpServerCodec(),
                                new HttpObjectAggregator(REQUEST_BYTES_MAX),
                                new WebSocketServerProtocolHandler(WEB_SOCKET),
                                new WebSocketFrameAggregator(MESSAGE_BYTES_MAX),
                                handshake);
                    }
                })
                .bind("127.0.0.1", port).sync()
                .channel().closeFuture().sync();
    }
}
