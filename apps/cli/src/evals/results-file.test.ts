import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseResults, type ResultEntry, type TrialEntry } from '@perdure/evals'
import { describe, expect, it } from 'vitest'
import { temporaryDir } from '../../test/temporary-dir.ts'
import { openResults, type ResultsFlags } from './results-file.ts'

const dir = temporaryDir()
const NOTHING = { inputTokens: 0, outputTokens: 0, costUsd: 0 }

const trial = (name: string, pass = true): TrialEntry => ({
  ...{ kind: 'trial', eval: name, case: 'one', trial: 1, of: 'hash', pass },
  ...{ scores: [], usage: NOTHING, judged: NOTHING, ms: 1, text: '', tools: [] },
})
const answer = (key: string, value: string): ResultEntry => ({ kind: 'answer', key, value, usage: NOTHING })

/** Stores the entries as one run of evals, and returns what the file then has. */
async function store(entries: readonly ResultEntry[], flags: Partial<ResultsFlags> = {}) {
  const path = join(dir(), 'eval-results.ndjson')
  const { journal, finish } = await openResults(path, { resume: false, restart: false, ...flags })
  for (const entry of entries) await journal.append(entry)
  await finish()
  return parseResults(readFileSync(path, 'utf8'), path)
}

describe('openResults', () => {
  it('keeps the results of the evals that a run of some evals does not play', async () => {
    await store([trial('refunds'), trial('greetings'), answer('kind?', 'old'), answer('short?', 'yes')])

    const stored = await store([trial('refunds', false), answer('kind?', 'new')], { only: ['refunds'] })

    expect(stored).toEqual([
      { kind: 'start', format: 'perdure-eval-1', at: expect.any(String) },
      trial('greetings'),
      trial('refunds', false),
      answer('kind?', 'new'),
      answer('short?', 'yes'),
    ])
  })

  it('replaces all results with those of a run of all evals', async () => {
    await store([trial('refunds'), trial('removed')])

    const stored = await store([trial('refunds')])

    expect(stored.slice(1)).toEqual([trial('refunds')])
  })

  it('refuses to merge into a file that has no results, before a trial is made', async () => {
    const path = join(dir(), 'eval-results.ndjson')
    writeFileSync(path, 'hello\n')

    const opened = openResults(path, { resume: false, restart: false, only: ['refunds'] })

    await expect(opened).rejects.toThrow('eval-results.ndjson:1 is not a line of a results file')
    expect([readFileSync(path, 'utf8'), existsSync(`${path}.part`)]).toEqual(['hello\n', false])
  })
})
