/** Something in a recency list; `older` and `newer` are the list's own. */
export interface Linked<Node> {
  older: Node | undefined
  newer: Node | undefined
}

/**
 * Things in the order in which they were last touched. A `Map` in that order would be walked from its front over all that
 * has left it.
 */
export interface RecencyList<Node extends Linked<Node>> {
  /** Makes it the newest, whether or not it is in the list. */
  touch(node: Node): void
  remove(node: Node): void
  oldest(): Node | undefined
  clear(): void
}

export function createRecencyList<Node extends Linked<Node>>(): RecencyList<Node> {
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
