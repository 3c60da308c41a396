import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { EVERY_ROW, type RunRecord } from '@perdure/ports'
import { aRun } from '@perdure/testkit'
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { openSqliteStorage } from '../open-sqlite-storage.ts'

let directory: string
let path: string

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'perdure-durability-'))
  path = join(directory, 'data.db')
})
afterEach(() => rmSync(directory, { recursive: true }))

/** Commits runs one at a time and prints the number of each acknowledged run. */
const COMMIT_FOREVER = `
const [module, path, template] = process.argv.slice(1)
const { openSqliteStorage } = await import(module)
const storage = await openSqliteStorage({ path })
for (let index = 0; ; index++) {
  const run = { ...JSON.parse(template), id: 'run-' + index }
  const event = { runId: run.id, topic: 'log', type: 'run.queued', payload: '{}', at: 0 }
  await storage.unitOfWork.commit([{ type: 'run.insert', run }, { type: 'event.append', events: [event] }])
  process.stdout.write(index + '\\n')
}`

/** Kills the process while it commits; returns the number of the last acknowledged run. */
async function killAfterAcks(acks: number, template: RunRecord): Promise<number> {
  const module = new URL('../open-sqlite-storage.ts', import.meta.url).href
  const flags = ['--conditions=perdure-source', '--input-type=module', '--eval', COMMIT_FOREVER]
  const child = spawn(process.execPath, [...flags, module, path, JSON.stringify(template)], {
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  let output = ''
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk
    if (output.split('\n').length > acks) child.kill('SIGKILL')
  })
  await once(child, 'close')
  return Number(output.slice(0, output.lastIndexOf('\n')).split('\n').at(-1))
}

describe('a killed process', () => {
  it('leaves every acknowledged commit and no partial commit', async () => {
    const newest = await killAfterAcks(20, aRun())

    const storage = await openSqliteStorage({ path })
    const runs = await storage.runs.list({}, { limit: 200, order: 'asc' }, EVERY_ROW)
    const ids = new Set(runs.items.map(({ id }) => id))
    const events = await storage.events.read({ topic: 'log' }, { after: 0, limit: 1_000 })
    await storage.close()

    expect(newest).toBeGreaterThanOrEqual(19)
    expect(Array.from({ length: newest + 1 }, (_, index) => `run-${index}`).every((id) => ids.has(id))).toBe(true)
    expect(new Set(events.map(({ runId }) => runId))).toEqual(ids)
  })
})
