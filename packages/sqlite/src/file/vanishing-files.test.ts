import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { describe, expect, it, onTestFinished } from 'vitest'
import { restrictFiles } from './private-file.ts'
import { requireSingleName } from './single-name.ts'

/** Creates and removes the companions of a database until it is terminated, as processes that open and close it do. */
const CHURN = `
  const { rmSync, writeFileSync } = require('node:fs')
  const { workerData } = require('node:worker_threads')
  for (;;) {
    for (const file of workerData) writeFileSync(file, '', { mode: 0o644 })
    for (const file of workerData) rmSync(file)
  }`

describe('the files beside a database', () => {
  it.each([
    ['requireSingleName', requireSingleName],
    ['restrictFiles', restrictFiles],
  ])('may vanish while %s looks at them', async (_, inspect) => {
    const directory = realpathSync(mkdtempSync(join(tmpdir(), 'perdure-vanishing-')))
    const path = join(directory, 'data.db')
    writeFileSync(path, '')
    const worker = new Worker(CHURN, { eval: true, workerData: ['-wal', '-shm'].map((suffix) => `${path}${suffix}`) })
    onTestFinished(async () => {
      await worker.terminate()
      rmSync(directory, { recursive: true })
    })
    await new Promise((resolve) => worker.once('online', resolve))

    const until = performance.now() + 500
    const errors = new Set<string>()
    while (performance.now() < until) {
      try {
        inspect(path)
      } catch (error) {
        errors.add(String(error))
      }
    }

    expect([...errors]).toEqual([])
  })
})
