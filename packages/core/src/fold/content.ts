import { isOpenApproval, type JsonVersion } from '@perdure/protocol'
import { allItems, findItem, type ItemList, NO_ITEMS, positionOf, putItem } from './item-list.ts'
import { addKey, type KeySet, keysOf, NO_KEYS, removeKey } from './key-set.ts'
import type { ReasoningItem, TextItem, ToolItem, TranscriptItem } from './transcript.ts'

/** What the run has shown so far. */
export interface Content {
  readonly items: ItemList
  /** The keys of the open blocks. */
  readonly open: readonly string[]
  /** The keys of the items that ask the client for something: approvals to decide, and calls of its own tools. */
  readonly asking: KeySet
  /** A list of one member, or empty until the agent sets a state. */
  readonly state: readonly JsonVersion[]
}

/** What the fold of an event needs to know besides the content. */
export interface Surroundings {
  readonly runId: string
  readonly continuation: number
}

export type Block = TextItem | ReasoningItem

export const NO_CONTENT: Content = { items: NO_ITEMS, open: [], asking: NO_KEYS, state: [] }

export const keyOf = (kind: TranscriptItem['kind'], id: string): string => `${kind}:${id}`

export function put(content: Content, item: TranscriptItem): Content {
  const key = keyOf(item.kind, item.id)
  const { asking } = content
  const known = findItem(content.items, key)
  const wasAsking = known !== undefined && isAsking(known)
  const items = putItem(content.items, key, item)
  if (wasAsking === isAsking(item)) return { ...content, items }
  return { ...content, items, asking: wasAsking ? removeKey(asking, key) : addKey(asking, key) }
}

const isAsking = (item: TranscriptItem): boolean =>
  item.kind === 'approval' ? isOpenApproval(item.status) : item.kind === 'tool' && isAwaited(item)

/** Whether the client has to perform the call. */
const isAwaited = ({ executor, status }: ToolItem): boolean => executor === 'client' && status === 'called'

/** The items that ask the client for something, in their order. */
export const askingItems = ({ items, asking }: Content): readonly TranscriptItem[] =>
  keysOf(asking)
    .map((key) => ({ item: findItem(items, key), position: positionOf(items, key) ?? 0 }))
    .sort((one, other) => one.position - other.position)
    .flatMap(({ item }) => item ?? [])

export function itemIn<Kind extends TranscriptItem['kind']>(
  { items }: Content,
  kind: Kind,
  id: string,
): Extract<TranscriptItem, { readonly kind: Kind }> | undefined {
  return findItem(items, keyOf(kind, id)) as Extract<TranscriptItem, { readonly kind: Kind }> | undefined
}

/** The blocks that are open. */
export const openBlocks = ({ items, open }: Content): readonly Block[] =>
  open.map((key) => findItem(items, key) as Block)

export function closeBlock(content: Content, block: Block, more: Partial<Block> = {}): Content {
  const key = keyOf(block.kind, block.id)
  const closed = put(content, { ...block, ...more, isOpen: false } as Block)
  return { ...closed, open: content.open.filter((one) => one !== key) }
}

/** Closes every open block that the condition selects. */
export function closeBlocks(content: Content, isMeant: (block: Block) => boolean): Content {
  return content.open.length === 0
    ? content
    : openBlocks(content)
        .filter(isMeant)
        .reduce((closed, block) => closeBlock(closed, block), content)
}

/** The id of the next block of a message: that of the message, then with a number from 2. */
export function nextBlockId(content: Content, kind: Block['kind'], messageId: string): string {
  const id = (n: number) => (n === 1 ? messageId : `${messageId}.${n}`)
  const isUsed = (n: number) => itemIn(content, kind, id(n)) !== undefined
  let free = 1
  while (isUsed(free)) free *= 2
  // The numbers are used in order, so a binary search finds the first free one.
  for (let used = Math.floor(free / 2); free - used > 1; ) {
    const middle = Math.floor((used + free) / 2)
    if (isUsed(middle)) used = middle
    else free = middle
  }
  return id(free)
}

export const itemsOf = ({ items }: Content): readonly TranscriptItem[] => allItems(items)
