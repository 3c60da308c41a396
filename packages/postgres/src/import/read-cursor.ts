import type { Execute } from '../connection/connection.ts'

/** Reads the rows of a query part by part, in one snapshot. Nothing else may use the connection meanwhile. */
export async function* readCursor<Row>(
  execute: Execute,
  { text, limit }: { readonly text: string; readonly limit: number },
): AsyncIterable<Row> {
  const run = (statement: string) => execute({ text: statement, values: [] })
  await run('begin')
  await run(`declare copied no scroll cursor for ${text}`)
  for (;;) {
    const { rows } = await run(`fetch ${limit} from copied`)
    yield* rows as readonly Row[]
    if (rows.length < limit) break
  }
  await run('commit')
}
