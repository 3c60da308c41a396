import { isFields } from '@perdure/core'
import { fromJsonText, type NewEvent, type Storage, type Write } from '@perdure/ports'

/**
 * Where the server is killed: right after the commit that stores the result of this tool or step, or that the answer has
 * this many words.
 */
export type CrashPoint =
  | { readonly after: `tool:${string}` | `step:${string}` }
  | { readonly at: { readonly words: number } }

export interface CrashableStorage {
  readonly storage: Storage
  /** The next commit that reaches the point is the last one of this process. */
  arm(point: CrashPoint): void
  /** Resolves at the crash. */
  readonly crashed: Promise<void>
  readonly hasCrashed: () => boolean
  /** Whether the point has been set and not been reached. */
  readonly isArmed: () => boolean
}

/** What a process has stored when it is killed: the writes up to the point, or `undefined` before the point. */
type StoredUntil = (writes: readonly Write[]) => readonly Write[] | undefined

/**
 * The storage as a process sees it that is killed right after a commit: the commit is applied, but neither it nor any
 * later one is ever answered, so no code continues that waits for it.
 */
export function crashable(whole: Storage): CrashableStorage {
  const { promise: crashed, resolve } = Promise.withResolvers<void>()
  const never = new Promise<never>(() => undefined)
  let storedUntil: StoredUntil | undefined
  let isOver = false
  const { unitOfWork } = whole
  const storage: Storage = {
    ...whole,
    unitOfWork: {
      ...unitOfWork,
      async commit(writes) {
        if (isOver) return never
        const last = storedUntil?.(writes)
        isOver = last !== undefined
        const outcome = await unitOfWork.commit(last ?? writes)
        if (last === undefined) return isOver ? never : outcome
        resolve()
        return never
      },
    },
  }
  return {
    storage,
    arm(point) {
      storedUntil = 'after' in point ? untilResultOf(point.after) : untilWord(point.at.words)
    },
    crashed,
    hasCrashed: () => isOver,
    isArmed: () => storedUntil !== undefined && !isOver,
  }
}

const fieldsOf = ({ payload }: NewEvent): Readonly<Record<string, unknown>> => {
  const fields = fromJsonText(payload)
  return isFields(fields) ? fields : {}
}

function untilResultOf(named: string): StoredUntil {
  const [kind = '', ...rest] = named.split(':')
  const name = rest.join(':')
  const ends = kind === 'tool' ? ['tool.execute.end', 'tool.execute.error'] : ['step.end', 'step.error']
  const isEnd = (event: NewEvent) => {
    if (!ends.includes(event.type)) return false
    const { toolName, step } = fieldsOf(event)
    return (kind === 'tool' ? toolName : step) === name
  }
  return (writes) => (writes.some((write) => 'events' in write && write.events.some(isEnd)) ? writes : undefined)
}

/** Words that come in one commit could have come in several, so the commit ends with the word. */
function untilWord(count: number): StoredUntil {
  let text = ''
  const reaches = (event: NewEvent): boolean => {
    if (event.type === 'text.delta') text += String(fieldsOf(event).delta)
    return text.split(/\s+/).filter((word) => word !== '').length >= count
  }
  return (writes) => {
    for (const [index, write] of writes.entries()) {
      if (!('events' in write)) continue
      const last = write.events.findIndex(reaches)
      if (last !== -1) return [...writes.slice(0, index), { ...write, events: write.events.slice(0, last + 1) }]
    }
    return undefined
  }
}
