import io.netty.channel.ChannelHandler.Sharable;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.codec.http.websocketx.WebSocketServerProtocolHandler.HandshakeComplete;

/** Stands in the pipeline until the connection is upgraded, then makes room for what its path asks for. */
@Sharable
final class Handshake extends ChannelInboundHandlerAdapter {
    private final Audience audience;
    private final Echo echo = new Echo();

    Handshake(Audience audience) {
        this.audience = audience;
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext context, Object event) {
        if (event instanceof HandshakeComplete upgraded) {
            boolean listens = upgraded.requestUri().equals("/broadcast");
            context.pipeline().replace(this, null, listens ? audience : echo);
        }
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
        context.close(); // A peer that breaks the protocol or goes away costs its own connection, nothing else.
    }
}
