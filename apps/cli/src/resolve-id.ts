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
}

/**
 * The whole id for `last` or for the beginning of an id. Other values, such as an id that the user has chosen, are
 * returned unchanged; so is a value that matches nothing, for the server to reject.
 *
 * @throws a usage error if several ids begin like that
 */
export async function resolveId(call: Call, kind: IdKind, given: string): Promise<string> {
  if (given === 'last') return (await newest(call, kind, 1)).items[0]?.id ?? given
  if (!isPartial(kind, given)) return given
  const found: string[] = []
  try {
    for await (const { id } of newest(call, kind, 200)) {
      if (id.startsWith(given)) found.push(id)
      // Newest first, and generated ids sort by time: every later id is smaller still.
      else if (kind !== 'session' && id < given) break
    }
  } catch (error) {
    // A token may read one run without the right to list them.
    if (isClientError(error) && error.error === 'scope-denied') return given
    throw error
  }
  return onlyOne(kind, given, found) ?? given
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

/** @param limit rows to read at once */
function newest(call: Call, kind: IdKind, limit: number): ListCall<Row> {
  const { runs, approvals, sessions, tokens } = call.client()
  const LISTS = { run: runs, approval: approvals, session: sessions, token: tokens } as const
  return LISTS[kind].list({ limit })
}
