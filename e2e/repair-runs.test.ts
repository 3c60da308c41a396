import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { BINARY, bearer, bodyOf, createSandbox, createToken, perdure, startServer } from './perdure-process.ts'

const CONFIG = join(import.meta.dirname, 'fixtures/repair.config.mjs')
const RUNS = Number(process.env.PERDURE_E2E_REPAIRS ?? 500)
const SOON = { timeout: 240_000, interval: 50 }

it('retries each of many failed runs once when the command is killed half way and repeated', async () => {
  const sandbox = createSandbox()
  const token = await createToken(sandbox)
  const server = await startServer(sandbox, ['server', '--config', CONFIG])
  onTestFinished(() => void server.process.kill('SIGKILL'))
  const ledger = () => readFileSync(join(sandbox.dir, 'ledger.txt'), 'utf8').trim().split('\n')
  const sends = () => ledger().filter((line) => line.includes('send'))
  const start = async (n: number) => {
    const headers = { ...bearer(token), prefer: 'wait=60' }
    const body = JSON.stringify({ input: { n } })
    const outcome = await bodyOf(fetch(`${server.url}/workflows/order/execute`, { method: 'POST', headers, body }))
    expect(outcome).toMatchObject({ status: 'failed' })
  }
  for (let n = 0; n < RUNS; n += 20) {
    await Promise.all(Array.from({ length: Math.min(20, RUNS - n) }, (_, index) => start(n + index)))
  }
  writeFileSync(join(sandbox.dir, 'repaired'), '')
  const command = ['runs', 'retry', '--status', 'failed', '--code', 'step-failed', '--yes', '--json']
  const access = ['--url', server.url, '--token', token]

  const killed = spawn(process.execPath, [BINARY, ...command, ...access], { env: sandbox.env, cwd: sandbox.dir })
  const ended = once(killed, 'exit')
  await expect.poll(() => sends().length, SOON).toBeGreaterThan(RUNS / 10)
  killed.kill('SIGKILL')
  await ended
  expect(sends().length).toBeLessThan(RUNS)
  const again = await perdure(sandbox, [...command, ...access])

  expect(JSON.parse(again.stdout)).toEqual({ retried: RUNS, refused: [] })
  await expect.poll(() => sends().length, SOON).toBe(RUNS)
  const third = await perdure(sandbox, [...command, ...access])
  expect(JSON.parse(third.stdout)).toEqual({ retried: RUNS, refused: [] })
  expect(new Set(sends().map((line) => line.split(' ')[line.split(' ').indexOf('send') + 1])).size).toBe(RUNS)
  expect(sends()).toHaveLength(RUNS)
  expect(ledger().filter((line) => line.includes('charge'))).toHaveLength(RUNS)
}, 600_000)
