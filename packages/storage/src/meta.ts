import type { Program } from './program.ts'
import { compile } from './query/compile.ts'
import type { Db } from './query/dialect.ts'
import { from } from './query/from.ts'

/** Records that events up to this position may be deleted. The recorded position never decreases. */
export function* recordTrimmedThrough(db: Db, position: number): Program<void> {
  yield* db.run(RAISE_TRIMMED_THROUGH, { value: String(position) })
}

const RAISE_TRIMMED_THROUGH = compile<{ value: string }, unknown>((param) =>
  from
    .updateTable('meta')
    .set({ value: param('value') })
    .where('name', '=', 'trimmed_through')
    .where((eb) => eb(eb.cast<number>('value', 'bigint'), '<', eb.cast<number>(param('value'), 'bigint'))),
)
