"""The few operations that plain tensor code does in too much memory or too many passes."""
