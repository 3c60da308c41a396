import type { ExitName } from '../exit-codes.ts'
import type { FlagSpec } from './command-spec.ts'

/** Of every list that a server answers page by page. */
export const PAGE_FLAGS: readonly FlagSpec[] = [
  { name: 'limit', type: 'integer', value: 'count', note: 'how many at most, up to 200', default: 50 },
  { name: 'cursor', type: 'string', note: 'where the page before ended' },
  { name: 'all', type: 'boolean', note: 'every page' },
]

/** What a command that asks a server can come to. */
export const ASKING: readonly ExitName[] = ['unreachable', 'denied']
/** What a command that changes something on a server can come to. */
export const CHANGING: readonly ExitName[] = ['unreachable', 'denied', 'conflict']
