import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { parseResults, type ResultEntry, type TrialEntry, trialsIn } from '@perdure/evals'
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

type Flags = Partial<ResultsFlags> & { readonly invalid?: readonly string[] }

/** Stores the entries as one run of evals, and returns what the file then has. */
async function store(entries: readonly ResultEntry[], flags: Flags = {}) {
  const path = join(dir(), 'eval-results.ndjson')
  const { journal, finish } = await openResults(path, { resume: false, restart: false, ...flags })
  for (const entry of entries) await journal.append(entry)
  await finish({ trials: trialsIn(entries), invalid: (flags.invalid ?? []).map((name) => ({ eval: name })) })
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

  it('keeps the earlier results of an eval that is invalid, with the answers of the judges', async () => {
    await store([trial('refunds'), trial('greetings'), answer('kind?', 'yes')])

    const stored = await store([trial('greetings', false)], { invalid: ['refunds'] })

    expect(stored.slice(1)).toEqual([trial('greetings', false), trial('refunds'), answer('kind?', 'yes')])
  })

  it('stores only the trials that count, not those of an eval that was renamed before the run was resumed', async () => {
    const path = join(dir(), 'eval-results.ndjson')
    const first = await openResults(path, { resume: false, restart: false })
    await first.journal.append(trial('old name'))
    await first.leave()
    const { journal, finish } = await openResults(path, { resume: true, restart: false })
    await journal.append(trial('new name'))

    await finish({ trials: [trial('new name')], invalid: [] })

    expect(parseResults(readFileSync(path, 'utf8'), path).slice(1)).toEqual([trial('new name')])
  })

  it('refuses a damaged journal with the number of the line', async () => {
    const path = join(dir(), 'eval-results.ndjson')
    const { journal, leave } = await openResults(path, { resume: false, restart: false })
    await journal.append(trial('refunds'))
    await leave()
    writeFileSync(`${path}.part`, readFileSync(`${path}.part`, 'utf8').replace('"kind":"trial"', '"kind'))

    await expect(openResults(path, { resume: true, restart: false })).rejects.toMatchObject({
      message: expect.stringContaining('eval-results.ndjson.part:2 is not a line of a results file'),
      hint: expect.stringContaining('--restart'),
    })
  })

  it('names the process that writes the file, and does not touch its journal', async () => {
    const path = join(dir(), 'eval-results.ndjson')
    const { leave } = await openResults(path, { resume: false, restart: false })

    const second = openResults(path, { resume: false, restart: true })

    await expect(second).rejects.toThrow(`the process ${process.pid} runs evals that write ${path}`)
    expect(existsSync(`${path}.part`)).toBe(true)
    await leave()
    await (await openResults(path, { resume: true, restart: false })).leave()
  })

  it('ignores the lock of a process that has died', async () => {
    const path = join(dir(), 'eval-results.ndjson')
    const { pid } = spawnSync(process.execPath, ['--version'])
    writeFileSync(`${path}.lock`, `${pid}\n`)

    await (await openResults(path, { resume: false, restart: false })).leave()

    expect(existsSync(`${path}.lock`)).toBe(false)
  })

  it('refuses to merge into a file that has no results, before a trial is made', async () => {
    const path = join(dir(), 'eval-results.ndjson')
    writeFileSync(path, 'hello\n')

    const opened = openResults(path, { resume: false, restart: false, only: ['refunds'] })

    await expect(opened).rejects.toThrow('eval-results.ndjson:1 is not a line of a results file')
    expect([readFileSync(path, 'utf8'), existsSync(`${path}.part`)]).toEqual(['hello\n', false])
  })
})
