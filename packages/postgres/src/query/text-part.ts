import type { TextPart, TextRef } from '@perdure/storage'
import { type Expression, sql } from 'kysely'
import pg from 'pg'
import type { CopyStatement } from '../connection/copy-out.ts'
import { encodeText } from '../connection/text-codec.ts'
import { from } from './compile.ts'

/** Reads a part of a long text as UTF-8. Returns undefined if the row does not exist. */
export const readTextPart = (
  db: { copy(statement: CopyStatement): Promise<Uint8Array | undefined> },
  { ref, offset, length }: TextPart,
) => db.copy({ query: slicesOf(textOf(ref), { offset, length }), maxBytes: length })

/** Bytes per row: the driver keeps a row until all of it has arrived. */
const SLICE_BYTES = 32 * 1024

/** A part of a text as rows. In bytes: `substr` of a text counts characters. */
function slicesOf(text: Expression<unknown>, { offset, length }: { readonly offset: number; readonly length: number }) {
  const part = sql`substring(convert_to(text, 'UTF8') from ${sql.lit(offset + 1)} for ${sql.lit(length)})`
  const slice = sql`substring(part from first for ${sql.lit(SLICE_BYTES)})`
  return sql`select ${slice} from (select ${part} as part from (${text}) as row (text) offset 0) as row,
    generate_series(1, greatest(octet_length(part), 1), ${sql.lit(SLICE_BYTES)}) as first order by first`.compile(from)
    .sql
}

function textOf(ref: TextRef): Expression<unknown> {
  if (ref.of === 'run') {
    return from.selectFrom('runs').select(sql.ref(ref.member).as('text')).where('id', '=', literal(ref.id))
  }
  if (ref.of === 'step') {
    const { runId, seq } = ref
    return from
      .selectFrom('steps')
      .select('result')
      .where('run_id', '=', literal(runId))
      .where('seq', '=', sql.lit(seq))
  }
  return from
    .selectFrom('messages')
    .select('content')
    .where('session_id', '=', literal(ref.sessionId))
    .where('seq', '=', sql.lit(ref.seq))
    .where('id', '=', literal(ref.id))
}

/** A copy cannot have parameters. */
const literal = (text: string) => sql<string>`${sql.raw(pg.escapeLiteral(encodeText(text)))}`
