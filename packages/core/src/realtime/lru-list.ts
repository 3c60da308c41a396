/** A node of an LRU list; only the list reads and writes `older` and `newer`. */
export interface LruNode<Node> {
  older: Node | undefined
  newer: Node | undefined
}

/**
 * Nodes ordered by when they were last touched. A linked list, because finding the oldest entry of a `Map` means
 * stepping over the entries deleted before it.
 */
export interface LruList<Node extends LruNode<Node>> {
  /** Makes the node the newest; inserts it if it is not in the list. */
  touch(node: Node): void
  remove(node: Node): void
  oldest(): Node | undefined
  clear(): void
}

export function createLruList<Node extends LruNode<Node>>(): LruList<Node> {
  let oldest: Node | undefined
  let newest: Node | undefined

  const remove = (node: Node) => {
    const { older, newer } = node
    if (older !== undefined) older.newer = newer
    else if (oldest === node) oldest = newer
    if (newer !== undefined) newer.older = older
    else if (newest === node) newest = older
    node.older = undefined
    node.newer = undefined
  }

  return {
    touch(node) {
      if (newest === node) return
      remove(node)
      node.older = newest
      if (newest !== undefined) newest.newer = node
      newest = node
      oldest ??= node
    },
    remove,
    oldest: () => oldest,
    clear() {
      oldest = undefined
      newest = undefined
    },
  }
}
