import { StartError } from '@perdure/ports'
import type { Execute } from '../connection/connection.ts'

/**
 * Name of the row of the table `meta` that a schema has from the beginning of a copy to its end. The value is the epoch
 * of the copied database.
 */
const COPY_OF = 'copy_of'

/** The epoch of the database that is being copied into the schema, or whose copy was interrupted. */
export async function copyMark(execute: Execute): Promise<string | undefined> {
  const { rows } = await execute({ text: 'select value from meta where name = $1', values: [COPY_OF] })
  return (rows[0] as { value: string } | undefined)?.value
}

export async function storeCopyMark(execute: Execute, epoch: string): Promise<void> {
  const text = 'insert into meta (name, value) values ($1, $2) on conflict (name) do nothing'
  await execute({ text, values: [COPY_OF, epoch] })
}

export async function removeCopyMark(execute: Execute): Promise<void> {
  await execute({ text: 'delete from meta where name = $1', values: [COPY_OF] })
}

/**
 * Refuses a schema with an unfinished copy. Call it after the row of this process is in `nodes`: a copy that starts at
 * the same time either sees that row or has already stored its mark.
 *
 * @throws StartError `storage-incomplete`
 */
export async function requireWhole(execute: Execute, schema: string): Promise<void> {
  if ((await copyMark(execute)) === undefined) return
  throw new StartError('storage-incomplete', {
    message: `The schema ${schema} holds an unfinished copy of a database file.`,
    hint: 'Run `perdure migrate sqlite-to-postgres` again; it starts the copy again. To give the copy up, drop the schema and start the server on the file.',
  })
}
