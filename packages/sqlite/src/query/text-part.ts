import { RUN_CONTENT } from '@perdure/ports'
import type { Param, Query, TextPart } from '@perdure/storage'
import { compile } from '@perdure/storage'
import { type Expression, sql } from 'kysely'
import { from } from './compile.ts'

interface Reader {
  get<Values, Row>(query: Query<Values, Row>, values: Values): Row | undefined
}

/** Reads a part of a long text as UTF-8. Returns undefined if the row does not exist. */
export function readTextPart(db: Reader, { ref, offset, length }: TextPart): Uint8Array | undefined {
  const { of, ...key } = ref
  const query = of === 'run' ? RUN_TEXTS[ref.member] : of === 'message' ? MESSAGE_CONTENT : STEP_RESULT
  return query && db.get(query as Query<object, PartRow>, { ...key, start: offset + 1, length })?.part
}

interface Range {
  readonly start: number // from 1
  readonly length: number
}

interface PartRow {
  readonly part: Uint8Array
}

/** The part in bytes: `substr` of a text counts characters. */
const part = (column: string, param: Param<Range>) =>
  sql<Uint8Array>`substr(cast(${sql.ref(column)} as blob), ${param('start')}, ${param('length')})`.as('part')

const keyOfRun = (runId: Expression<string>) => from.selectFrom('run_keys').select('key').where('run_id', '=', runId)

const RUN_TEXTS: Readonly<Record<string, Query<Range & { id: string }, PartRow>>> = Object.fromEntries(
  RUN_CONTENT.map((column) => [
    column,
    compile<Range & { id: string }, PartRow>((param) =>
      from
        .selectFrom('runs')
        .select(part(column, param))
        .where('key', '=', keyOfRun(param('id'))),
    ),
  ]),
)

const MESSAGE_CONTENT = compile<Range & { sessionId: string; seq: number; id: string }, PartRow>((param) =>
  from
    .selectFrom('messages')
    .select(part('content', param))
    .where('session_key', '=', from.selectFrom('sessions').select('key').where('id', '=', param('sessionId')))
    .where('seq', '=', param('seq'))
    .where('id', '=', param('id')),
)

const STEP_RESULT = compile<Range & { runId: string; seq: number }, PartRow>((param) =>
  from
    .selectFrom('steps')
    .select(part('result', param))
    .where('run_key', '=', keyOfRun(param('runId')))
    .where('seq', '=', param('seq')),
)
