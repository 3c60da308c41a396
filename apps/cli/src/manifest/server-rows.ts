import { EventEnvelope } from '@perdure/protocol'
import type { ExitName } from '../exit-codes.ts'
import type { CommandSpec, FlagSpec } from './command-spec.ts'

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

/** What rows of commands that ask a server for one document have in common. */
export const READS = { target: 'server', exits: ASKING, output: 'document' } as const satisfies Partial<CommandSpec>
/** Of commands that change something on a server and show what came of it. */
export const CHANGES = { target: 'server', exits: CHANGING, output: 'document' } as const satisfies Partial<CommandSpec>
/** Of commands that show events as they come. */
export const FOLLOWS = {
  target: 'server',
  exits: ASKING,
  output: 'stream',
  schema: EventEnvelope,
} as const satisfies Partial<CommandSpec>
