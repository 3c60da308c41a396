import type { Part } from './model.ts'

/** The member that holds the id of the tool call, for each type of part that has one. */
const ID_MEMBERS: ReadonlyMap<unknown, 'id' | 'toolCallId'> = new Map([
  ['tool-input-start', 'id'],
  ['tool-input-delta', 'id'],
  ['tool-input-end', 'id'],
  ['tool-call', 'toolCallId'],
  ['tool-result', 'toolCallId'],
  ['tool-approval-request', 'toolCallId'],
] as const)

/** The answers that use the ids of a run. */
const USERS = new WeakMap<object, Map<string, unknown>>()

const usersIn = (ctx: object): Map<string, unknown> => {
  const known = USERS.get(ctx) ?? new Map<string, unknown>()
  USERS.set(ctx, known)
  return known
}

/**
 * Some models number the tool calls of each answer from 0. Returns the parts of an answer with ids that no other answer of
 * the run uses: an id that is taken gets a number. A repetition of the answer gets the same ids.
 *
 * @param answer identifies the answer and its repetitions
 */
export function createCallIds(ctx: object, answer: unknown): (part: Part) => Part {
  const users = usersIn(ctx)
  const ids = new Map<string, string>()
  const called = new Set<string>()
  const nextFree = (id: string): string => {
    for (let count = 1; ; count++) {
      const free = count === 1 ? id : `${id}.${count}`
      const isFree = !users.has(free) || users.get(free) === answer
      if (!isFree || called.has(free)) continue
      users.set(free, answer)
      return free
    }
  }
  const idOf = (id: string, { type }: Part): string => {
    const known = ids.get(id)
    const isNext = known !== undefined && called.has(known) && STARTS.has(type)
    const own = known === undefined || isNext ? nextFree(id) : known
    ids.set(id, own)
    if (type === 'tool-call') called.add(own)
    return own
  }
  return (part) => {
    const member = ID_MEMBERS.get(part.type)
    const id = member === undefined ? undefined : part[member]
    if (member === undefined || typeof id !== 'string') return part
    const own = idOf(id, part)
    return own === id ? part : { ...part, [member]: own }
  }
}

/** A part of these types begins another call if the answer has one with its id. */
const STARTS: ReadonlySet<unknown> = new Set(['tool-input-start', 'tool-call'])

/** Notes the ids of an answer that was recorded by an earlier execution. */
export function noteCallIds(ctx: object, parts: readonly Part[]): void {
  const users = usersIn(ctx)
  for (const part of parts) {
    const member = ID_MEMBERS.get(part.type)
    const id = member === undefined ? undefined : part[member]
    if (typeof id === 'string') users.set(id, parts)
  }
}
