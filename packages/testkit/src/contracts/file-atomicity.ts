import { type Conflict, EVERY_ROW, type Storage, type Write } from '@perdure/ports'
import { aRun, aSession } from '../builders.ts'
import { aFile } from '../file-builders.ts'
import { commit } from './commits.ts'
import { at } from './optional-fields.ts'

type TypesOf<W extends { readonly type: string }> = Extract<W['type'], `file.${string}`>

const SESSION = aSession({ id: 'ses-files' })
const RUN = aRun({ id: 'run-files' })
const HELD = { type: 'file.hold', sessionId: SESSION.id, owner: 'alice', ids: ['held'] } as const

export const seedFiles = (storage: Storage) =>
  commit(
    storage,
    { type: 'session.insert', session: SESSION },
    ...['held', 'free', 'gone'].map((id) => ({ type: 'file.insert', file: aFile({ id }) }) as const),
    { type: 'file.insert', file: aFile({ id: 'old', createdAt: at(-9) }), content: 'AQ==' },
    HELD,
    { type: 'run.insert', run: RUN },
  )

/** One write of every type. In this order, each succeeds after the seed and has a visible effect. */
export const FILE_CHANGES: { readonly [T in TypesOf<Write>]: Extract<Write, { readonly type: T }> } = {
  'file.insert': { type: 'file.insert', file: aFile({ id: 'new' }), content: 'AQI=' },
  'file.hold': { ...HELD, ids: ['free'] },
  'file.keep': { type: 'file.keep', runId: RUN.id, ids: ['held'] },
  'file.delete': { type: 'file.delete', id: 'gone' },
  'file.prune': { type: 'file.prune', before: at(0), limit: 9 },
}

/** One write of every type that can conflict. Each conflicts after the seed, with or without the changes in between. */
export const FILE_CONFLICTS: { readonly [T in TypesOf<Conflict>]: Extract<Write, { readonly type: T }> } = {
  'file.insert': { type: 'file.insert', file: aFile({ id: 'held' }) },
  'file.hold': { ...HELD, ids: ['unknown'] },
  'file.keep': { type: 'file.keep', runId: RUN.id, ids: ['unknown'] },
  'file.delete': { type: 'file.delete', id: 'held' },
}

/** Everything that the port returns about the rows that the seed and the changes touch. */
export async function fileSnapshot({ files }: Storage) {
  const ids = ['held', 'free', 'gone', 'old', 'new']
  return {
    files: await files.list({}, { limit: 200, order: 'asc' }, EVERY_ROW),
    contents: await Promise.all(ids.map((id) => files.content(id))),
    holders: await Promise.all(ids.map((id) => files.holders(id))),
    holdingRuns: await Promise.all(ids.map((id) => files.holdingRuns(id, 9))),
    usage: await files.usage('alice'),
    inUse: await files.inUse([aFile().sha256]),
  }
}
