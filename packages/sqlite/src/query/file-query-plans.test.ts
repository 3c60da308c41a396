import { EVERY_ROW } from '@perdure/ports'
import { FILE_DELETIONS, FILE_QUERIES, fileListQuery, PRUNE_FILES, SELECT_KEPT } from '@perdure/storage/queries'
import { describe, expect, it } from 'vitest'
import { beyond, ME, planOf } from './query-plans.fixture.ts'

describe('a query on files', () => {
  it.each([
    ['files_by_creation', fileListQuery({ filter: {}, page: beyond, visibility: EVERY_ROW })],
    ['files_by_owner', fileListQuery({ filter: {}, page: beyond, visibility: ME })],
    ['files_usage', FILE_QUERIES.usage],
    ['files_of_blob', FILE_QUERIES.inUse],
    ['files_unheld', PRUNE_FILES],
    ['file_holders_by_session', FILE_DELETIONS.files],
    ['file_holders_by_session', FILE_DELETIONS.holders],
    ['run_files_by_file', FILE_DELETIONS.filesOfRun],
    ['run_files_by_file', FILE_QUERIES.holdingRuns],
  ] as const)('uses the order of index %s', (index, query) => {
    const plan = planOf(query)

    expect(plan).toMatch(new RegExp(`USING (?:COVERING )?INDEX ${index}\\b`))
    expect(plan).not.toMatch(/TEMP B-TREE|SCAN files\b/)
  })

  it('narrows the files of an owner down to those of one size before it compares contents', () => {
    expect(planOf(FILE_QUERIES.same)).toMatch(/SEARCH files USING INDEX files_usage \(owner=\? AND size=\?\)/)
  })

  it('finds the files of a run by its id', () => {
    for (const query of [SELECT_KEPT, FILE_DELETIONS.filesOfRun, FILE_DELETIONS.keepers]) {
      expect(planOf(query)).toMatch(/USING (?:COVERING INDEX sqlite_autoindex_run_files_1|PRIMARY KEY) \(run_id=\?\)/)
    }
  })

  it('finds the few files of a session before it sorts them', () => {
    const plan = planOf(fileListQuery({ filter: { sessionId: 's' }, page: beyond, visibility: ME }))

    expect(plan).toContain('file_holders_by_session (session_id=?)')
    expect(plan).not.toContain('SCAN files')
  })
})
