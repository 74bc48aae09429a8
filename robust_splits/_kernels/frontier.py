"""Priority queue of nodes for best-first growth: a binary max-heap in an array."""

from .compile import inner_kernel


@inner_kernel()
def push(heap, size, priority, node):
    """Add a node to a heap of `size` nodes; return the new size."""
    i = size
    while i > 0 and priority[heap[(i - 1) // 2]] < priority[node]:
        heap[i] = heap[(i - 1) // 2]
        i = (i - 1) // 2
    heap[i] = node
    return size + 1


@inner_kernel()
def pop(heap, size, priority):
    """Remove and return the node of highest priority from a heap of `size` nodes."""
    top = heap[0]
    size -= 1
    node = heap[size]
    i = 0
    while 2 * i + 1 < size:
        child = 2 * i + 1
        if child + 1 < size and priority[heap[child + 1]] > priority[heap[child]]:
            child += 1
        if priority[heap[child]] <= priority[node]:
            break
        heap[i] = heap[child]
        i = child
    heap[i] = node
    return top
