import {
  type Block,
  type Content,
  closeBlock,
  closeBlocks,
  itemIn,
  keyOf,
  nextBlockId,
  openBlocks,
  put,
  type Surroundings,
} from './content.ts'
import { type Fields, textIn } from './log-event.ts'

type Kind = Block['kind']

/** A second start of a block withdraws what the block said. */
export function startBlock(content: Content, kind: Kind, fields: Fields): Content {
  const messageId = textIn(fields, 'messageId')
  const id = textIn(fields, 'blockId') ?? messageId
  if (messageId === undefined || id === undefined) return content
  const known = itemIn(content, kind, id) as Block | undefined
  const restarts = known === undefined ? 0 : known.restarts + 1
  return open(closeImplicit(content), { ...blockOf(kind, fields), id, messageId, isExplicit: true, restarts })
}

/** Appends to the open block, and opens one when there is none. */
export function appendToBlock(content: Content, kind: Kind, fields: Fields, around: Surroundings): Content {
  const delta = textIn(fields, 'delta')
  if (delta === undefined) return content
  const target = openTarget(content, kind, fields)
  if (target !== undefined) return put(closeImplicit(content, kind), { ...target, text: target.text + delta })
  return openImplicit(content, kind, { fields, around, text: delta })
}

export function endBlock(content: Content, kind: Kind, fields: Fields): Content {
  const target = openTarget(content, kind, fields)
  if (target === undefined) return content
  const { citations } = fields
  const encrypted = textIn(fields, 'encrypted')
  if (kind === 'text') return closeBlock(content, target, Array.isArray(citations) ? { citations } : {})
  return closeBlock(content, target, encrypted === undefined ? {} : { encrypted })
}

/** The whole text of a message. It replaces the text of a message with one block, and only closes one with several. */
export function completeText(content: Content, fields: Fields, around: Surroundings): Content {
  const text = textIn(fields, 'text')
  if (text === undefined) return content
  const target = openTarget(content, 'text', fields)
  const messageId = target?.messageId ?? idOfMessage(fields, around)
  const first = itemIn(content, 'text', messageId)
  const whole = first !== undefined && itemIn(content, 'text', `${messageId}.2`) === undefined ? first : undefined
  if (whole !== undefined && (target === undefined || target.id === whole.id))
    return closeBlock(content, whole, { text })
  if (target !== undefined) return closeBlock(content, target)
  if (first !== undefined) return content
  const opened = openImplicit(content, 'text', { fields, around, text })
  return closeBlocks(opened, ({ id }) => id === messageId)
}

/** Closes the blocks that no event will close, because something of another kind follows. */
export const closeImplicit = (content: Content, except?: Kind): Content =>
  closeBlocks(content, ({ isExplicit, kind }) => !isExplicit && kind !== except)

function openTarget(content: Content, kind: Kind, fields: Fields): Block | undefined {
  const messageId = textIn(fields, 'messageId')
  const blockId = textIn(fields, 'blockId')
  return openBlocks(content).findLast((block) => {
    if (block.kind !== kind) return false
    if (blockId !== undefined) return block.id === blockId
    return messageId === undefined || block.messageId === messageId
  })
}

interface Opening {
  readonly fields: Fields
  readonly around: Surroundings
  readonly text: string
}

function openImplicit(content: Content, kind: Kind, { fields, around, text }: Opening): Content {
  const messageId = idOfMessage(fields, around)
  const closed = closeImplicit(content)
  const id = nextBlockId(closed, kind, textIn(fields, 'blockId') ?? messageId)
  return open(closed, { ...blockOf(kind, fields), id, messageId, isExplicit: false, restarts: 0, text })
}

const idOfMessage = (fields: Fields, { runId, continuation }: Surroundings): string =>
  textIn(fields, 'messageId') ?? `${runId}.${continuation}`

const blockOf = (kind: Kind, { phase }: Fields) => ({
  ...{ kind, text: '', isOpen: true },
  ...(kind === 'text' && phase === 'commentary' ? { phase } : {}),
})

function open(content: Content, block: Omit<Block, 'kind'> & { readonly kind: Kind }): Content {
  const key = keyOf(block.kind, block.id)
  const opened = put(content, block as Block)
  return content.open.includes(key) ? opened : { ...opened, open: [...opened.open, key] }
}
