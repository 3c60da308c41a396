import { EventEnvelope } from '@perdure/protocol'
import type { ExitName } from '../exit-codes.ts'
import type { CommandSpec, FlagSpec } from './command-spec.ts'

/** Flags of every paginated list. */
export const PAGE_FLAGS: readonly FlagSpec[] = [
  { name: 'limit', type: 'integer', value: 'count', note: 'show at most this many per page, up to 200', default: 50 },
  { name: 'cursor', type: 'string', note: 'continue from this cursor of the previous page' },
  { name: 'all', type: 'boolean', note: 'fetch every page' },
]

/** Flags that select runs. `verb` is what the command does with them. */
export const runFilterFlags = (verb: 'show' | 'retry'): readonly FlagSpec[] => [
  { name: 'agent', type: 'string', value: 'id', note: `${verb} only runs of this agent` },
  { name: 'workflow', type: 'string', value: 'id', note: `${verb} only runs of this workflow` },
  {
    name: 'since',
    type: 'string',
    value: 'when',
    note: `${verb} only runs created since this time: an ISO-8601 instant, or a duration before now such as 1h`,
  },
  { name: 'code', type: 'string', value: 'code', note: `${verb} only runs whose error has this code` },
]

/** Flags of the commands that start a run. */
export const START_FLAGS: readonly FlagSpec[] = [
  {
    name: 'priority',
    type: 'integer',
    value: 'points',
    range: [-100, 100],
    note: 'start before your queued runs with a lower priority, from -100 to 100 (default: 0)',
  },
  { name: 'delay', type: 'duration', value: 'duration', note: 'start the run after this time' },
  { name: 'start-at', type: 'string', value: 'time', note: 'start the run at this time, such as 2027-01-31T09:00:00Z' },
]

/** Exit codes of commands that read from a server. */
export const ASKING: readonly ExitName[] = ['unreachable', 'denied']
/** Exit codes of commands that change something on a server. */
export const CHANGING: readonly ExitName[] = ['unreachable', 'denied', 'conflict']

/** Shared by commands that read one document from a server. */
export const READS = { target: 'server', exits: ASKING, output: 'document' } as const satisfies Partial<CommandSpec>
/** Shared by commands that change something on a server and print the result. */
export const CHANGES = { target: 'server', exits: CHANGING, output: 'document' } as const satisfies Partial<CommandSpec>
/** Shared by commands that stream events. */
export const FOLLOWS = {
  target: 'server',
  exits: ASKING,
  output: 'stream',
  schema: EventEnvelope,
} as const satisfies Partial<CommandSpec>

export const indented = (document: unknown): string => `${JSON.stringify(document, undefined, 2)}\n`
