import type { Connection } from '../connection/connection.ts'
import { compile, from } from '../query/compile.ts'

/** Records that events up to this position may be deleted. The recorded position never decreases. */
export async function recordTrimmedThrough(db: Connection, position: number): Promise<void> {
  await db.run(raiseTrimmedThrough, { value: String(position) })
}

const raiseTrimmedThrough = compile<{ value: string }, unknown>((param) =>
  from
    .updateTable('meta')
    .set({ value: param('value') })
    .where('name', '=', 'trimmed_through')
    .where((eb) => eb(eb.cast<number>('value', 'bigint'), '<', eb.cast<number>(param('value'), 'bigint'))),
)
