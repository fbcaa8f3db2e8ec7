"""Published worked examples computed by the engine, and how far the answers lie from them."""
