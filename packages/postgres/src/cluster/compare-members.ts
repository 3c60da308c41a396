import { type NodeIdentity, StartError } from '@perdure/ports'
import { compile } from '@perdure/storage'
import { sql } from 'kysely'
import type { Connection } from '../connection/connection.ts'

interface Member {
  readonly name: string
  readonly peppers: readonly string[]
  readonly settings: string
}

/**
 * Compares this member with those that are running, after it has added its own row: of two that start together, at least one sees
 * the other. Returns a warning for each member with another configuration.
 *
 * @throws StartError `node-mismatch` if a token that one of them issues would be unknown to the other
 */
export async function compareMembers(
  db: Connection,
  { id, peppers, settings }: Pick<NodeIdentity, 'peppers' | 'settings'> & { readonly id: string },
): Promise<readonly string[]> {
  const others = await db.all(LIST_OTHERS, { id })
  for (const { name, peppers: known } of others) if (!accept(peppers, known)) throw mismatch(name)
  return others.flatMap((other) => {
    const theirs = JSON.parse(other.settings) as Readonly<Record<string, string>>
    const parts = Object.keys({ ...settings, ...theirs }).filter((part) => settings[part] !== theirs[part])
    return parts.length === 0
      ? []
      : [`the configuration differs from that of the server ${other.name} in: ${parts.toSorted().join(', ')}`]
  })
}

/** Each accepts the tokens that the other issues with its current pepper. A member of an earlier release tells nothing. */
const accept = (mine: readonly string[], theirs: readonly string[]): boolean => {
  const [current] = mine
  const [theirCurrent] = theirs
  if (current === undefined || theirCurrent === undefined) return true
  return theirs.includes(current) && mine.includes(theirCurrent)
}

const mismatch = (name: string): StartError =>
  new StartError('node-mismatch', {
    message: `The token pepper differs from that of the server ${name}, so neither would accept the tokens of the other.`,
    hint: 'Set auth.pepperRef to the same secret on all servers of the schema. To replace it, first add the new secret to auth.previousPepperRefs of all servers.',
  })

const LIST_OTHERS = compile<{ id: string }, Member>(
  (param) => sql<Member>`select name, peppers, settings from nodes
      where role = 'member' and lease_until > clock_timestamp() and version is not null and id <> ${param('id')}
      order by started_at`,
)
