import type { FileRecord } from '@perdure/ports'
import { sql } from 'kysely'
import { takeLock } from '../lock.ts'
import type { Program } from '../program.ts'
import { compile, paramsFor } from '../query/compile.ts'
import type { Db } from '../query/dialect.ts'
import { from } from '../query/from.ts'
import { deleteBy, insertInto, pruneQuery } from '../query/table-queries.ts'
import type { WriteAppliers, WritesOf } from '../transaction.ts'
import { FILES, type FileFields, type FileHolderRow, type RunFileRow } from './file-row.ts'
import { fileReads, findAnyFile } from './file-store.ts'

export const fileWrites: WriteAppliers<WritesOf<'file'>> = {
  *'file.insert'({ db }, { type, file, content, ownerBytes }) {
    yield* takeLock(db, 'files')
    if (ownerBytes !== undefined && (yield* fileReads.usage(db, file.owner)).bytes + file.size > ownerBytes)
      return { type }
    const changes = yield* db.run(insertFile, { ...FILES.toRow(file), content: toBytes(content) })
    return changes === 1 ? 1 : { type, current: yield* findAnyFile(db, file.id) }
  },
  *'file.hold'({ db }, { type, sessionId, ids, owner }) {
    yield* takeLock(db, 'files')
    if ((yield* db.get(SELECT_SESSION, { id: sessionId })) === undefined) return { type }
    let count = 0
    for (const id of ids) {
      const file = yield* findAnyFile(db, id)
      if (file?.owner !== owner) return { type, missing: id }
      count += yield* hold(db, file, sessionId)
    }
    return count
  },
  *'file.keep'({ db }, { type, runId, ids, owner }) {
    yield* takeLock(db, 'files')
    if ((yield* db.get(SELECT_RUN, { id: runId })) === undefined) return { type }
    let count = 0
    for (const id of ids) {
      const file = yield* findAnyFile(db, id)
      if (owner !== undefined && file?.owner !== owner) continue
      if (file === undefined) return { type, missing: id }
      yield* db.run(markHeld, { id })
      count += yield* db.run(insertKeeper, { file_id: id, run_id: runId })
    }
    return count
  },
  *'file.delete'({ db }, { type, id }) {
    yield* takeLock(db, 'files')
    return (yield* db.run(deleteUnheld, { id })) === 1 ? 1 : { type, current: yield* findAnyFile(db, id) }
  },
  *'file.prune'({ db }, { before, limit }) {
    yield* takeLock(db, 'files')
    return yield* db.run(PRUNE_FILES, { before, limit })
  },
}

function* hold(db: Db, { id }: FileRecord, sessionId: string): Program<number> {
  yield* db.run(markHeld, { id })
  return yield* db.run(insertHolder, { file_id: id, session_id: sessionId })
}

/** Deletes the files that only this session holds. */
export function* releaseFiles(db: Db, id: string): Program<void> {
  yield* takeLock(db, 'files')
  yield* db.run(FILE_DELETIONS.files, { id })
  yield* db.run(FILE_DELETIONS.holders, { id })
}

/** Deletes the files that only this run holds. Takes no lock for a run that holds none. */
export function* releaseRunFiles(db: Db, id: string): Program<void> {
  if ((yield* db.get(SELECT_KEPT, { id })) === undefined) return
  yield* takeLock(db, 'files')
  yield* db.run(FILE_DELETIONS.filesOfRun, { id })
  yield* db.run(FILE_DELETIONS.keepers, { id })
}

/** Writes are JSON, the column holds the bytes. */
const toBytes = (content: string | undefined): Uint8Array | null =>
  content === undefined ? null : Buffer.from(content, 'base64')

const insertFile = compile<FileFields & { readonly content: Uint8Array | null }, unknown>((param) =>
  from
    .insertInto('files')
    .values({ ...paramsFor(param, [...FILES.columns, 'content']), is_held: 0 })
    .onConflict((conflict) => conflict.column('id').doNothing()),
)

const SELECT_SESSION = compile<{ id: string }, { readonly id: string }>((param) =>
  from.selectFrom('sessions').select('id').where('id', '=', param('id')),
)

const SELECT_RUN = compile<{ id: string }, { readonly id: string }>((param) =>
  from.selectFrom('runs').select('id').where('id', '=', param('id')),
)

export const SELECT_KEPT = compile<{ id: string }, { readonly file_id: string }>((param) =>
  from.selectFrom('run_files').select('file_id').where('run_id', '=', param('id')).limit(1),
)

const markHeld = compile<{ id: string }, unknown>((param) =>
  from.updateTable('files').set({ is_held: 1 }).where('id', '=', param('id')).where('is_held', '=', 0),
)

const insertHolder = insertInto<FileHolderRow>('file_holders', ['file_id', 'session_id'])
const insertKeeper = insertInto<RunFileRow>('run_files', ['file_id', 'run_id'])

const deleteUnheld = compile<{ id: string }, unknown>((param) =>
  from.deleteFrom('files').where('id', '=', param('id')).where('is_held', '=', 0),
)

/** The condition is a literal, so that the partial index applies. */
export const PRUNE_FILES = pruneQuery<{ before: number; limit: number }>(
  'files',
  (param) => sql`is_held = 0 and created_at < ${param('before')} order by created_at, id`,
)

export const FILE_DELETIONS = {
  files: compile<{ id: string }, unknown>((param, dialect) => {
    const onlyHeldHere = sql`select mine.file_id from file_holders as mine where mine.session_id = ${param('id')}
      and not exists (select 1 from file_holders as other
        where other.file_id = mine.file_id and other.session_id <> mine.session_id)
      and not exists (select 1 from run_files as kept where kept.file_id = mine.file_id)`
    return sql`delete from files where ${dialect.isSelected('id', onlyHeldHere)}`
  }),
  holders: deleteBy('session_id', 'file_holders'),
  filesOfRun: compile<{ id: string }, unknown>((param, dialect) => {
    const onlyHeldHere = sql`select mine.file_id from run_files as mine where mine.run_id = ${param('id')}
      and not exists (select 1 from run_files as other
        where other.file_id = mine.file_id and other.run_id <> mine.run_id)
      and not exists (select 1 from file_holders as held where held.file_id = mine.file_id)`
    return sql`delete from files where ${dialect.isSelected('id', onlyHeldHere)}`
  }),
  keepers: deleteBy('run_id', 'run_files'),
}
