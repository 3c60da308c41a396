import { appendFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { openJournal } from './open-journal.ts'
import { formatResults, parseResults, type TrialEntry } from './results.ts'

const NOTHING = { inputTokens: 0, outputTokens: 0, costUsd: 0 }
const trial = (number: number): TrialEntry => ({
  ...{ kind: 'trial', eval: 'e', case: 'c', trial: number, of: 'x', pass: true, scores: [], usage: NOTHING },
  ...{ judged: NOTHING, ms: 1, text: '', tools: [] },
})

async function file(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'evals-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  return join(folder, 'results.ndjson')
}

it('reads what an earlier process has appended', async () => {
  const path = await file()
  const first = await openJournal(path)
  await Promise.all([first.append(trial(1)), first.append(trial(2))])
  await first.close()
  const second = await openJournal(path)
  expect(second.earlier.filter(({ kind }) => kind === 'trial')).toEqual([trial(1), trial(2)])
  await second.close()
})

it('drops a line that a crash has cut, and appends behind it', async () => {
  const path = await file()
  const first = await openJournal(path)
  await first.append(trial(1))
  await first.close()
  await appendFile(path, JSON.stringify(trial(2)).slice(0, 40))
  const second = await openJournal(path)
  expect(second.earlier).toHaveLength(2)
  await second.append(trial(3))
  await second.close()
  const entries = parseResults(await readFile(path, 'utf8'), path)
  expect(entries.slice(1)).toEqual([trial(1), trial(3)])
})

it('keeps a last line that only lacks its end', async () => {
  const path = await file()
  const first = await openJournal(path)
  await first.close()
  await appendFile(path, JSON.stringify(trial(2)))
  const second = await openJournal(path)
  await second.append(trial(3))
  await second.close()
  expect(parseResults(await readFile(path, 'utf8'), path).slice(1)).toEqual([trial(2), trial(3)])
})

it('refuses a file of something else, and leaves it as it is', async () => {
  const path = await file()
  await writeFile(path, '{"kind":"other"}\n')
  await expect(openJournal(path)).rejects.toThrow('is not a results file')
  await writeFile(path, 'hello\nworld\n')
  await expect(openJournal(path)).rejects.toThrow(`${path}:1 is not a line of a results file`)
  expect(await readFile(path, 'utf8')).toBe('hello\nworld\n')
})

it('sorts results by eval, case and try', () => {
  const text = formatResults([trial(2), trial(10), { ...trial(1), case: 'a' }, trial(1)])
  const ids = text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
    .map((entry) => `${entry.case}${entry.trial}`)
  expect(ids).toEqual(['a1', 'c1', 'c2', 'c10'])
})
