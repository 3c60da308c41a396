import {
  EVERY_ROW,
  type FileFilter,
  type FileRecord,
  type FileStore,
  type FileUsage,
  type PageQuery,
  type Visibility,
} from '@perdure/ports'
import { sql } from 'kysely'
import { MEMORY_ACCESS } from '../memory/fact-filter.ts'
import type { Program } from '../program.ts'
import { compile, type Query } from '../query/compile.ts'
import type { Db } from '../query/dialect.ts'
import { from } from '../query/from.ts'
import { type PageValues, pageValues, pageVariant, toPage } from '../query/page.ts'
import { type AccessValues, accessValues, isVisible, visibilityVariant } from '../query/row-visibility.ts'
import { listQuery, visibleRow } from '../query/table-queries.ts'
import type { Reads } from '../reads.ts'
import { FILES, type FileFields } from './file-row.ts'

export interface FileListRequest {
  readonly filter: FileFilter
  readonly page: PageQuery
  readonly visibility: Visibility
}

export const fileReads: Reads<FileStore> = {
  *find(db, id, visibility) {
    const row = yield* findVisible(db, id, visibility)
    return row && FILES.toRecord(row)
  },
  *content(db, id) {
    const content = (yield* db.get(SELECT_CONTENT, { id }))?.content ?? undefined
    return content && new Uint8Array(content)
  },
  *holders(db, id) {
    return (yield* db.all(FILE_QUERIES.holders, { id })).map(({ session_id }) => session_id)
  },
  *holdingRuns(db, id, limit) {
    return (yield* db.all(FILE_QUERIES.holdingRuns, { id, limit })).map(({ run_id }) => run_id)
  },
  *list(db, filter, page, visibility) {
    const of = filter.sessionId === undefined ? 'all' : 'session'
    const name = `files of ${of} ${pageVariant(page)} ${visibilityVariant(visibility)}`
    const query = db.variant(name, () => fileListQuery({ filter, page, visibility }))
    const { sessionId = '' } = filter
    const rows = yield* db.each(query, { ...pageValues(page), ...accessValues(visibility), sessionId })
    return toPage(rows, page, { toRecord: FILES.toRecord, rankOf: (row) => row.created_at })
  },
  *usage(db, owner) {
    const { files, bytes } = (yield* db.get(FILE_QUERIES.usage, { owner })) ?? { files: 0, bytes: 0 }
    return { files, bytes }
  },
  *findSame(db, { owner, sha256, size, mediaType, name = '' }) {
    const row = yield* db.get(FILE_QUERIES.same, { owner, sha256, size, mediaType, name })
    return row && FILES.toRecord(row)
  },
  *inUse(db, hashes) {
    return (yield* db.all(FILE_QUERIES.inUse, { hashes })).map(({ sha256 }) => sha256)
  },
}

export const findAnyFile = (db: Db, id: string): Program<FileRecord | undefined> => fileReads.find(db, id, EVERY_ROW)

const findVisible = visibleRow<FileFields>('files', MEMORY_ACCESS, FILES.columns)

const SELECT_CONTENT = compile<{ id: string }, { readonly content: Uint8Array | null }>((param) =>
  from.selectFrom('files').select('content').where('id', '=', param('id')),
)

type ListValues = AccessValues & PageValues & { readonly sessionId: string }

/** The files of one session are few: they are found first, and then sorted. */
export const fileListQuery = ({ filter, page, visibility }: FileListRequest): Query<ListValues, FileFields> =>
  listQuery('files', {
    page,
    columns: FILES.columns,
    where(param, dialect) {
      const visible = isVisible(visibility, MEMORY_ACCESS, { param, dialect })
      if (filter.sessionId === undefined) return [visible]
      const held = sql`select file_id from file_holders where session_id = ${param('sessionId')}`
      return [dialect.isSelected('id', held), dialect.unindexed(visible)]
    },
  })

export const FILE_QUERIES = {
  holders: compile<{ id: string }, { readonly session_id: string }>((param) =>
    from.selectFrom('file_holders').select('session_id').where('file_id', '=', param('id')).orderBy('session_id'),
  ),
  holdingRuns: compile<{ id: string; limit: number }, { readonly run_id: string }>((param) =>
    from
      .selectFrom('run_files')
      .select('run_id')
      .where('file_id', '=', param('id'))
      .orderBy('run_id')
      .limit(param('limit')),
  ),
  usage: compile<{ owner: string }, FileUsage>(
    (param) => sql`select cast(count(*) as integer) as files, cast(coalesce(sum(size), 0) as bigint) as bytes
      from files where owner = ${param('owner')}`,
  ),
  /** The size narrows the files of the owner down to a few, which are then sorted without an index. */
  same: compile<Omit<Required<FileRecord>, 'id' | 'createdAt'>, FileFields>((param) =>
    from
      .selectFrom('files')
      .select(FILES.columns)
      .where('owner', '=', param('owner'))
      .where('size', '=', param('size'))
      .where('sha256', '=', param('sha256'))
      .where('media_type', '=', param('mediaType'))
      .where(sql<boolean>`coalesce(name, '') = ${param('name')}`)
      .orderBy(sql`created_at + 0`, 'desc')
      .orderBy('id', 'desc')
      .limit(1),
  ),
  inUse: compile<{ hashes: readonly string[] }, { readonly sha256: string }>((param, dialect) =>
    from
      .selectFrom('files')
      .select('sha256')
      .distinct()
      .where(dialect.isOneOf('sha256', param('hashes')))
      .where(sql<boolean>`content is null`)
      .orderBy('sha256'),
  ),
}
