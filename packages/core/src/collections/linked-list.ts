/** An item in a list; the handle to remove it with. */
export interface ListNode<T> {
  readonly item: T
  readonly next: ListNode<T> | undefined
}

/** A queue from which any item can be removed in constant time. */
export interface LinkedList<T> {
  readonly size: number
  readonly first: ListNode<T> | undefined
  readonly last: ListNode<T> | undefined
  /** Adds the item at the end. */
  push(item: T): ListNode<T>
  /** Removes the item. The node must be in this list. */
  remove(node: ListNode<T>): void
  /** Position of the node, starting at 1. Constant time for the last node, otherwise linear. */
  positionOf(node: ListNode<T>): number
}

interface Linked<T> extends ListNode<T> {
  next: Linked<T> | undefined
  previous: Linked<T> | undefined
}

export function createLinkedList<T>(): LinkedList<T> {
  let first: Linked<T> | undefined
  let last: Linked<T> | undefined
  let size = 0

  return {
    get size() {
      return size
    },
    get first() {
      return first
    },
    get last() {
      return last
    },
    push(item) {
      const node: Linked<T> = { item, next: undefined, previous: last }
      if (last === undefined) first = node
      else last.next = node
      last = node
      size++
      return node
    },
    remove(node) {
      const { next, previous } = node as Linked<T>
      if (previous === undefined) first = next
      else previous.next = next
      if (next === undefined) last = previous
      else next.previous = previous
      size--
    },
    positionOf(node) {
      if (node === last) return size
      let position = 1
      for (let one: ListNode<T> | undefined = first; one !== undefined && one !== node; one = one.next) position++
      return position
    },
  }
}
