import { type Fields, type Parts, textOf } from './fold-parts.ts'
import type { TextPart } from './message-parts.ts'

type TextKind = TextPart['kind']

interface OpenBlock {
  readonly id: string
  readonly kind: TextKind
  readonly messageId: string
  /** Begun by an event of its own: it stays open until its end, whatever comes in between. */
  readonly isExplicit: boolean
}

/** The blocks of text and of reasoning, as their pieces arrive. */
export interface Blocks {
  /** A block that starts again withdraws its earlier text. */
  start(kind: TextKind, fields: Fields): void
  append(kind: TextKind, fields: Fields): void
  end(kind: TextKind, fields: Fields): void
  /** The whole text of a message. It replaces the pieces, unless they are in several blocks. */
  complete(fields: Fields): void
  /** Closes the blocks that no event ends, because something of another kind follows. */
  closeImplicit(except?: TextKind): void
  closeAll(): void
}

export function createBlocks({ put, find }: Pick<Parts, 'put' | 'find'>): Blocks {
  let open: OpenBlock[] = []

  const closeImplicit = (except?: TextKind) => {
    open = open.filter(({ isExplicit, kind }) => isExplicit || kind === except)
  }

  const target = (kind: TextKind, { messageId, blockId }: Fields) =>
    open.findLast((block) => {
      if (block.kind !== kind) return false
      return blockId !== undefined ? block.id === blockId : messageId === undefined || block.messageId === messageId
    })

  const begin = (block: OpenBlock, text: string) => {
    closeImplicit()
    put({ kind: block.kind, id: block.id, text })
    open = [...open.filter(({ kind, id }) => kind !== block.kind || id !== block.id), block]
  }

  /** A piece without a start begins a block of its own. */
  const beginImplicit = (kind: TextKind, fields: Fields, text: string) => {
    const messageId = String(fields.messageId ?? '')
    const first = String(fields.blockId ?? messageId)
    let id = first
    for (let count = 2; find(kind, id) !== undefined; count++) id = `${first}.${count}`
    begin({ id, kind, messageId, isExplicit: false }, text)
  }

  return {
    start(kind, fields) {
      const messageId = String(fields.messageId ?? '')
      begin({ id: String(fields.blockId ?? messageId), kind, messageId, isExplicit: true }, '')
    },
    append(kind, fields) {
      const delta = textOf(fields.delta) ?? ''
      const block = target(kind, fields)
      if (block === undefined) return beginImplicit(kind, fields, delta)
      closeImplicit(kind)
      put({ kind, id: block.id, text: (find(kind, block.id)?.text ?? '') + delta })
    },
    end(kind, fields) {
      const ended = target(kind, fields)
      open = open.filter((block) => block !== ended)
    },
    complete(fields) {
      const text = textOf(fields.text) ?? ''
      const block = target('text', fields)
      const messageId = block?.messageId ?? String(fields.messageId ?? '')
      const isKnown = find('text', messageId) !== undefined
      const hasMore = find('text', `${messageId}.2`) !== undefined
      if (isKnown && !hasMore) put({ kind: 'text', id: messageId, text })
      if (!isKnown && block === undefined) beginImplicit('text', fields, text)
      open = open.filter((one) => one.kind !== 'text' || one.messageId !== messageId)
    },
    closeImplicit,
    closeAll() {
      open = []
    },
  }
}
