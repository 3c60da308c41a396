import type { Clock } from '@perdure/ports'
import type { DeclaredNoun } from './declared-nouns.ts'
import { type LivingDeclarationsDeps, readOtherDeclarations } from './living-declarations.ts'

export interface LongestLimitDeps extends LivingDeclarationsDeps {
  readonly clock: Clock
  /** How long the limit of a process applies that has left. */
  readonly undeclaredMs: number
}

/** Days after which rows are deleted; `undefined`: never. */
export type Days = number | undefined

interface Seen {
  readonly days: number
  readonly atMs: number
}

/**
 * Returns the longest limit of the living processes, so that a process with an earlier configuration deletes nothing that
 * another one keeps. A limit of a process that has left applies for the grace period. `undefined`: nothing may be deleted,
 * because some process keeps everything, or because a process of an earlier release does not tell its limits.
 */
export function createLongestLimit({ clock, undeclaredMs, ...living }: LongestLimitDeps) {
  const seen = new Map<string, Seen>()

  /** The longest limit within the grace period. */
  const remember = (key: string, days: number): number => {
    const atMs = clock.monotonicMs()
    const before = seen.get(key)
    if (before !== undefined && before.days > days && atMs - before.atMs < undeclaredMs) return before.days
    seen.set(key, { days, atMs })
    return days
  }

  return async (noun: DeclaredNoun, id: string, own: Days): Promise<Days> => {
    const others = await readOtherDeclarations(living)
    if (!others.areKnown) return undefined
    const days = [own, ...others.values(noun, id).map((value) => (value === undefined ? undefined : Number(value)))]
    const longest = remember(`${noun} ${id}`, Math.max(...days.map((one) => one ?? Number.POSITIVE_INFINITY)))
    return longest === Number.POSITIVE_INFINITY ? undefined : longest
  }
}

export type LongestLimit = ReturnType<typeof createLongestLimit>
