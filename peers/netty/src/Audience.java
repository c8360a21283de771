import io.netty.channel.ChannelHandler.Sharable;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.ChannelMatchers;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.util.concurrent.EventExecutor;

/** Sends every message to all who are connected here. */
@Sharable
final class Audience extends ChannelInboundHandlerAdapter {
    private static final int UNSENT_BYTES_MAX = 4 << 20;
    private static final WriteBufferWaterMark WATER_MARK =
            new WriteBufferWaterMark(UNSENT_BYTES_MAX / 2, UNSENT_BYTES_MAX);

    private final ChannelGroup members;

    Audience(EventExecutor executor) {
        members = new DefaultChannelGroup(executor);
    }

    @Override
    public void handlerAdded(ChannelHandlerContext context) {
        context.channel().config().setOption(ChannelOption.WRITE_BUFFER_WATER_MARK, WATER_MARK);
        members.add(context.channel()); // It leaves by itself when it is closed.
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
        members.writeAndFlush(message, ChannelMatchers.all(), true);
    }

    /** Who is too far behind is let go: the others do not wait, and memory is bounded. */
    @Override
    public void channelWritabilityChanged(ChannelHandlerContext context) {
        if (!context.channel().isWritable()) {
            context.close();
        }
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
        context.close();
    }
}
