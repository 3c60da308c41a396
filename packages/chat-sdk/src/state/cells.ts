import { createHash } from 'node:crypto'
import type { PerdureClient } from '@perdure/client'
import { isPerdureError } from '@perdure/client'

/** What a cell holds. */
export interface Entry {
  readonly key: string
  readonly value?: unknown
  /** From this time, in milliseconds since 1970, the cell counts as empty. */
  readonly expiresAt?: number | undefined
  /** The delivery that wrote the entry. */
  readonly by?: string | undefined
}

/** What becomes of a cell: a new entry, `'delete'`, or `'keep'`; and the result of the change. */
export interface Change<Result> {
  readonly to: Omit<Entry, 'key'> | 'delete' | 'keep'
  readonly result: Result
}

/** Named values that every process with the same storage shares. A change is atomic. */
export interface Cells {
  /** The entry of a cell; `undefined` if it is empty or expired. */
  read(key: string): Promise<Entry | undefined>
  /** Decides on the entry that is stored at this moment. Calls `decide` again if somebody else has changed it meanwhile. */
  change<Result>(key: string, decide: (entry: Entry | undefined) => Change<Result>): Promise<Result>
}

export interface CellsDeps {
  readonly client: () => PerdureClient
  readonly now: () => number
}

interface Stored {
  readonly entry: Entry
  readonly updatedAt: string
}

const LABEL = 'state'
/** Far more than a chat needs; the server refuses a longer body anyway. */
const MAX_LENGTH = 1_000_000
const MAX_ATTEMPTS = 200
/** How many changes there are between two looks for expired entries, and at how many entries each look is. */
const CHANGES_PER_SWEEP = 500
const SWEPT_ENTRIES = 200

const namespaceOf = (key: string): string => `chat-${createHash('sha256').update(key).digest('hex')}`

/** Each cell is a memory block in a namespace of its own, which `ifUpdatedAt` protects from concurrent writers. */
export function createCells({ client, now }: CellsDeps): Cells {
  const isLive = ({ expiresAt }: Entry) => expiresAt === undefined || expiresAt > now()
  let changes = 0
  let cursor: string | undefined

  const find = async (key: string): Promise<Stored | undefined> => {
    const { items } = await client().memory.listBlocks({ namespace: namespaceOf(key), limit: 1 })
    const [block] = items
    return block === undefined ? undefined : { entry: JSON.parse(block.value), updatedAt: block.updatedAt }
  }

  const write = async (key: string, stored: Stored | undefined, to: Change<unknown>['to']): Promise<void> => {
    const namespace = namespaceOf(key)
    if (to === 'keep') return
    if (to !== 'delete') {
      const value = JSON.stringify({ key, ...to })
      await client().memory.putBlock(LABEL, {
        ...{ value, namespace, limit: MAX_LENGTH },
        ifUpdatedAt: stored?.updatedAt ?? null,
      })
    } else if (stored !== undefined) {
      await client().memory.deleteBlock(LABEL, { namespace, ifUpdatedAt: stored.updatedAt })
    }
  }

  const sweep = async (): Promise<void> => {
    const { items, nextCursor } = await client().memory.listBlocks({ limit: SWEPT_ENTRIES, cursor, order: 'asc' })
    cursor = nextCursor ?? undefined
    for (const { namespace, value, updatedAt } of items) {
      if (isLive(JSON.parse(value))) continue
      await unlessChanged(() => client().memory.deleteBlock(LABEL, { namespace, ifUpdatedAt: updatedAt }))
    }
  }

  return {
    async read(key) {
      const entry = (await find(key))?.entry
      return entry !== undefined && isLive(entry) ? entry : undefined
    },
    async change(key, decide) {
      for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
        const stored = await find(key)
        const { to, result } = decide(stored !== undefined && isLive(stored.entry) ? stored.entry : undefined)
        if (!(await unlessChanged(() => write(key, stored, to)))) continue
        changes += 1
        if (changes % CHANGES_PER_SWEEP === 0) await sweep()
        return result
      }
      throw new Error(`the state of the chat under "${key}" was changed by others ${MAX_ATTEMPTS} times in a row`)
    },
  }
}

const CHANGED: ReadonlySet<string> = new Set(['memory-block-changed', 'memory-block-not-found'])

/** Whether the write was made; not if somebody else was faster. */
async function unlessChanged(write: () => Promise<unknown>): Promise<boolean> {
  try {
    await write()
    return true
  } catch (error) {
    if (isPerdureError(error) && CHANGED.has(error.code)) return false
    throw error
  }
}
