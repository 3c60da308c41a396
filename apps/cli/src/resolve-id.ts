import type { ListCall } from '@perdure/client'
import type { Call } from './call.ts'
import { usageError } from './cli-error.ts'
import { isClientError } from './client-error.ts'
import type { IdKind } from './manifest/command-spec.ts'

const PREFIXES: Readonly<Record<IdKind, string>> = { run: 'run_', approval: 'apr_', session: 'ses_', token: 'tok_' }

const WHOLE_LENGTH = 'run_'.length + 26
const SHOWN_CANDIDATES = 5

interface Row {
  readonly id: string
  readonly parentRunId?: string | undefined
}

/**
 * The whole id for `last` or for the beginning of an id. Other values, such as an id that the user has chosen, are
 * returned unchanged; so is a value that matches nothing, for the server to reject. `last` means no child run, and the
 * newest pending approval if there is one.
 *
 * @throws a usage error if several ids begin like that, or if the id is empty
 */
export async function resolveId(call: Call, kind: IdKind, given: string): Promise<string> {
  if (given === '') throw usageError(`the ${kind} id is empty`, `name a ${kind}, or write last for the newest one`)
  if (given === 'last') return (await last(call, kind)) ?? given
  if (!isPartial(kind, given)) return given
  const found: string[] = []
  try {
    for await (const { id } of newest(call, kind, 200, createdBetween(given))) {
      if (id.startsWith(given)) found.push(id)
      // Newest first, and generated ids sort by time: every later id is smaller still.
      else if (kind !== 'session' && id < given) break
    }
  } catch (error) {
    // A token may read one run without the right to list them.
    if (isClientError(error) && error.code === 'scope-denied') return given
    throw error
  }
  return onlyOne(kind, given, found) ?? given
}

async function last(call: Call, kind: IdKind): Promise<string | undefined> {
  if (kind === 'approval') {
    for await (const { id } of call.client().approvals.list({ status: 'pending', limit: 1 })) return id
  }
  for await (const { id, parentRunId } of newest(call, kind, kind === 'run' ? 20 : 1)) {
    if (parentRunId === undefined) return id
  }
  return undefined
}

export const isPartial = (kind: IdKind, given: string): boolean =>
  given.startsWith(PREFIXES[kind]) && given.length > PREFIXES[kind].length && given.length < WHOLE_LENGTH

/** @throws a usage error that lists the candidates if there are several */
export function onlyOne(kind: IdKind, given: string, found: readonly string[]): string | undefined {
  if (found.length < 2) return found[0]
  const shown = found.slice(0, SHOWN_CANDIDATES).join(', ')
  const more = found.length > SHOWN_CANDIDATES ? `, and ${found.length - SHOWN_CANDIDATES} more` : ''
  throw usageError(`${given} is the beginning of ${found.length} ${kind} ids`, `add characters: ${shown}${more}`)
}

interface Span {
  readonly since?: string
  readonly until?: string
}

/** @param limit rows per page; `span` applies only to the list of runs */
function newest(call: Call, kind: IdKind, limit: number, span: Span = {}): ListCall<Row> {
  const { runs, approvals, sessions, tokens } = call.client()
  if (kind === 'run') return runs.list({ limit, ...span })
  const LISTS = { approval: approvals, session: sessions, token: tokens } as const
  return LISTS[kind].list({ limit })
}

const DIGITS = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
const ID_DIGITS = 26
/**
 * The time in an id can differ from the creation time of its run by some milliseconds, or by more after a clock change.
 */
const SLACK_MS = 60_000

/**
 * The creation times that a run can have if its id begins with `given`, because an id begins with a timestamp. Empty if
 * `given` does not narrow them down.
 */
export function createdBetween(given: string): Span {
  const digits = given.slice(PREFIXES.run.length)
  if (![...digits].every((digit) => DIGITS.includes(digit))) return {}
  const [since, until] = [digits.padEnd(ID_DIGITS, '0'), digits.padEnd(ID_DIGITS, 'Z')].map(timeOf)
  return { ...isoTime('since', (since ?? 0) - SLACK_MS), ...isoTime('until', (until ?? 0) + SLACK_MS) }
}

/** The first 48 of the 128 bits. */
const timeOf = (digits: string): number =>
  Number([...digits].reduce((value, digit) => value * 32n + BigInt(DIGITS.indexOf(digit)), 0n) >> 80n)

/** Leaves out a time that the API cannot express. */
const isoTime = (name: keyof Span, ms: number): Span =>
  ms < 0 || ms > LAST_TIME ? {} : { [name]: new Date(ms).toISOString() }

const LAST_TIME = Date.parse('9999-12-31T23:59:59.999Z')
