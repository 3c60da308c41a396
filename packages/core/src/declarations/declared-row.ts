import { type EpochMs, plusMs } from '@perdure/ports'
import type { DeclaredNoun } from './declared-nouns.ts'
import type { OtherDeclarations } from './living-declarations.ts'

/** What a row remembers about the configurations that declare it. */
export interface DeclaredRow {
  readonly id: string
  /** Since when no living process declares it. */
  readonly undeclaredAt?: EpochMs | undefined
  /** Fingerprints of the definitions that it had before, newest last. */
  readonly superseded?: readonly string[] | undefined
}

/** A row keeps this many fingerprints of earlier definitions. */
const MOST_SUPERSEDED = 20

export interface Redeclared {
  readonly noun: DeclaredNoun
  readonly row: DeclaredRow
  readonly stored: string // fingerprint
  readonly declared: string // fingerprint
}

/**
 * Whether the definition of this process replaces the stored one. A definition that the row has had before is older than
 * the stored one for as long as another living process declares the stored one: a process of an earlier configuration has
 * been restarted. If no other process declares the stored one, the configuration was rolled back.
 */
export function replacesStored({ noun, row, stored, declared }: Redeclared, others: OtherDeclarations): boolean {
  if (stored === declared) return false
  const wasSuperseded = row.superseded?.includes(declared) ?? false
  return !wasSuperseded || !others.hasExactly(noun, row.id, stored)
}

/** The earlier definitions of the row after its definition was replaced. */
export const supersededBy = ({ row, stored, declared }: Redeclared): readonly string[] =>
  [...(row.superseded ?? []), stored].filter((one) => one !== declared).slice(-MOST_SUPERSEDED)

export interface Grace {
  readonly now: EpochMs
  /** How long a row is kept that no living process declares. */
  readonly graceMs: number
}

/** `mark` and `clear` concern `undeclaredAt`; `end`: the grace period is over. */
export type UndeclaredStep = 'none' | 'mark' | 'clear' | 'end'

export function undeclaredStep(row: DeclaredRow, isDeclared: boolean, { now, graceMs }: Grace): UndeclaredStep {
  const { undeclaredAt } = row
  if (isDeclared) return undeclaredAt === undefined ? 'none' : 'clear'
  if (plusMs(undeclaredAt ?? now, graceMs) <= now) return 'end'
  return undeclaredAt === undefined ? 'mark' : 'none'
}
