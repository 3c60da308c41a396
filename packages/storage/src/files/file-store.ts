import {
  EVERY_ROW,
  type FileFilter,
  type FileRecord,
  type FileUsage,
  type Page,
  type PageQuery,
  type Visibility,
} from '@perdure/ports'
import { sql } from 'kysely'
import { MEMORY_ACCESS } from '../memory/fact-filter.ts'
import type { Program } from '../program.ts'
import { compile, type Query } from '../query/compile.ts'
import type { Db } from '../query/dialect.ts'
import { from } from '../query/from.ts'
import { isBeyond, type PageValues, pageValues, pageVariant, toPage } from '../query/page.ts'
import { type AccessValues, accessValues, isVisible, visibilityVariant } from '../query/row-visibility.ts'
import { FILE_FIELDS, type FileFields, toFile } from './file-row.ts'

export interface FileListRequest {
  readonly filter: FileFilter
  readonly page: PageQuery
  readonly visibility: Visibility
}

export function* findFile(
  db: Db,
  { id, visibility }: { readonly id: string; readonly visibility: Visibility },
): Program<FileRecord | undefined> {
  const query = db.variant(`file ${visibilityVariant(visibility)}`, () => findQuery(visibility))
  const row = yield* db.get(query, { ...accessValues(visibility), id })
  return row === undefined ? undefined : toFile(row)
}

export function* findAnyFile(db: Db, id: string): Program<FileRecord | undefined> {
  return yield* findFile(db, { id, visibility: EVERY_ROW })
}

export function* fileContent(db: Db, id: string): Program<Uint8Array | undefined> {
  const content = (yield* db.get(SELECT_CONTENT, { id }))?.content ?? undefined
  return content === undefined ? undefined : new Uint8Array(content)
}

export function* fileHolders(db: Db, id: string): Program<readonly string[]> {
  return (yield* db.all(FILE_QUERIES.holders, { id })).map(({ session_id }) => session_id)
}

interface RunsOfFile {
  readonly id: string
  readonly limit: number
}

export function* holdingRuns(db: Db, request: RunsOfFile): Program<readonly string[]> {
  return (yield* db.all(FILE_QUERIES.holdingRuns, request)).map(({ run_id }) => run_id)
}

export function* listFiles(db: Db, request: FileListRequest): Program<Page<FileRecord>> {
  const { filter, page, visibility } = request
  const of = filter.sessionId === undefined ? 'all' : 'session'
  const name = `files of ${of} ${pageVariant(page)} ${visibilityVariant(visibility)}`
  const values = { ...pageValues(page), ...accessValues(visibility), sessionId: filter.sessionId ?? '' }
  const rows = yield* db.each(
    db.variant(name, () => fileListQuery(request)),
    values,
  )
  return toPage(rows, page, { toRecord: toFile, rankOf: (row) => row.created_at })
}

export function* fileUsage(db: Db, owner: string): Program<FileUsage> {
  const { files, bytes } = (yield* db.get(FILE_QUERIES.usage, { owner })) ?? { files: 0, bytes: 0 }
  return { files, bytes }
}

export function* findSameFile(
  db: Db,
  { owner, sha256, size, mediaType, name = '' }: Omit<FileRecord, 'id' | 'createdAt'>,
): Program<FileRecord | undefined> {
  const row = yield* db.get(FILE_QUERIES.same, { owner, sha256, size, mediaType, name })
  return row === undefined ? undefined : toFile(row)
}

export function* hashesInUse(db: Db, hashes: readonly string[]): Program<readonly string[]> {
  return (yield* db.all(FILE_QUERIES.inUse, { hashes })).map(({ sha256 }) => sha256)
}

const findQuery = (visibility: Visibility): Query<AccessValues & { readonly id: string }, FileFields> =>
  compile((param, dialect) =>
    from
      .selectFrom('files')
      .select(FILE_FIELDS)
      .where('id', '=', param('id'))
      .where(isVisible(visibility, MEMORY_ACCESS, { param, dialect })),
  )

const SELECT_CONTENT = compile<{ id: string }, { readonly content: Uint8Array | null }>((param) =>
  from.selectFrom('files').select('content').where('id', '=', param('id')),
)

type ListValues = AccessValues & PageValues & { readonly sessionId: string }

/** The files of one session are few: they are found first, and then sorted. */
export const fileListQuery = ({ filter, page, visibility }: FileListRequest): Query<ListValues, FileFields> =>
  compile((param, dialect) => {
    const visible = isVisible(visibility, MEMORY_ACCESS, { param, dialect })
    const held = sql`select file_id from file_holders where session_id = ${param('sessionId')}`
    const ofSession = filter.sessionId !== undefined
    return from
      .selectFrom('files')
      .select(FILE_FIELDS)
      .$if(ofSession, (rows) => rows.where(dialect.isSelected('id', held)))
      .where(ofSession ? dialect.unindexed(visible) : visible)
      .$if(page.cursor !== undefined, (rows) => rows.where(isBeyond(param, page)))
      .orderBy('created_at', page.order)
      .orderBy('id', page.order)
      .limit(param('limit'))
  })

export const FILE_QUERIES = {
  holders: compile<{ id: string }, { readonly session_id: string }>((param) =>
    from.selectFrom('file_holders').select('session_id').where('file_id', '=', param('id')).orderBy('session_id'),
  ),
  holdingRuns: compile<RunsOfFile, { readonly run_id: string }>((param) =>
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
      .select(FILE_FIELDS)
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
